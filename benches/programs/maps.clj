(let [users (into {} (map (fn [i] [(str "user-" i) {:id i :tags #{:new (mod i 7)}}]) (range 5000)))
      older (reduce (fn [m k] (update-in m [k :id] + 10000)) users (keys users))]
  [(count older)
   (reduce + (map :id (vals older)))
   (count (merge-with merge users (zipmap (keys users) (repeat 5000 {:seen true}))))])
