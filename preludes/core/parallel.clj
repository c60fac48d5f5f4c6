;; Parallel branches.

(defn pmap
  ([f coll] (%pmap f coll))
  ([f a & more]
   (%pmap (fn [row] (%apply f row)) (%zip (list* a more)))))

(defn pcalls [& fs] (%pcalls fs))
