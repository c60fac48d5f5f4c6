; Order tasks so that each comes after what it needs.
(def deps {:deploy #{:test :build} :test #{:build} :build #{:fetch} :fetch #{} :docs #{:fetch}})

(defn topo-sort [deps]
  (loop [order [] remaining deps]
    (if (empty? remaining)
      order
      (let [ready (sort (for [[k ds] remaining :when (every? (set order) ds)] k))]
        (if (empty? ready)
          (fail {:reason "cycle" :tasks (keys remaining)})
          (recur (into order ready) (apply dissoc remaining ready)))))))

(topo-sort deps)
