; Two thousand log rows, the same every time: stands in for a log service.
(def services ["cart" "checkout" "mail" "search"])
(def codes [0 0 0 42 0 7 0 0 42 13])

(defn row [i]
  (let [code (nth codes (mod (* i 7) 10))
        service (nth services (mod (quot i 3) 4))]
    {:id i
     :at (format "2031-04-01T%02d:%02d:%02dZ" (quot i 100) (mod (quot i 2) 60) (mod (* i 13) 60))
     :level (if (zero? code) "info" "error")
     :code code
     :service service
     :message (if (zero? code) (str service " answered") (str service " failed with code " code))}))

(filter #(includes? (:message %) data/text) (map row (range 2000)))
