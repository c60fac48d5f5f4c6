; Deep merge of defaults, environment and overrides.
(defn deep-merge [& ms]
  (apply merge-with
         (fn [a b] (if (and (map? a) (map? b)) (deep-merge a b) b))
         ms))

(def defaults {:db {:host "localhost" :port 5432 :pool {:min 1 :max 5}} :debug false})
(def staging {:db {:host "stage.local" :pool {:max 20}}})

(letfn [(flatten-keys [prefix m]
          (mapcat (fn [[k v]]
                    (let [path (conj prefix (name k))]
                      (if (map? v)
                        (flatten-keys path v)
                        [[(str/join "." path) v]])))
                  m))]
  (let [cfg (deep-merge defaults staging {:debug true})]
    {:cfg cfg
     :flat (into (sorted-map) (flatten-keys [] cfg))}))
