;; Numbers through three loops that walk each other's results.
(->> (range 100000)
     (map #(* % %))
     (filter #(= 0 (mod % 3)))
     (map #(+ % 1))
     (reduce (fn [sum x] (+ sum x)) 0))
