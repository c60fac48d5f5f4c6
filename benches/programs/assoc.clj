(count (reduce (fn [m i] (assoc m (mod i 1000) [i])) {} (range 100000)))
