; Which meetings of one room overlap, and how long is each room booked?
(def meetings
  [{:id :standup :room "A" :from "09:00" :to "09:30"}
   {:id :review :room "A" :from "09:15" :to "10:00"}
   {:id :lunch :room "B" :from "12:00" :to "13:00"}
   {:id :demo :room "A" :from "10:00" :to "11:00"}])

(defn minutes [hhmm]
  (let [[h m] (map #(Integer/parseInt %) (str/split hhmm #":"))]
    (+ (* 60 h) m)))

(defn overlaps? [a b]
  (and (= (:room a) (:room b))
       (< (minutes (:from a)) (minutes (:to b)))
       (< (minutes (:from b)) (minutes (:to a)))))

{:conflicts (for [[i a] (map-indexed vector meetings)
                  b (drop (inc i) meetings)
                  :when (overlaps? a b)]
              #{(:id a) (:id b)})
 :booked (->> meetings
              (group-by :room)
              (reduce-kv (fn [m room ms]
                           (assoc m room (transduce (map #(- (minutes (:to %)) (minutes (:from %)))) + ms)))
                         {}))}
