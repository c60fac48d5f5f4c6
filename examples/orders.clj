;; Which customers are worth a call this week?
;; Reads data/orders: a vector of {"id" "customer" "status" "items" [{"sku" "qty" "price"}]}.

(defn line-total [{:keys [qty price]}]
  (* qty price))

(defn order-total [order]
  (reduce + 0 (map line-total (:items order))))

(defn summary [[customer orders]]
  (let [totals (map order-total orders)]
    {:customer customer
     :orders   (count orders)
     :spent    (reduce + 0 totals)
     :largest  (reduce max 0 totals)}))

;; Cancelled orders do not count; an order without a status does.
(def paid (filter (fn [order] (not= "cancelled" (:status order))) data/orders))

;; Each customer is summed up in a branch of its own.
(def ranking
  (reverse (sort-by :spent (pmap summary (group-by :customer paid)))))

;; The first customers that together make up half of all sales, by a plain loop.
(def best
  (let [goal (/ (reduce + 0 (map :spent ranking)) 2)]
    (loop [[row & others] ranking, sum 0, chosen []]
      (if (and row (< sum goal))
        (recur others (+ sum (:spent row)) (conj chosen (:customer row)))
        chosen))))

(println (count paid) "of" (count data/orders) "orders count")
(println "half of all sales:" best)

{:best best
 :top (first ranking)
 :by-customer (into {} (map (fn [row] [(:customer row) (:spent row)]) ranking))}
