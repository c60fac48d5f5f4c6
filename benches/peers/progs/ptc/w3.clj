(->> data/orders
     (filter (fn [o] (and (> (:amount o) 100) (= (:status o) "paid"))))
     (group-by :customer)
     (map (fn [[c os]] [c (reduce + (map :amount os))]))
     (sort-by second >)
     (take 5)
     vec)
