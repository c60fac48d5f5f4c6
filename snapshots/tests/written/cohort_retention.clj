; Month of first order against months of return.
(def orders
  [{:user 1 :month "2024-01"} {:user 2 :month "2024-01"} {:user 1 :month "2024-02"}
   {:user 3 :month "2024-02"} {:user 2 :month "2024-03"} {:user 3 :month "2024-03"}
   {:user 1 :month "2024-03"}])

(defn month-index [m]
  (let [[_ y mo] (re-find #"(\d{4})-(\d{2})" m)]
    (+ (* 12 (parse-long y)) (parse-long mo))))

(let [first-month (->> orders
                       (group-by :user)
                       (reduce-kv (fn [m u os] (assoc m u (first (sort (map :month os))))) {}))
      sizes       (frequencies (vals first-month))
      active      (reduce (fn [acc {:keys [user month]}]
                            (let [cohort (first-month user)
                                  offset (- (month-index month) (month-index cohort))]
                              (update-in acc [cohort offset] (fnil conj #{}) user)))
                          (sorted-map)
                          orders)]
  (for [[cohort by-offset] active]
    {:cohort cohort
     :size (sizes cohort)
     :retention (mapv (fn [o] (/ (count (by-offset o)) (sizes cohort)))
                      (range 3))}))
