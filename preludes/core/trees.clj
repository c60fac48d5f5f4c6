;; Nested data.

(defn walk [inner outer form]
  (cond
    (map? form) (outer (into {} (map inner form)))
    (vector? form) (outer (map inner form))
    (set? form) (outer (set (map inner form)))
    :else (outer form)))

(defn prewalk [f form]
  (walk (fn [part] (prewalk f part)) identity (f form)))

(defn postwalk [f form]
  (walk (fn [part] (postwalk f part)) f form))

(defn prewalk-replace [smap form]
  (prewalk (fn [part] (get smap part part)) form))

(defn postwalk-replace [smap form]
  (postwalk (fn [part] (get smap part part)) form))

(defn keywordize-keys [form]
  (postwalk
    (fn [part]
      (if (map? part)
        (update-keys part %as-keyword)
        part))
    form))

(defn stringify-keys [form]
  (postwalk
    (fn [part]
      (if (map? part)
        (update-keys part (fn [k] (if (keyword? k) (name k) k)))
        part))
    form))

;; A character contains only itself, so it is a leaf whatever `branch?` says.
(defn tree-seq [branch? children root]
  (let [out (%builder)]
    (loop [open [root]]
      (if (empty? open)
        nil
        (let [node (peek open) others (pop open)]
          (%push out node)
          (recur
            (if (and (branch? node) (not (char? node)))
              (into others (reverse (children node)))
              others)))))
    (%finish out)))
