; The orders of a shop.
[{:id 1 :customer "Ada" :total 40.5 :paid true}
 {:id 2 :customer "Grace" :total 12.0 :paid false}
 {:id 3 :customer "Ada" :total 9.5 :paid false}]
