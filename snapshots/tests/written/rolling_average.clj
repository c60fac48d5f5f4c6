; Three-point moving average next to the raw values.
(def temps [10 20 30 40 10 0])

(defn moving-average [n xs]
  (->> xs
       (partition n 1)
       (map #(/ (reduce + %) (double n)))))

(let [avgs   (moving-average 3 temps)
      padded (concat (repeat 2 nil) avgs)]
  (mapv (fn [day t a] (cond-> {:day day :temp t}
                        a (assoc :avg (Math/round a))))
        (map inc (range))
        temps
        padded))
