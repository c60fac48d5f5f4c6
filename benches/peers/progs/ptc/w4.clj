(->> (clojure.string/split data/text #"\s+")
     frequencies
     (sort-by (fn [[w n]] [(- n) w]))
     (take 10)
     vec)
