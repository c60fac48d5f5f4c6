(let [{:keys [id user order discount]} data/row
      score (+ (* (:amount order) (- 1.0 (or discount 0.0)))
               (* 2 (:items order))
               (case (:tier user) "gold" 50 "silver" 20 0)
               (if (>= (or (:age user) 0) 65) 10 0))]
  {:id id
   :score score
   :label (cond
            (>= score 200) "high"
            (>= score 100) (if (= (:country order) "DE") "mid-de" "mid")
            :else "low")})
