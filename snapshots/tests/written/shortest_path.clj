; Breadth first through a train map.
(def routes [["A" "B"] ["B" "C"] ["A" "D"] ["D" "E"] ["E" "C"] ["C" "F"]])

(def graph
  (reduce (fn [g [a b]]
            (-> g
                (update a (fnil conj []) b)
                (update b (fnil conj []) a)))
          {}
          routes))

(defn bfs [start goal]
  (loop [queue [[start]] seen #{start}]
    (when-let [path (first queue)]
      (let [node (peek path)]
        (if (= node goal)
          path
          (let [nexts (remove seen (graph node))]
            (recur (into (vec (rest queue)) (map #(conj path %) nexts))
                   (into seen nexts))))))))

{:path (str/join " -> " (bfs "A" "F"))
 :none (bfs "A" "Z")
 :degrees (into (sorted-map) (map (fn [[k v]] [k (count v)])) graph)}
