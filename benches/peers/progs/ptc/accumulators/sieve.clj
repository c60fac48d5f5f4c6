(def limit 200000)

(defn cross-out [prime? n]
  (reduce (fn [prime? multiple] (assoc prime? multiple false))
          prime?
          (range (* n n) (inc limit) n)))

(defn sieve []
  (reduce (fn [prime? n] (if (prime? n) (cross-out prime? n) prime?))
          (assoc (vec (repeat (inc limit) true)) 0 false 1 false)
          (range 2 (inc (int (Math/sqrt limit))))))

(let [prime? (sieve)
      primes (filter prime? (range (inc limit)))]
  {:count (count primes) :last (last primes)})
