; Contacts with the same e-mail are one person; the fuller field wins.
(def contacts
  [{:name "Ada Lovelace" :email "ADA@example.com " :phone nil}
   {:name "A. Lovelace" :email "ada@example.com" :phone "+44 20 1234"}
   {:name "Bob" :email "bob@example.com" :phone "(555) 010-2000"}
   {:name "Robert" :email "Bob@Example.com" :phone ""}])

(defn normalize [c]
  (-> c
      (update :email (comp str/lower-case str/trim))
      (update :phone #(some-> % (str/replace #"[^\d+]" "") not-empty))))

(defn merge-contact [a b]
  (merge-with (fn [x y]
                (cond
                  (nil? x) y
                  (nil? y) x
                  (> (count y) (count x)) y
                  :else x))
              a b))

(->> contacts
     (map normalize)
     (group-by :email)
     vals
     (map (partial reduce merge-contact))
     (sort-by :email))
