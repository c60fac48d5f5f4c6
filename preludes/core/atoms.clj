;; Functions that change atoms and volatiles by calling others. Whether they may is found out before
;; anything is called.

(defn swap!
  ([a f] (reset! a (f (%atom-held a))))
  ([a f x] (reset! a (f (%atom-held a) x)))
  ([a f x y] (reset! a (f (%atom-held a) x y)))
  ([a f x y & more] (reset! a (%apply f (%atom-held a) x y more))))

(defn vswap!
  ([v f] (vreset! v (f (%volatile-held v))))
  ([v f x] (vreset! v (f (%volatile-held v) x)))
  ([v f x y] (vreset! v (f (%volatile-held v) x y)))
  ([v f x y & more] (vreset! v (%apply f (%volatile-held v) x y more))))

(defn swap-vals! [a f & args]
  (let [old (%atom-held a)]
    [old (reset! a (%apply f old args))]))

(defn reset-vals! [a x]
  (let [old (%atom-held a)]
    (reset! a x)
    [old x]))

;; There is no identity to compare by, so equal values are the same.
(defn compare-and-set! [a old new]
  (if (%exact (%atom-held a) old)
    (do (reset! a new) true)
    false))
