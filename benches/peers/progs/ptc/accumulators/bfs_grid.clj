(def size 120)

(defn next-random [x]
  (mod (+ (* x 1366) 150889) 714025))

(def open
  (->> (iterate next-random 1)
       (map #(pos? (mod % 4)))
       (take (* size size))
       (partition size)
       (mapv vec)))

(defn neighbours [[row column]]
  [[(dec row) column] [(inc row) column] [row (dec column)] [row (inc column)]])

(defn visit [[frontier distances] cell distance]
  (if (and (get-in open cell) (not (contains? distances cell)))
    [(conj frontier cell) (assoc distances cell distance)]
    [frontier distances]))

(defn search [start]
  (loop [frontier [start], distances {start 0}, distance 1]
    (if (empty? frontier)
      distances
      (let [[frontier distances] (reduce (fn [state cell] (visit state cell distance))
                                         [[] distances]
                                         (mapcat neighbours frontier))]
        (recur frontier distances (inc distance))))))

(let [distances (search [0 0])]
  {:reached (count distances)
   :farthest (apply max (vals distances))
   :total (reduce + (vals distances))})
