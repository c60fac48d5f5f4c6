; A calculator with precedence over a token list.
(defn tokenize [s] (re-seq #"\d+(?:\.\d+)?|[-+*/()]" s))

(declare parse-expr)

(defn parse-atom [[t & more]]
  (if (= t "(")
    (let [[v rest-tokens] (parse-expr more)]
      [v (rest rest-tokens)])
    [(or (parse-long t) (parse-double t)) more]))

(defn parse-binary [next-level ops]
  (fn [tokens]
    (loop [[v ts] (next-level tokens)]
      (if-let [f (ops (first ts))]
        (let [[w ts'] (next-level (rest ts))]
          (recur [(f v w) ts']))
        [v ts]))))

(def parse-term (parse-binary parse-atom {"*" * "/" /}))
(defn parse-expr [tokens] ((parse-binary parse-term {"+" + "-" -}) tokens))

(mapv (comp first parse-expr tokenize) ["1+2*3" "(1+2)*3" "10/4-1" "2*(3+(4-1))*2"])
