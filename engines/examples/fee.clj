; Fees of orders, as functions of SQL.
(def rates {"NO" 25 "SE" 20})

(defn fee
  "The fee of an order, in the currency of its price."
  [country price]
  (quot (* (or price 0) (get rates country 0)) 100))

(defn net-price
  "The price without the fee."
  [country price]
  (- (or price 0) (fee country price)))

(defn words
  "The words of a text, as rows."
  [text]
  (map-indexed (fn [i word] {:place i :word word}) (str/split (str/trim text) #"\s+")))
