; The five commonest words, stop words left out, ties by the alphabet.
(def text "The quick brown fox jumps over the lazy dog. The dog barks; the fox runs away! Fox and dog, dog and fox?")
(def stop-words #{"the" "and" "over" "a"})

(->> (re-seq #"\w+" (str/lower-case text))
     (remove stop-words)
     frequencies
     (sort-by (fn [[w n]] [(- n) w]))
     (take 5)
     (map (fn [[w n]] (str w ":" n)))
     (str/join " "))
