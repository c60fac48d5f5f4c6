; Price a cart with discounts and tax, options by keyword.
(defn line-total [{:keys [price qty] :or {qty 1}}] (* price qty))

(defn checkout [cart & {:keys [coupon tax-rate] :or {tax-rate 0.25}}]
  (let [subtotal (transduce (map line-total) + 0 cart)
        discount (case coupon
                   "TENOFF" 10
                   ("HALF" "FIFTY") (/ subtotal 2)
                   0)
        net      (max 0 (- subtotal discount))
        tax      (* net tax-rate)]
    (cond-> {:subtotal subtotal :tax tax :total (+ net tax)}
      (pos? discount) (assoc :discount discount)
      (> net 100)     (assoc :free-shipping true))))

(def cart [{:sku "A" :price 20 :qty 3} {:sku "B" :price 80}])

[(checkout cart)
 (checkout cart :coupon "TENOFF" :tax-rate 0.5)
 (checkout cart :coupon "HALF")]
