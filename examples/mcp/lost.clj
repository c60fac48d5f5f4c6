; Who waits for a parcel that is late and lost, and how much do we owe each of them?
(defn call [tool args]
  (let [r (tool/call {:server "shop" :tool tool :args args})]
    (if (:ok r) (:value r) (throw (ex-info (:message r) {:reason (:reason r)})))))

(->> (:orders (call "list_orders" {:country "DE"}))
     (filter #(< (:due %) "2031-04-03"))
     (pmap #(assoc % :status (:status (call "find_parcel" {:order (:number %)}))))
     (filter #(= (:status %) "lost"))
     (group-by :customer)
     (map (fn [[name orders]] {:customer name :refund (sum-by :total orders)})))
