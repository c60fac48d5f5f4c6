; The two best paid of each department, departments in order.
(def top-n 2)

(defn best [rows]
  (->> rows
       (sort-by :salary >)
       (take top-n)
       (mapv (juxt :name :salary))))

(into (sorted-map)
      (for [[dept rows] (group-by :dept data/employees)]
        [dept (best rows)]))
