; Convert expenses to euro, asking for each rate once.
(def expenses [{:what "hotel" :amount 200 :currency "USD"}
               {:what "train" :amount 40 :currency "GBP"}
               {:what "taxi" :amount 15 :currency "EUR"}
               {:what "food" :amount 31 :currency "USD"}])

(def rates
  (->> expenses
       (map :currency)
       distinct
       (remove #{"EUR"})
       (map (fn [c] [c (:rate (tool/exchange_rate {:from c :to "EUR"}))]))
       (into {"EUR" 1})))

(let [converted (map #(assoc % :eur (* (:amount %) (rates (:currency %)))) expenses)
      total     (reduce + (map :eur converted))]
  {:lines (for [{:keys [what eur]} converted] (format "%-6s %8.2f" what (double eur)))
   :total (format "%,.2f EUR" total)
   :largest (:what (apply max-key :eur converted))})
