; Regions down, months across, zeros where nothing was sold.
(let [month  (fn [row] (subs (:date row) 0 7))
      months (sort (distinct (map month data/sales)))
      cells  (reduce (fn [m {:keys [region amount] :as row}]
                       (update-in m [region (month row)] (fnil + 0) amount))
                     {}
                     data/sales)]
  (into [(into ["region"] (conj (vec months) "total"))]
        (for [[region row] (sort-by key cells)
              :let [xs (mapv #(get row % 0) months)]]
          (concat [region] xs [(apply + xs)]))))
