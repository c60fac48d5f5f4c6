; Events per hour with the empty hours filled in.
(def stamps ["2024-05-01T09:05:00Z" "2024-05-01T09:45:10Z" "2024-05-01T11:00:00Z" "2024-05-01T12:59:59Z" "2024-05-01T12:00:00Z"])

(let [hour   (fn [s] (subs s 0 13))
      counts (frequencies (map hour stamps))
      first-h (parse-long (subs (first (sort (keys counts))) 11))
      last-h  (parse-long (subs (last (sort (keys counts))) 11))
      day    (subs (first stamps) 0 10)]
  (->> (range first-h (inc last-h))
       (map #(format "%sT%02d" day %))
       (map (juxt identity #(get counts % 0)))
       (into (sorted-map))))
