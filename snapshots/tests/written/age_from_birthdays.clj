; Ages on a given day and the next birthday.
(def today (LocalDate/of 2024 5 20))
(def people {"Ada" "1990-05-21" "Bob" "1990-05-20" "Cem" "2000-02-29"})

(defn age [birth]
  (.between ChronoUnit/YEARS birth today))

(defn next-birthday [birth]
  (let [this-year (.withYear birth (.getYear today))]
    (if (.isBefore this-year today) (.plusYears this-year 1) this-year)))

(into {}
      (map (fn [[who s]]
             (let [b (LocalDate/parse s)]
               [who {:age (age b)
                     :next (str (next-birthday b))
                     :in (.until today (next-birthday b) ChronoUnit/DAYS)}])))
      people)
