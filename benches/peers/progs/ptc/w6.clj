(let [r data/row
      user (:user r)
      tier (:tier user)
      age (:age user)
      order (:order r)
      s (+ (* (:amount order) (- 1.0 (or (:discount r) 0.0)))
           (* 2 (:items order))
           (case tier "gold" 50 "silver" 20 0)
           (if (and age (>= age 65)) 10 0))
      label (cond
              (>= s 200) "high"
              (>= s 100) (if (= (:country order) "DE") "mid-de" "mid")
              :else "low")]
  {:id (:id r) :score s :label label})
