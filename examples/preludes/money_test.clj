; Tests of money.clj: ptc test examples/preludes/money.clj

(deftest shows-cents
  (is (= "12.50" (money/show 1250)))
  (is (= "0.05" (money/show 5))))

(deftest adds-the-tax-of-a-country
  (is (= 1190 (money/with-tax 1000 "de")))
  (testing "an unknown country"
    (is (nil? (money/with-tax 1000 "nl")))))

(deftest adds-rows-up
  (is (= 30 (money/total [{:cents 10} {:cents 20}])))
  (is (thrown? Exception (money/total [{:cents 10} {:cents nil}]))))
