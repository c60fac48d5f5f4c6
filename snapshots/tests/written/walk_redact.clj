; Hide secrets anywhere in a nested value, keys to keywords.
(def payload {"user" {"name" "Ada" "password" "hunter2" "cards" [{"number" "4111111111111111" "exp" "12/26"}]}
              "token" "abc" "items" [1 2 {"Token" nil}]})

(def secret? #{"password" "token" "number"})

(defn mask [s]
  (let [n (count s)]
    (if (> n 4)
      (str (str/join (repeat (- n 4) "*")) (subs s (- n 4)))
      "***")))

(clojure.walk/postwalk
  (fn [x]
    (if (map? x)
      (into {} (map (fn [[k v]]
                      [(keyword k) (if (and (string? v) (secret? (str/lower-case k))) (mask v) v)])
                    x))
      x))
  payload)
