; Conversion per variant, lift and a z-score.
(def results {:control {:visitors 1000 :conversions 100}
              :variant {:visitors 1000 :conversions 130}})

(defn rate [{:keys [visitors conversions]}]
  (/ conversions visitors))

(let [{:keys [control variant]} results
      [p1 p2] (map rate [control variant])
      n1 (:visitors control)
      n2 (:visitors variant)
      p  (/ (+ (:conversions control) (:conversions variant)) (+ n1 n2))
      se (Math/sqrt (* p (- 1 p) (+ (/ 1 n1) (/ 1 n2))))
      z  (/ (- p2 p1) se)]
  {:rates (update-vals results #(format "%.1f%%" (* 100.0 (rate %))))
   :lift (format "%+.1f%%" (* 100.0 (/ (- p2 p1) p1)))
   :z (format "%.3f" z)
   :significant? (> (Math/abs z) 1.96)})
