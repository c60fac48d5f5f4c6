(defn next-random [x]
  (mod (+ (* x 1366) 150889) 714025))

(defn random-text [seed length]
  (apply str (map #(nth "acgt" (mod % 4)) (take length (iterate next-random seed)))))

(defn next-row [b row [i char-a]]
  (reduce (fn [new-row [j char-b]]
            (conj new-row (min (inc (peek new-row))
                               (inc (nth row (inc j)))
                               (+ (nth row j) (if (= char-a char-b) 0 1)))))
          [(inc i)]
          (map-indexed vector b)))

(defn edit-distance [a b]
  (peek (reduce (partial next-row b)
                (vec (range (inc (count b))))
                (map-indexed vector a))))

(edit-distance (random-text 1 250) (random-text 2 300))
