(->> data/orders
     (group-by (juxt :customer :status))
     (map (fn [[[customer status] orders]]
            {:customer customer
             :status status
             :count (count orders)
             :total (reduce + (map :amount orders))}))
     (sort-by (juxt :customer :status))
     (partition-by :customer)
     (map (fn [rows] (assoc (first rows) :rows (count rows))))
     (take 5))
