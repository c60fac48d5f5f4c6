(ns shop "Prices of a shop, in cents.")

(def discounts "Percent off by level of the customer." {:silver 5 :gold 10})

(defn price
  "A price in cents, with the discount of a level; without one for other levels."
  [cents level]
  (let [percent (get discounts (keyword level) 0)]
    (- cents (quot (* cents percent) 100))))

(defn total
  "What the rows of an order cost, as the sum of :cents times :count."
  [rows]
  (reduce + (map #(* (:cents %) (:count %)) rows)))
