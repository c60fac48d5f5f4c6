; The net sum of all invoices of each country.
(def init {})

(defn step [sums {:keys [country lines]}]
  (update sums country (fnil + 0) (reduce + (map (fn [line] (* (:price line) (:amount line))) lines))))

(defn combine [a b] (merge-with + a b))
