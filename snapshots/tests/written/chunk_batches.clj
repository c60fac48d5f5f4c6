; Embed texts in batches of two, then rank them by cosine similarity.
(def texts ["a" "bb" "ccc" "dd" "e"])

(def vectors
  (->> (partition-all 2 texts)
       (mapcat #(tool/embed {:texts (vec %)}))
       (zipmap texts)))

(defn norm [v] (Math/sqrt (reduce + (map * v v))))
(defn cosine [u v] (/ (reduce + (map * u v)) (* (norm u) (norm v))))

(let [q (vectors "bb")]
  (->> (dissoc vectors "bb")
       (map (fn [[t v]] {:text t :score (/ (Math/round (* 100 (cosine q v))) 100.0)}))
       (sort-by (juxt (comp - :score) :text))
       (take 3)))
