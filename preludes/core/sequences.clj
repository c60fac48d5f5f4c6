;; Sequence functions that call functions. Without a collection, a function gives a transducer.

(defn map
  ([f]
   (fn [rf]
     (fn
       ([] (rf))
       ([acc] (rf acc))
       ([acc x] (rf acc (f x))))))
  ([f coll]
   (if (%endless? coll)
     (%step %map-step f coll)
     (or (%each f coll)
         (let [out (%builder)]
           (%for [x coll] (%push out (f x)))
           (%finish out)))))
  ([f a b]
   (if (or (%endless? a) (%endless? b))
     (%map-endless f [a b])
     (%map-two f a b)))
  ([f a b & more]
   (let [colls (list* a b more)]
     (if (some %endless? colls)
       (%map-endless f colls)
       (%map-rows f (%zip colls))))))

(defn %map-two [f a b]
   (let [out (%builder)
         xs (%indexed a)
         ys (%indexed b)
         n (count xs)
         m (count ys)]
     (%for [i (range (if (< n m) n m))]
       (%push out (f (nth xs i) (nth ys i))))
     (%finish out)))

(defn mapv
  ([f coll]
   (or (%each f coll)
       (let [out (%builder)]
         (%for [x (%bounded coll)] (%push out (f x)))
         (%finish out))))
  ([f a b] (%bounded (map f a b)))
  ([f a b & more] (%bounded (%apply map f a b more))))

(defn %map-rows [f rows]
  (let [out (%builder)]
    (%for [row rows] (%push out (%apply f row)))
    (%finish out)))

(defn mapcat
  ([f]
   (fn [rf]
     (fn
       ([] (rf))
       ([acc] (rf acc))
       ([acc x]
        (let [out acc]
          (%for [y (f x)]
            (%set! out (rf out y))
            ;; Still reduced, for the reduce around this one.
            (if (reduced? out) (%exit out) nil))
          out)))))
  ([f coll] (if (%endless? coll) (%step %mapcat-step f coll) (%concat-all (map f coll))))
  ([f a & more]
   (let [parts (%apply map f a more)]
     (if (%endless? parts) (%step %mapcat-step identity parts) (%concat-all parts)))))

(defn keep
  ([f]
   (fn [rf]
     (fn
       ([] (rf))
       ([acc] (rf acc))
       ([acc x] (let [v (f x)] (if (nil? v) acc (rf acc v)))))))
  ([f coll]
   (if (%endless? coll)
     (%step %keep-step f coll)
     (let [out (%builder)]
       (%for [x coll]
         (let [v (f x)]
           (if (nil? v) nil (%push out v))))
       (%finish out)))))

(defn filter
  ([pred]
   (fn [rf]
     (fn
       ([] (rf))
       ([acc] (rf acc))
       ([acc x] (if (pred x) (rf acc x) acc)))))
  ([pred coll]
   (if (%endless? coll)
     (%step %filter-step pred coll)
     (or (%each-where pred coll true)
         (let [out (%builder)]
           (%for [x coll] (if (pred x) (%push out x) nil))
           (%finish out))))))

(defn filterv [pred coll]
  (or (%each-where pred coll true)
      (let [out (%builder)]
        (%for [x (%bounded coll)] (if (pred x) (%push out x) nil))
        (%finish out))))

(defn remove
  ([pred]
   (fn [rf]
     (fn
       ([] (rf))
       ([acc] (rf acc))
       ([acc x] (if (pred x) acc (rf acc x))))))
  ([pred coll]
   (if (%endless? coll)
     (%step %filter-step (complement pred) coll)
     (or (%each-where pred coll false)
         (let [out (%builder)]
           (%for [x coll] (if (pred x) nil (%push out x)))
           (%finish out))))))

(defn take-while
  ([pred]
   (fn [rf]
     (fn
       ([] (rf))
       ([acc] (rf acc))
       ([acc x] (if (pred x) (rf acc x) (reduced acc))))))
  ([pred coll]
   (let [out (%builder)]
     (%for [x coll]
       (if (pred x) (%push out x) (%exit (%finish out))))
     (%finish out))))

(defn split-with [pred coll]
  (if (%endless? coll)
    [(take-while pred coll) (drop-while pred coll)]
    (%split-with pred coll)))

(defn %split-with [pred coll]
  (let [n 0 xs (%indexed coll)]
    (%for [x xs]
      (if (pred x) (%set! n (inc n)) (%exit (split-at n xs))))
    [xs []]))

(defn some [pred coll]
  (%for [x coll]
    (let [v (pred x)]
      (if v (%exit v) nil)))
  nil)

(defn every? [pred coll]
  (%for [x coll] (if (pred x) nil (%exit false)))
  true)

(defn not-any? [pred coll]
  (%for [x coll] (if (pred x) (%exit false) nil))
  true)

(defn not-every? [pred coll]
  (%for [x coll] (if (pred x) nil (%exit true)))
  false)

(defn run! [f coll]
  (%for [x coll] (f x))
  nil)

(defn replace
  ([smap]
   (let [lookup (%replacements smap)]
     (map (fn [x] (get lookup x x)))))
  ([smap coll]
   (let [out (%builder)
         lookup (%replacements smap)]
     (%for [x coll] (%push out (get lookup x x)))
     (%finish out)))
  ([s match by] (%replace-matches s match by -1)))

(defn replace-first [s match by] (%replace-matches s match by 1))

(defn %replace-matches [s match by most]
  (if (or (string? by) (not (ifn? by)))
    (%replace-text s match by most)
    (let [out (%builder) is-match false]
      (%for [part (%match-parts s match most)]
        (%push out (if is-match (by part) part))
        (%set! is-match (not is-match)))
      (join (%finish out)))))

;; `subs` refuses what is no text.
(defn escape [s cmap]
  (let [out (%builder)]
    (%for [c (subs s 0)]
      (let [v (cmap c)]
        (%push out (if (nil? v) c v))))
    (join (%finish out))))
