; Minutes down per service and availability over one day.
(def incidents
  [{:service "api" :start "2024-05-01T08:00:00Z" :end "2024-05-01T08:36:00Z"}
   {:service "web" :start "2024-05-01T10:00:00Z" :end "2024-05-01T10:07:12Z"}
   {:service "api" :start "2024-05-01T20:00:00Z" :end "2024-05-01T20:36:00Z"}])

(defn seconds [{:keys [start end]}]
  (.getSeconds (Duration/between (Instant/parse start) (Instant/parse end))))

(let [day  (* 24 60 60)
      down (->> incidents
                (group-by :service)
                (map (fn [[s is]] [s (apply + (map seconds is))]))
                (into (sorted-map)))]
  (for [[service secs] down
        :let [up (* 100 (- 1 (/ secs day)))]]
    (format "%-5s%02d:%02d down, %.2f%% up" service (quot secs 60) (rem secs 60) (double up))))
