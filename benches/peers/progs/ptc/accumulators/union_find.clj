(def nodes 20011)
(def edges 24000)

(defn next-random [x]
  (mod (+ (* x 1366) 150889) 714025))

(defn random-edges []
  (->> (iterate next-random 1)
       (take (* 2 edges))
       (map #(mod % nodes))
       (partition 2)))

(defn find-root [parents node]
  (let [parent (parents node)]
    (if (= parent node) node (recur parents parent))))

(defn attach [forest child root]
  (-> forest
      (assoc-in [:parents child] root)
      (update-in [:sizes root] + (get-in forest [:sizes child]))
      (update :groups dec)))

(defn connect [{:keys [parents sizes] :as forest} [a b]]
  (let [a (find-root parents a)
        b (find-root parents b)]
    (cond
      (= a b) forest
      (< (sizes a) (sizes b)) (attach forest a b)
      :else (attach forest b a))))

(let [forest {:parents (vec (range nodes)) :sizes (vec (repeat nodes 1)) :groups nodes}
      {:keys [sizes groups]} (reduce connect forest (random-edges))]
  {:groups groups :largest (apply max sizes)})
