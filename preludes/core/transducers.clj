;; Transducers that remember something, and the twins of natives that take a number and a collection:
;; with the collection left out they give a transducer, with one that has no end they walk it.

(defn ensure-reduced [x] (if (reduced? x) x (reduced x)))

(defn %take*
  ([n]
   (fn [rf]
     (let [left (%state n)]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (let [k (%held left)]
            (%hold! left (dec k))
            (cond
              (> k 1) (rf acc x)
              (> k 0) (ensure-reduced (rf acc x))
              :else (reduced acc))))))))
  ([n g]
   (let [from (%counts-from g)]
     (cond
       (< n 1) []
       (nil? from) (let [out (%builder) left n]
                     (%for [x g]
                       (%push out x)
                       (%set! left (dec left))
                       (if (< left 1) (%exit (%finish out)) nil)))
       :else (range from (+ from (long n)))))))

(defn %drop*
  ([n]
   (fn [rf]
     (let [left (%state n)]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (let [k (%held left)]
            (if (> k 0)
              (do (%hold! left (dec k)) acc)
              (rf acc x))))))))
  ([n g]
   (let [from (%counts-from g)]
     (cond
       (< n 1) g
       (nil? from) (loop [left n g g]
                     (if (< left 1) g (recur (dec left) (%tail (%force g)))))
       :else (%step %count-step (+ from (long n)) 1)))))

(defn %take-nth*
  ([n]
   (fn [rf]
     (let [i (%state -1)]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (%hold! i (inc (%held i)))
          (if (= 0 (rem (%held i) n)) (rf acc x) acc))))))
  ([n g] (%step %take-nth-step n g)))

(defn drop-while
  ([pred]
   (fn [rf]
     (let [dropping (%state true)]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (if (and (%held dropping) (pred x))
            acc
            (do
              (%hold! dropping false)
              (rf acc x))))))))
  ([pred coll]
   (if (%endless? coll)
     (loop [link (%force coll)]
       (if (pred (%head link)) (recur (%force (%tail link))) link))
     (let [n 0 xs (%indexed coll)]
       (%for [x xs]
         (if (pred x) (%set! n (inc n)) (%exit (drop n xs))))
       []))))

(defn %distinct*
  ([]
   (fn [rf]
     (let [seen (%state #{})]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (if (contains? (%held seen) x)
            acc
            (do
              (%hold! seen (conj (%held seen) x))
              (rf acc x))))))))
  ([g] (%step %distinct-step #{} g)))

(defn %dedupe*
  ([]
   (fn [rf]
     ;; A place of its own is equal to nothing that comes.
     (let [before (%state (%state nil))]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (let [is-same (= x (%held before))]
            (%hold! before x)
            (if is-same acc (rf acc x))))))))
  ([g]
   (let [link (%force g)]
     (%link (%head link) (%step %dedupe-step (%head link) (%tail link))))))

(defn %interpose*
  ([sep]
   (fn [rf]
     (let [started (%state false)]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (if (%held started)
            (let [between (rf acc sep)]
              (if (reduced? between) between (rf between x)))
            (do
              (%hold! started true)
              (rf acc x))))))))
  ([sep g]
   (let [link (%force g)]
     (%link (%head link) (%step %interpose-step sep (%tail link))))))

(defn %partition-all*
  ([n]
   (fn [rf]
     (let [chunk (%state [])]
       (fn
         ([] (rf))
         ([acc]
          (let [left (%held chunk)]
            (%hold! chunk [])
            (rf (if (= 0 (count left)) acc (unreduced (rf acc left))))))
         ([acc x]
          (let [more (conj (%held chunk) x)]
            (if (< (count more) n)
              (do (%hold! chunk more) acc)
              (do (%hold! chunk []) (rf acc more)))))))))
  ([n g] (%step %partition-step n n g))
  ([n by g] (%step %partition-step n by g)))

(defn %partition*
  ([n g] (%step %partition-step n n g))
  ([n by g] (%step %partition-step n by g))
  ([n by pad g] (%step %partition-step n by g)))

(defn partition-by
  ([f]
   (fn [rf]
     (let [chunk (%state []) value (%state nil)]
       (fn
         ([] (rf))
         ([acc]
          (let [left (%held chunk)]
            (%hold! chunk [])
            (rf (if (= 0 (count left)) acc (unreduced (rf acc left))))))
         ([acc x]
          (let [v (f x) left (%held chunk)]
            (if (or (= 0 (count left)) (= v (%held value)))
              (do
                (%hold! chunk (conj left x))
                (%hold! value v)
                acc)
              (let [result (rf acc left)]
                (%hold! chunk (if (reduced? result) [] [x]))
                (%hold! value v)
                result))))))))
  ([f coll] (%split-changes coll (map f coll))))

(defn map-indexed
  ([f]
   (fn [rf]
     (let [i (%state -1)]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (%hold! i (inc (%held i)))
          (rf acc (f (%held i) x)))))))
  ([f coll]
   (if (%endless? coll)
     (%step %map-indexed-step f 0 coll)
     (let [out (%builder) i 0]
       (%for [x coll]
         (%push out (f i x))
         (%set! i (inc i)))
       (%finish out)))))

(defn keep-indexed
  ([f]
   (fn [rf]
     (let [i (%state -1)]
       (fn
         ([] (rf))
         ([acc] (rf acc))
         ([acc x]
          (%hold! i (inc (%held i)))
          (let [v (f (%held i) x)]
            (if (nil? v) acc (rf acc v))))))))
  ([f coll]
   (if (%endless? coll)
     (%step %keep-indexed-step f 0 coll)
     (let [out (%builder) i 0]
       (%for [x coll]
         (let [v (f i x)]
           (if (nil? v) nil (%push out v)))
         (%set! i (inc i)))
       (%finish out)))))

(defn cat [rf]
  (fn
    ([] (rf))
    ([acc] (rf acc))
    ([acc xs]
     (let [out acc]
       (%for [x xs]
         (%set! out (rf out x))
         ;; Still reduced, for the reduce around this one.
         (if (reduced? out) (%exit out) nil))
       out))))

(defn eduction [xf coll] (sequence xf coll))

;; A branch of `pmap` cannot write to a place of the run it branched from: it only looks.
(defn memoize [f]
  (let [known (%state {})]
    (fn [& args]
      (let [hit (find (%held known) args)]
        (if (nil? hit)
          (let [v (%apply f args)]
            (%hold-if-own! known (assoc (%held known) args v))
            v)
          (nth hit 1))))))
