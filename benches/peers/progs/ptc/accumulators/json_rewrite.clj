(def renamed {:name :title})

(defn build [depth id]
  (let [x (mod (+ (* id 1366) 150889) 714025)
        node {:id id
              :name (str "item-" x)
              :secret (mod x 9973)
              :size {:width (mod x 97) :height (mod x 89)}
              :tags ["json" (str "tag-" (mod x 7))]}]
    (if (zero? depth)
      node
      (assoc node :children (mapv (fn [n] (build (dec depth) (+ (* id 4) n))) [1 2 3 4])))))

(defn rewrite [node]
  (cond
    (map? node) (reduce-kv (fn [result k v]
                             (if (= k :secret)
                               result
                               (assoc result (get renamed k k) (rewrite v))))
                           {}
                           node)
    (vector? node) (mapv rewrite node)
    (string? node) (clojure.string/upper-case node)
    :else (inc node)))

(defn weight [node]
  (cond
    (map? node) (reduce + (map weight (vals node)))
    (vector? node) (reduce + (map weight node))
    (string? node) (count node)
    :else node))

(let [tree (rewrite (build 5 0))]
  {:title (:title tree) :weight (weight tree)})
