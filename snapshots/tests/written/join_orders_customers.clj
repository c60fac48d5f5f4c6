; Join orders to customers, unknown customers kept.
(def customers-by-id
  (into {} (map (juxt :id identity)) data/customers))

(defn enrich [{:keys [id customer-id total]}]
  {:order id
   :customer (get-in customers-by-id [customer-id :name] "unknown")
   :total total})

(->> data/orders
     (map enrich)
     (sort-by (juxt :customer (comp - :total)))
     vec)
