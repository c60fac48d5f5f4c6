(defn adder [n] (fn [x] (+ x n)))
(reduce (fn [acc i] ((adder i) acc)) 0 (range 100000))
