(def size 72)

(defn next-random [x]
  (mod (+ (* x 1366) 150889) 714025))

(defn random-matrix [seed]
  (->> (iterate next-random seed)
       (map #(mod % 101))
       (take (* size size))
       (partition size)
       (mapv vec)))

(defn dot [xs ys]
  (reduce + (map * xs ys)))

(defn product [a b]
  (let [columns (apply mapv vector b)]
    (mapv (fn [row] (mapv (fn [column] (dot row column)) columns)) a)))

(reduce (fn [check x] (mod (+ (* check 31) x) 1000003))
        0
        (flatten (product (random-matrix 1) (random-matrix 2))))
