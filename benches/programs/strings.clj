(let [s (clojure.string/join "," (range 10000))
      upper (map clojure.string/upper-case (map (fn [i] (str "item-" i)) (range 2000)))]
  [(reduce + (map parse-long (clojure.string/split s #",")))
   (count (filter (fn [t] (clojure.string/includes? t "99")) upper))])
