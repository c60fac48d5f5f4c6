; Transpose, multiply and print a matrix.
(defn transpose [m] (apply mapv vector m))
(defn dot [a b] (reduce + (map * a b)))
(defn mmul [a b]
  (let [cols (transpose b)]
    (mapv (fn [row] (mapv (partial dot row) cols)) a)))
(defn identity-matrix [n]
  (vec (for [i (range n)] (vec (for [j (range n)] (if (= i j) 1 0))))))

(let [a [[1 2] [3 4]]
      b [[0 1] [1 0]]]
  (run! #(println (str/join " " %)) (mmul a b))
  [(transpose [[1 2 3] [4 5 6]])
   (mmul a b)
   (= a (mmul a (identity-matrix 2)))
   (get-in (nth (iterate (partial mmul [[1 1] [1 0]]) (identity-matrix 2)) 10) [0 1])])
