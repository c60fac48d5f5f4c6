;; Maps changed by functions.

;; Values are read with flexible keys and written back to the spelling the map has.
(defn update
  ([m k f] (%put m k (f (get m k))))
  ([m k f a] (%put m k (f (get m k) a)))
  ([m k f a b] (%put m k (f (get m k) a b)))
  ([m k f a b & more] (%put m k (%apply f (get m k) a b more))))

(defn update-in [m path f & args]
  (if (empty? path)
    (assoc m nil (%apply f (get m nil) args))
    (assoc-in m path (%apply f (get-in m path) args))))

(defn update-vals [m f]
  (if (vector? m)
    (map f m)
    (let [out (%builder)]
      (%for [entry (%pairs m)]
        (%push out (nth entry 0))
        (%push out (f (nth entry 1))))
      (%finish-map out))))

(defn update-keys [m f]
  (let [out (%builder)]
    (%for [entry (%pairs m)]
      (%push out (f (nth entry 0)))
      (%push out (nth entry 1)))
    (%finish-map out)))

(defn merge-with [f & maps]
  (let [merged nil]
    (%for [m maps]
      (cond
        (not m) nil
        ;; `merge` refuses what is not a map, but gives back what stands alone.
        (nil? merged) (%set! merged (if (next maps) (merge nil m) (merge m)))
        :else
        (%for [entry (merge nil m)]
          (let [k (nth entry 0)
                v (nth entry 1)
                known (find merged k)]
            ;; `find` also finds other spellings, but keys are merged exactly.
            (%set! merged
              (assoc merged k
                (if (and known (= (nth known 0) k)) (f (nth known 1) v) v)))))))
    merged))

(defn reduce-kv [f init m]
  (let [acc init]
    (%for [entry (%pairs m)]
      (%set! acc (f acc (nth entry 0) (nth entry 1)))
      (if (reduced? acc) (%exit (unreduced acc)) nil))
    acc))
