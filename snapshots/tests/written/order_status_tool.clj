; Look up the orders a mail mentions and write the answer.
(def mail "Hi, where are my orders A-1, A-2 and A-9? Order A-1 is urgent. /Ada")

(defn describe-order [id]
  (let [order (tool/get_order {:order-id id})]
    (if (nil? order)
      (str "Order " id " was not found.")
      (let [{:keys [status eta]} order]
        (str "Order " id " is " status
             (when eta (str " and arrives " eta))
             ".")))))

(let [ids   (distinct (re-seq #"[A-Z]-\d+" mail))
      [_ who] (re-find #"/(\w+)$" mail)]
  (str/join "\n" (concat [(str "Dear " who ",") ""] (map describe-order ids))))
