; Fill a template; lists in English.
(def template "Dear {{first-name}}, your balance is {{balance}}. You bought {{items}}.")

(defn english-list [xs]
  (case (count xs)
    0 "nothing"
    1 (first xs)
    2 (str/join " and " xs)
    (str (str/join ", " (butlast xs)) " and " (last xs))))

(defn money [x]
  (str (when (neg? x) "-") "$" (format "%,.2f" (double (Math/abs x)))))

(defn render [template values]
  (str/replace template #"\{\{([\w-]+)\}\}"
               (fn [[_ k]] (str (get values (keyword k) (str "<" k "?>"))))))

(for [c data/customers]
  (render template {:first-name (:first-name c)
                    :balance (money (:balance c))
                    :items (english-list (:items c))}))
