; A text table with columns as wide as their widest cell.
(def rows [{:item "Tea" :qty 2 :price 3.5}
           {:item "Espresso" :qty 10 :price 2.25}])

(defn pad [s n] (str s (apply str (repeat (- n (count s)) " "))))

(defn table [cols rows]
  (let [cells  (cons (map name cols)
                     (map (fn [r] (map #(str (get r %)) cols)) rows))
        widths (apply map (fn [& xs] (apply max (map count xs))) cells)
        line   (fn [cs] (str/trimr (str/join " | " (map pad cs widths))))
        rule   (str/join "-+-" (map #(apply str (repeat % \-)) widths))]
    (str/join \newline
              (concat [(line (first cells)) rule]
                      (map line (rest cells))))))

(table [:item :qty :price] rows)
