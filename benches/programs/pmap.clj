(defn work [n] (loop [i 0 total 0] (if (< i 20000) (recur (inc i) (+ total (mod (* i n) 7))) total)))
(reduce + (pmap work (range 64)))
