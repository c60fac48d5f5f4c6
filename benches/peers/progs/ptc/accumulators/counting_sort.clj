(def size 50000)
(def span 997)

(defn next-random [x]
  (mod (+ (* x 1366) 150889) 714025))

(defn numbers []
  (map #(mod % span) (take size (iterate next-random 1))))

(defn counting-sort [xs]
  (let [counts (reduce (fn [counts x] (update counts x inc)) (vec (repeat span 0)) xs)]
    (reduce-kv (fn [sorted x n] (into sorted (repeat n x))) [] counts)))

(reduce (fn [check x] (mod (+ (* check 31) x) 1000003))
        0
        (counting-sort (numbers)))
