; Encode and decode runs.
(defn encode [s]
  (->> s
       (partition-by identity)
       (map (juxt count first))
       (map (fn [[n c]] (if (= n 1) (str c) (str n c))))
       (apply str)))

(defn decode [s]
  (->> (re-seq #"(\d+)?(\D)" s)
       (mapcat (fn [[_ n c]] (repeat (if n (Integer/parseInt n) 1) c)))
       (apply str)))

(let [s "WWWWBWWWAA"]
  [(encode s) (decode (encode s)) (= s (-> s encode decode))])
