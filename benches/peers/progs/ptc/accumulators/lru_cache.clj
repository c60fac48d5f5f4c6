(def capacity 32)
(def requests 20000)

(defn next-random [x]
  (mod (+ (* x 1366) 150889) 714025))

;; Three of four requests are for few keys, so that most of them hit.
(defn requested-key [x]
  (if (zero? (mod x 4)) (mod x 1009) (mod x 23)))

(defn evict [entries]
  (dissoc entries (key (apply min-key (fn [[_ entry]] (:used entry)) entries))))

(defn make-room [entries]
  (if (< (count entries) capacity) entries (evict entries)))

(defn request [{:keys [entries] :as cache} [tick k]]
  (if (contains? entries k)
    (-> cache
        (update :hits inc)
        (assoc-in [:entries k :used] tick))
    (-> cache
        (update :misses inc)
        (update :entries make-room)
        (assoc-in [:entries k] {:value (* k k) :used tick}))))

(let [ks (map requested-key (take requests (iterate next-random 1)))
      cache (reduce request {:entries {} :hits 0 :misses 0} (map-indexed vector ks))]
  {:hits (:hits cache)
   :misses (:misses cache)
   :kept (reduce + (map :value (vals (:entries cache))))})
