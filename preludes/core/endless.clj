;; Sequences without an end. One is a link, `(%link x more)`, or a step, `(%step f args…)`, which
;; gives its link when `f` is called. The functions below take over where natives meet one: the twin
;; of the native `take` is `%take*`. Steps and the twins of instructions end with `%deliver`.

(defn %force [g]
  (let [call (%step-call g)]
    (if (nil? call) g (%apply (nth call 0) (%drop call 1)))))

;; Where they come from

(defn iterate [f x] (%link x (%step %iterate-step f x)))

(defn %iterate-step [f x]
  (let [y (f x)]
    (%deliver (%link y (%step %iterate-step f y)))))

(defn repeatedly
  ([f] (%step %repeatedly-step f))
  ([n f]
   (let [out (%builder)]
     (%for [i (range n)] (%push out (f)))
     (%finish out))))

(defn %repeatedly-step [f] (%deliver (%link (f) (%step %repeatedly-step f))))

(defn %repeat* [x] (%step %repeat-step x))

(defn %repeat-step [x] (%deliver (%link x (%step %repeat-step x))))

(defn cycle [coll]
  (let [xs (vec coll)]
    (if (= 0 (count xs)) [] (%step %cycle-step xs 0))))

(defn %cycle-step [xs i]
  (%deliver (%link (nth xs i) (%step %cycle-step xs (mod (inc i) (count xs))))))

(defn %range*
  ([] (%step %count-step 0 1))
  ([end] (%step %count-step 0 1))
  ([start end] (%step %count-step start 1))
  ([start end step] (%step %count-step start step)))

(defn %count-step [x by] (%deliver (%link x (%step %count-step (+ x by) by))))

;; What makes an endless sequence of one

(defn %map-step [f g]
  (let [link (%force g)]
    (%deliver (%link (f (%head link)) (%step %map-step f (%tail link))))))

;; `map` over several collections of which at least one is endless.
(defn %map-endless [f colls]
  (if (every? %endless? colls)
    (%step %map-all-step f colls)
    (%apply map f (%cut colls))))

(defn %map-all-step [f gs]
  (let [links (map %force gs)]
    (%deliver (%link (%apply f (map %head links)) (%step %map-all-step f (map %tail links))))))

;; Endless collections cut to the length of the shortest other.
(defn %cut [colls]
  (let [n (%apply min (map count (remove %endless? colls)))]
    (map (fn [coll] (if (%endless? coll) (take n coll) coll)) colls)))

(defn %map-indexed-step [f i g]
  (let [link (%force g)]
    (%deliver (%link (f i (%head link)) (%step %map-indexed-step f (inc i) (%tail link))))))

(defn %filter-step [pred g]
  (let [link (%force g)]
    (if (pred (%head link))
      (%deliver (%link (%head link) (%step %filter-step pred (%tail link))))
      (recur pred (%tail link)))))

(defn %keep-step [f g]
  (let [link (%force g)
        v (f (%head link))]
    (if (nil? v)
      (recur f (%tail link))
      (%deliver (%link v (%step %keep-step f (%tail link)))))))

(defn %keep-indexed-step [f i g]
  (let [link (%force g)
        v (f i (%head link))]
    (if (nil? v)
      (recur f (inc i) (%tail link))
      (%deliver (%link v (%step %keep-indexed-step f (inc i) (%tail link)))))))

(defn %mapcat-step [f g]
  (let [link (%force g)
        xs (f (%head link))]
    (if (empty? xs)
      (recur f (%tail link))
      (%deliver (%force (concat xs (%step %mapcat-step f (%tail link))))))))

(defn %distinct-step [seen g]
  (let [link (%force g)
        x (%head link)]
    (if (contains? seen x)
      (recur seen (%tail link))
      (%deliver (%link x (%step %distinct-step (conj seen x) (%tail link)))))))

(defn %dedupe-step [last-x g]
  (let [link (%force g)
        x (%head link)]
    (if (= x last-x)
      (recur last-x (%tail link))
      (%deliver (%link x (%step %dedupe-step x (%tail link)))))))

(defn %interpose-step [sep g]
  (let [link (%force g)]
    (%deliver (%link sep (%link (%head link) (%step %interpose-step sep (%tail link)))))))

(defn %interleave-step [gs]
  (let [links (map %force gs)]
    (%deliver (%force (concat (map %head links) (%step %interleave-step (map %tail links)))))))

(defn %partition-step [n by g]
  (%deliver (%link (take n g) (%step %partition-step n by (drop by g)))))

(defn %take-nth-step [n g]
  (let [link (%force g)]
    (%deliver (%link (%head link) (%step %take-nth-step n (drop n link))))))

(defn %reductions-step [f acc g]
  (let [link (%force g)
        next-acc (f acc (%head link))]
    (%deliver (%link next-acc (%step %reductions-step f next-acc (%tail link))))))

;; Twins of natives and instructions

(defn %first* [g] (%deliver (%head (%force g))))
(defn %second* [g] (first (rest g)))
(defn %fnext* [g] (first (rest g)))
(defn %ffirst* [g] (first (first g)))
(defn %nfirst* [g] (next (first g)))
(defn %rest* [g] (%tail (%force g)))
(defn %next* [g] (%tail (%force g)))
(defn %nnext* [g] (drop 2 g))
(defn %seq* [g] g)
(defn %empty?* [g] false)
(defn %not-empty* [g] g)

(defn %nth*
  ([g i] (%deliver (if (< i 0) nil (first (drop i g)))))
  ([g i default] (if (< i 0) default (first (drop i g)))))

(defn %%nth*
  ([g i] (first (drop i g)))
  ([g i any] (first (drop i g))))
(defn %%drop* [g n] (drop n g))

(defn %nthrest* [g n] (drop n g))
(defn %nthnext* [g n] (drop n g))

(defn %split-at* [n g] [(take n g) (drop n g)])

(defn %cons* [x g] (%link x g))

(defn %list** [& args] (%concat-endless [(drop-last args) (last args)]))

(defn %concat* [& colls] (%concat-endless colls))

;; What stands behind an endless collection is never reached.
(defn %concat-endless [colls]
  (let [finite (take-while (complement %endless?) colls)
        endless (nth colls (count finite))
        out endless]
    (%for [x (reverse (%concat-all finite))] (%set! out (%link x out)))
    out))

(defn %interleave* [& colls]
  (if (every? %endless? colls)
    (%step %interleave-step colls)
    (%apply interleave (%cut colls))))

(defn %zipmap* [ks vs] (%apply zipmap (%cut [ks vs])))
(defn %zip* [a b] (%apply zip (%cut [a b])))
