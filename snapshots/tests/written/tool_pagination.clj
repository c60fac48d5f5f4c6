; Fetch every page until there is no next one.
(defn fetch-all [query]
  (loop [page 1, acc []]
    (let [{:keys [items next-page]} (tool/search {:query query :page page})
          acc (into acc items)]
      (if (and next-page (< page 10))
        (recur next-page acc)
        acc))))

(let [items (fetch-all "tea")]
  {:ids (mapv :id items)
   :cheapest (:id (apply min-key :price items))
   :mean (double (/ (reduce + (map :price items)) (count items)))})
