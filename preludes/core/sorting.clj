;; Order, and what is found by keys. Keys are computed here, once per element; natives do the rest.

(defn sort
  ([coll] (%sort coll false))
  ([comparator coll]
   (let [reverse (%sort-direction comparator)]
     (if (nil? reverse)
       (%merge-sort comparator (%indexed coll))
       (%sort coll reverse)))))

(defn sort-by
  ;; Text as the only other argument is more often a mistake than a field.
  ([k coll] (%sort-by-keys coll (%keys (if (string? k) (%refuse-text-key k) k) coll) false))
  ([k comparator coll]
   (let [reverse (%sort-direction comparator)]
     (if (nil? reverse)
       (map second
         (%merge-sort
           (fn [a b] (comparator (nth a 0) (nth b 0)))
           (map vector (%keys k coll) coll)))
       (%sort-by-keys coll (%keys k coll) reverse)))))

;; Bottom-up, so that a comparator that contradicts itself gives some order and no endless loop.
;; True, or a negative number, means that its first argument comes before its second.
(defn %merge-sort [comparator items]
  (let [n (count items)]
    (loop [width 1 from items]
      (if (< width n)
        (let [to (%builder)]
          (loop [low 0]
            (if (< low n)
              (let [middle (min (+ low width) n)
                    high (min (+ low (* 2 width)) n)]
                (loop [i low j middle]
                  (cond
                    (and (< i middle) (< j high))
                    (let [x (nth from i)
                          y (nth from j)
                          answer (comparator y x)]
                      (if (if (number? answer) (< answer 0) answer)
                        (do (%push to y) (recur i (inc j)))
                        (do (%push to x) (recur (inc i) j))))
                    (< i middle) (do (%push to (nth from i)) (recur (inc i) j))
                    (< j high) (do (%push to (nth from j)) (recur i (inc j)))
                    :else nil))
                (recur high))
              nil))
          (recur (* 2 width) (%finish to)))
        (vec from)))))

(defn group-by [k coll] (%group coll (%keys k coll)))

(defn distinct-by [k coll] (%first-by-key coll (%keys k coll)))

(defn sum-by [k coll] (sum (%keys k coll)))

(defn avg-by [k coll] (avg (%keys k coll)))

(defn %extreme-by [k coll greatest] (%extreme coll (%keys k coll) greatest false))

(defn min-by
  ([k coll] (%extreme-by k coll false))
  ([k a b & more] (%extreme-by k (list* a b more) false)))

(defn max-by
  ([k coll] (%extreme-by k coll true))
  ([k a b & more] (%extreme-by k (list* a b more) true)))

;; An argument without a key wins only if none has one.
(defn min-key
  ([f x] x)
  ([f x & more]
   (let [xs (list* x more)
         ks (map f xs)
         found (%extreme xs ks false true)]
     (if (and (nil? found) (every? nil? ks)) (last xs) found))))

(defn max-key
  ([f x] x)
  ([f x & more]
   (let [xs (list* x more)
         ks (map f xs)
         found (%extreme xs ks true true)]
     (if (and (nil? found) (every? nil? ks)) (last xs) found))))
