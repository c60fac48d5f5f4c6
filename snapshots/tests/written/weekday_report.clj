; Sales per day of the week, weekend share, month names.
(def sales [["2024-05-03" 10] ["2024-05-04" 20] ["2024-05-05" 30] ["2024-05-10" 5] ["2024-06-01" 15]])

(let [rows    (for [[d n] sales
                    :let [date (LocalDate/parse d)]]
                {:day (str (.getDayOfWeek date))
                 :month (.format date (DateTimeFormatter/ofPattern "MMM yyyy"))
                 :n n})
      weekend? (comp #{"SATURDAY" "SUNDAY"} :day)
      total   (reduce + (map :n rows))]
  {:by-day   (reduce (fn [m {:keys [day n]}] (update m day (fnil + 0) n)) {} rows)
   :by-month (update-vals (group-by :month rows) #(reduce + (map :n %)))
   :weekend  (/ (reduce + (map :n (filter weekend? rows))) total)})
