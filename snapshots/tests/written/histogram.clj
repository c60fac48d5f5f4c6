; A histogram drawn with stars.
(def scores [55 61 68 72 75 78 79 83 88 91 100])

(defn bucket [x] (* 10 (min 9 (quot x 10))))

(let [freq (into (sorted-map) (frequencies (map bucket scores)))
      bars (for [[lo n] freq]
             (format "%3d-%-3d %s %d" lo (if (= lo 90) 100 (+ lo 9)) (str/join (repeat n "*")) n))]
  (doseq [b bars] (println b))
  {:mode (first (last (sort-by second (seq freq))))
   :median (nth (sort scores) (quot (count scores) 2))})
