; Check form input, collect every problem by field.
(def rules
  {:email [[#(re-matches #".+@.+\..+" (str %)) "is not an e-mail"]]
   :age   [[integer? "must be a whole number"]
           [#(and (number? %) (<= 18 % 120)) "must be between 18 and 120"]]
   :name  [[(complement str/blank?) "is required"]]})

(defn errors [record]
  (reduce-kv
    (fn [acc field checks]
      (let [v   (get record field)
            bad (for [[ok? msg] checks :when (not (ok? v))] msg)]
        (if (seq bad) (assoc acc field (vec bad)) acc)))
    {}
    rules))

(let [people [{:name "Ada" :email "ada@x.org" :age 36}
              {:name " " :email "nope" :age "12"}
              {:name "Kid" :email "kid@x.org" :age 12}]
      checked (map #(assoc % :errors (errors %)) people)
      {good true bad false} (group-by (comp empty? :errors) checked)]
  {:good (map :name good)
   :bad (map :errors bad)})
