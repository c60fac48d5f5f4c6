;; Functions made of functions.

(defn apply
  ([f xs] (%apply f xs))
  ([f a xs] (%apply f a xs))
  ([f a b xs] (%apply f a b xs))
  ([f a b c & more] (%apply f a b c (%apply list* more))))

(defn comp
  ([] identity)
  ([f] f)
  ([f g]
   (fn
     ([] (f (g)))
     ([x] (f (g x)))
     ([x y] (f (g x y)))
     ([x y & more] (f (%apply g x y more)))))
  ([f g & more] (reduce comp (comp f g) more)))

(defn partial
  ([f] f)
  ([f a]
   (fn
     ([] (f a))
     ([x] (f a x))
     ([x y] (f a x y))
     ([x y & more] (%apply f a x y more))))
  ([f a b]
   (fn
     ([] (f a b))
     ([x] (f a b x))
     ([x & more] (%apply f a b x more))))
  ([f a b & more] (fn [& args] (%apply f a b (concat more args)))))

(defn complement [f]
  (fn
    ([] (not (f)))
    ([x] (not (f x)))
    ([x y] (not (f x y)))
    ([x y & more] (not (%apply f x y more)))))

(defn constantly [x] (fn [& args] x))

(defn juxt [f & more]
  (let [fs (list* f more)]
    (fn
      ([x]
       (let [out (%builder)]
         (%for [g fs] (%push out (g x)))
         (%finish out)))
      ([x & args]
       (let [out (%builder)]
         (%for [g fs] (%push out (%apply g x args)))
         (%finish out)))
      ([]
       (let [out (%builder)]
         (%for [g fs] (%push out (g)))
         (%finish out))))))

(defn fnil
  ([f a]
   (fn
     ([x] (f (if (nil? x) a x)))
     ([x y] (f (if (nil? x) a x) y))
     ([x y & more] (%apply f (if (nil? x) a x) y more))))
  ([f a b]
   (fn
     ([x y] (f (if (nil? x) a x) (if (nil? y) b y)))
     ([x y & more] (%apply f (if (nil? x) a x) (if (nil? y) b y) more))))
  ([f a b c]
   (fn
     ([x y] (f (if (nil? x) a x) (if (nil? y) b y)))
     ([x y z] (f (if (nil? x) a x) (if (nil? y) b y) (if (nil? z) c z)))
     ([x y z & more]
      (%apply f (if (nil? x) a x) (if (nil? y) b y) (if (nil? z) c z) more)))))

(defn every-pred [f & more]
  (let [fs (list* f more)]
    (fn [& args]
      (%for [x args]
        (%for [g fs]
          (if (g x) nil (%exit false))))
      true)))

(defn some-fn [f & more]
  (let [fs (list* f more)]
    (fn [& args]
      (let [found nil]
        (%for [x args]
          (%for [g fs]
            (%set! found (g x))
            (if found (%exit found) nil)))
        found))))

(defn trampoline
  ([f] (loop [result (f)] (if (fn? result) (recur (result)) result)))
  ([f & args] (loop [result (%apply f args)] (if (fn? result) (recur (result)) result))))

(defn comparator [pred]
  (fn [a b]
    (cond
      (pred a b) -1
      (pred b a) 1
      :else 0)))

;; The key of `sort-by` and its kin: a string is a field, a vector a path.
(defn %key-fn [k]
  (cond
    (string? k) (fn [x] (get x k))
    (vector? k) (fn [x] (get-in x k))
    :else k))

(defn %keys [k coll]
  (or (%each k coll)
      (let [f (%key-fn k) out (%builder)]
        (%for [x (%bounded coll)] (%push out (f x)))
        (%finish out))))
