; A shop without a shop: answers as the service would.
(def orders
  [{:id 101 :customer "Ada" :country "DE" :total 63.0 :promised "2031-04-01" :arrived nil}
   {:id 102 :customer "Grace" :country "US" :total 18.5 :promised "2031-04-02" :arrived nil}
   {:id 103 :customer "Edsger" :country "DE" :total 12.0 :promised "2031-03-28" :arrived nil}
   {:id 104 :customer "Barbara" :country "DE" :total 48.0 :promised "2031-03-30" :arrived "2031-03-29"}
   {:id 105 :customer "Linus" :country "DE" :total 30.0 :promised "2031-04-09" :arrived nil}])

(filter #(or (nil? data/country) (= data/country (:country %))) orders)
