; Ranks with ties (1, 2, 2, 4) and medals.
(def players [{:name "Ann" :score 80} {:name "Ben" :score 95} {:name "Cat" :score 80} {:name "Dan" :score 70}])

(let [sorted  (sort-by (juxt (comp - :score) :name) players)
      rank-of (fn [s] (inc (count (take-while #(> (:score %) s) sorted))))
      medal   {1 "gold" 2 "silver" 3 "bronze"}]
  (->> sorted
       (map (fn [{:keys [score] :as p}] (assoc p :rank (rank-of score))))
       (map #(if-let [m (medal (:rank %))] (assoc % :medal m) %))
       (map (fn [{:keys [rank name score medal]}]
              (format "%d. %-4s %3d %s" rank name score (or medal ""))))
       (map str/trimr)
       (str/join "\n")))
