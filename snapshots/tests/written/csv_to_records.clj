; Quoted CSV to maps with typed values.
(def csv "id,name,price,active
1,\"Tea, green\",3.50,true
2,Coffee,4,false
3,\"Say \"\"hi\"\"\",,true")

(defn parse-cells [line]
  (->> (re-seq #"(?:^|,)(?:\"((?:[^\"]|\"\")*)\"|([^,]*))" line)
       (mapv (fn [[_ quoted plain]]
               (if quoted (str/replace quoted "\"\"" "\"") plain)))))

(defn typed [s]
  (cond
    (str/blank? s)                    nil
    (re-matches #"-?\d+" s)           (parse-long s)
    (re-matches #"-?\d+\.\d+" s)      (parse-double s)
    (#{"true" "false"} s)             (= s "true")
    :else                             s))

(let [[header & rows] (map parse-cells (str/split-lines csv))
      ks (map keyword header)]
  (for [row rows]
    (zipmap ks (map typed row))))
