; How many signups fell into each seven-day window since the start.
(def signups ["2024-02-26" "2024-02-28" "2024-03-04" "2024-03-05" "2024-03-20"])
(def start (LocalDate/parse "2024-02-26"))

(defn window [d]
  (quot (.between ChronoUnit/DAYS start d) 7))

(let [days   (map #(LocalDate/parse %) signups)
      counts (frequencies (map window days))]
  (for [w (range (inc (apply max (keys counts))))
        :let [from (.plusDays start (* 7 w))]]
    {:from (str from)
     :to   (str (.plusDays from 6))
     :n    (get counts w 0)}))
