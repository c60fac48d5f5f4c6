; Tests of shop.clj: ptc test shop.clj

(deftest gives-discounts
  (is (= 900 (shop/price 1000 "gold")))
  (testing "an unknown level" (is (= 1000 (shop/price 1000 "iron")))))

(deftest adds-rows-up
  (is (= 70 (shop/total [{:cents 10 :count 3} {:cents 40 :count 1}])))
  (is (= 0 (shop/total []))))
