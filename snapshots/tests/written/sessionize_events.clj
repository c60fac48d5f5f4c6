; A gap of more than 30 minutes starts a new session.
(def events
  [{:user "u1" :at 0} {:user "u1" :at 10} {:user "u2" :at 5}
   {:user "u1" :at 50} {:user "u1" :at 55} {:user "u2" :at 36}
   {:user "u2" :at 30}])

(defn sessions [ts]
  (reduce (fn [acc t]
            (let [prev (peek (peek acc))]
              (if (and prev (<= (- t prev) 30))
                (conj (pop acc) (conj (peek acc) t))
                (conj acc [t]))))
          []
          (sort ts)))

(->> events
     (group-by :user)
     (mapcat (fn [[user evs]]
               (map-indexed (fn [i s]
                              {:user user :session (inc i) :start (first s)
                               :length (- (last s) (first s)) :events (count s)})
                            (sessions (map :at evs)))))
     (into []))
