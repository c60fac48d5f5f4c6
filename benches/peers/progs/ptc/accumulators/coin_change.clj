(def coins [1 2 5 10 20 50 100 200])
(def amount 50000)

(defn add-coin [ways coin]
  (reduce (fn [ways total]
            (assoc ways total (mod (+ (ways total) (ways (- total coin))) 1000000007)))
          ways
          (range coin (inc amount))))

(let [none (assoc (vec (repeat (inc amount) 0)) 0 1)]
  (peek (reduce add-coin none coins)))
