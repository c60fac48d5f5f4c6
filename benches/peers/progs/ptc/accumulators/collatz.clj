(def limit 30000)

(defn chain-length [lengths start]
  (loop [n start, steps 0]
    (if-let [known (get lengths n)]
      (+ steps known)
      (recur (if (even? n) (quot n 2) (inc (* 3 n))) (inc steps)))))

(let [lengths (reduce (fn [lengths n] (assoc lengths n (chain-length lengths n)))
                      {1 1}
                      (range 2 (inc limit)))]
  {:longest (apply max (vals lengths))
   :total (reduce + (vals lengths))})
