(def size 220)

(defn next-random [x]
  (mod (+ (* x 1366) 150889) 714025))

(def cells
  (for [row (range size) column (range size)] [row column]))

(def walls
  (set (keep (fn [[cell x]] (when (zero? (mod x 11)) cell))
             (map vector cells (iterate next-random 1)))))

(defn paths-to [paths [row column :as cell]]
  (cond
    (= cell [0 0]) 1
    (contains? walls cell) 0
    :else (mod (+ (get paths [(dec row) column] 0)
                  (get paths [row (dec column)] 0))
               1000000007)))

(let [paths (reduce (fn [paths cell] (assoc paths cell (paths-to paths cell))) {} cells)]
  {:paths (get paths [(dec size) (dec size)])
   :reached (count (filter pos? (vals paths)))})
