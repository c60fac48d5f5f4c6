(let [s (clojure.string/join "," (range 10000))]
  (reduce + (map parse-long (clojure.string/split s #","))))
