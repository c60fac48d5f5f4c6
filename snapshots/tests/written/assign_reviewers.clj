; Round-robin reviewers, nobody reviews their own work.
(def authors ["ann" "bob" "cat" "ann" "dan"])
(def team ["ann" "bob" "cat"])

(defn assign [authors team]
  (loop [todo (map-indexed vector authors)
         queue team
         out []]
    (if-let [[[i author] & more] (seq todo)]
      (let [[skipped [pick & others]] (split-with #{author} queue)]
        (recur more
               (vec (concat skipped others [pick]))
               (conj out {:pr (inc i) :author author :reviewer pick})))
      out)))

(let [plan (assign authors team)]
  {:plan (map (juxt :pr :reviewer) plan)
   :load (into (sorted-map) (frequencies (map :reviewer plan)))
   :ok?  (not-any? #(= (:author %) (:reviewer %)) plan)})
