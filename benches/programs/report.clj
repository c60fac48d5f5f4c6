(def orders
  [{:id 1 :customer "ann" :tier "gold" :country "DE"
    :items [{:qty 2 :price 10} {:qty 1 :price 35}]}
   {:id 2 :customer "bob" :tier "silver" :country "FR"
    :items [{:qty 5 :price 8}]}
   {:id 3 :customer "cat" :tier "free" :country "DE"
    :items [{:qty 1 :price 120} {:qty 3 :price 4}]}
   {:id 4 :customer "dan" :tier "gold" :country "US"
    :items [{:qty 10 :price 30}]}])

(defn subtotal [order]
  (reduce + (map (fn [{:keys [qty price]}] (* qty price)) (:items order))))

(defn discount [total tier]
  (cond
    (= tier "gold") (quot (* total 10) 100)
    (= tier "silver") (quot (* total 5) 100)
    :else 0))

(defn shipping [total country]
  (cond
    (> total 100) 0
    (= country "DE") 5
    :else 12))

(defn process [order]
  (let [sub (subtotal order)
        net (- sub (discount sub (:tier order)))
        total (+ net (shipping net (:country order)))
        label (cond (>= total 200) "big" (>= total 50) "medium" :else "small")]
    {:id (:id order) :customer (:customer order) :total total :label label}))

(defn line [r]
  (str (:id r) ":" (:customer r) "=" (:total r) "(" (:label r) ")"))

(let [results (map process orders)
      check (reduce (fn [c r] (mod (+ (* c 31) (:total r)) 9973)) 0 results)]
  (str (apply str (map line results)) " #" check))
