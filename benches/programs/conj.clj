(count (reduce (fn [v i] (conj v i)) [] (range 100000)))
