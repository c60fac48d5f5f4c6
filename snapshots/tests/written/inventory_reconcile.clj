; Compare what the books say with what was counted.
(def books {"bolt" 100, "nut" 80, "gear" 5})
(def counted {"bolt" 97, "nut" 80, "cog" 2})

(let [expected (set (keys books))
      found    (set (keys counted))]
  {:missing  (clojure.set/difference expected found)
   :surprise (set/difference found expected)
   :diffs    (into {}
                   (for [k (set/intersection expected found)
                         :let [d (- (counted k) (books k))]
                         :when (not (zero? d))]
                     [k d]))
   :all      (sort (set/union expected found))})
