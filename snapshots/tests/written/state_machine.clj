; Run order events through a state machine and collect what was refused.
(def transitions
  {:new      {:pay :paid, :cancel :cancelled}
   :paid     {:ship :shipped, :refund :refunded}
   :shipped  {:deliver :done, :refund :refunded}})

(defn step [{:keys [state] :as order} event]
  (if-let [next-state (get-in transitions [state event])]
    (-> order
        (assoc :state next-state)
        (update :history conj [state event next-state]))
    (update order :rejected (fnil conj []) {:event event :in state})))

(let [run (fn [events] (reduce step {:state :new :history []} events))]
  [(run [:pay :ship :cancel :deliver])
   (-> (run [:cancel :pay]) (dissoc :history))
   (every? #{:done :cancelled} (map (comp :state run) [[:pay :ship :deliver] [:cancel]]))])
