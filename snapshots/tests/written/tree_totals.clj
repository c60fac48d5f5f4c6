; Sizes of folders, children included, and the deepest path.
(def fs {:name "/" :children
         [{:name "bin" :size 10}
          {:name "home" :children
           [{:name "ada" :children [{:name "a.txt" :size 3} {:name "b.txt" :size 4}]}
            {:name "bob" :children []}]}]})

(defn total [{:keys [size children]}]
  (+ (or size 0) (reduce + (map total children))))

(defn depth [node]
  (inc (apply max 0 (map depth (:children node)))))

(let [nodes (tree-seq :children :children fs)]
  {:total   (total fs)
   :files   (count (filter :size nodes))
   :depth   (depth fs)
   :folders (into {} (for [n nodes :when (contains? n :children)]
                       [(:name n) (total n)]))})
