;; Folding, and what transducers do with it.

(defn reduce
  ([f coll]
   (or (%fold f coll)
       (let [acc nil started false]
         (%for [x coll]
           (if started
             (do
               (%set! acc (f acc x))
               (if (reduced? acc) (%exit (unreduced acc)) nil))
             (do
               (%set! acc x)
               (%set! started true))))
         (if started acc (f)))))
  ([f init coll]
   (or (%fold f init coll)
       (let [acc init]
         (%for [x coll]
           (%set! acc (f acc x))
           (if (reduced? acc) (%exit (unreduced acc)) nil))
         acc))))

(defn reductions
  ([f coll]
   (if (%endless? coll)
     (reductions f (first coll) (rest coll))
     (%reductions f coll)))
  ([f init coll]
   (if (%endless? coll)
     (%link init (%step %reductions-step f init coll))
     (let [out (%builder) acc init]
       (%push out acc)
       (%for [x coll]
         (%set! acc (f acc x))
         (%push out (unreduced acc))
         (if (reduced? acc) (%exit (%finish out)) nil))
       (%finish out)))))

(defn %reductions [f coll]
  (let [out (%builder) acc nil started false]
     (%for [x coll]
       (%set! acc (if started (f acc x) x))
       (%set! started true)
       (%push out (unreduced acc))
       (if (reduced? acc) (%exit (%finish out)) nil))
     (if started (%finish out) [(f)])))


(defn transduce
  ([xf f coll] (transduce xf f (f) coll))
  ([xf f init coll]
   (let [rf (xf f)]
     (rf (reduce rf init coll)))))

(defn completing
  ([f] (fn ([] (f)) ([acc] acc) ([acc x] (f acc x))))
  ([f last-step] (fn ([] (f)) ([acc] (last-step acc)) ([acc x] (f acc x)))))

(defn into
  ([] [])
  ([to] to)
  ([to from] (%into to from))
  ([to xf from] (transduce xf conj to from)))

(defn sequence
  ([coll] (vec coll))
  ([xf coll] (transduce xf conj [] coll)))
