; logfmt lines to maps, numbers as numbers, then a filter and a projection.
(def lines ["level=info msg=\"user logged in\" user=42 took=0.5"
            "level=warn msg=retry user=7 took=2"
            "level=info msg=\"bye now\" user=42"])

(defn parse-kv [line]
  (into {}
        (for [[_ k quoted bare] (re-seq #"(\w+)=(?:\"([^\"]*)\"|(\S+))" line)
              :let [v (or quoted bare)]]
          [(keyword k) (or (parse-long v) (parse-double v) v)])))

(let [rows (map parse-kv lines)
      xf   (comp (filter #(= 42 (:user %)))
                 (map #(select-keys % [:msg :took])))]
  {:user-42 (into [] xf rows)
   :took (transduce (keep :took) + rows)
   :keys (sort (reduce into #{} (map keys rows)))})
