; Mean, median, deviation, quartiles and outliers.
(def xs [4 8 15 16 23 42 100])

(defn mean [xs] (/ (reduce + xs) (count xs)))
(defn median [xs]
  (let [s (vec (sort xs)) n (count s) h (quot n 2)]
    (if (odd? n) (s h) (/ (+ (s (dec h)) (s h)) 2))))
(defn stdev [xs]
  (let [m (mean xs)]
    (Math/sqrt (mean (map #(Math/pow (- % m) 2) xs)))))
(defn quartiles [xs]
  (let [s (sort xs) h (quot (count s) 2)]
    [(median (take h s)) (median s) (median (take-last h s))]))

(let [[q1 q2 q3] (quartiles xs)
      iqr (- q3 q1)
      out? (some-fn #(> % (+ q3 (* 1.5 iqr))) #(< % (- q1 (* 1.5 iqr))))]
  {:mean (format "%.2f" (mean xs))
   :stdev (format "%.2f" (stdev xs))
   :quartiles [q1 q2 q3]
   :outliers (filterv out? xs)
   :min-max ((juxt first last) (sort xs))})
