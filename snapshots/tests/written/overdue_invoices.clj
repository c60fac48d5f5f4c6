; Open invoices past their due date, by age bucket.
(let [today  (LocalDate/parse data/today)
      bucket (fn [days]
               (condp >= days
                 30 "0-30"
                 60 "31-60"
                 90 "61-90"
                 "90+"))
      open   (for [{:keys [no due amount paid]} data/invoices
                   :let [owed (- amount paid)
                         due  (LocalDate/parse due)]
                   :when (and (pos? owed) (.isBefore due today))
                   :let [days (.between ChronoUnit/DAYS due today)]]
               {:no no :owed owed :days days :bucket (bucket days)})]
  {:invoices (sort-by :days > open)
   :by-bucket (reduce (fn [m {:keys [bucket owed]}]
                        (update m bucket (fnil + 0) owed))
                      (sorted-map)
                      open)
   :total (format "%.2f" (sum-by :owed open))})
