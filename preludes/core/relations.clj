;; Sets of maps, as tables.

(defn set/select [pred rows] (set (filter pred rows)))

(defn set/project [rows ks] (set (map (fn [row] (select-keys row ks)) rows)))

(defn set/rename [rows names] (set (map (fn [row] (rename-keys row names)) rows)))

(defn set/index [rows ks]
  (update-vals (group-by (fn [row] (select-keys row ks)) rows) set))

;; Without a map of keys, those that the first rows of both have.
(defn set/join
  ([xs ys]
   (if (or (empty? xs) (empty? ys))
     #{}
     (let [known (set (keys (first (vec ys))))
           common (filter (fn [k] (contains? known k)) (keys (first (vec xs))))]
       (%join xs ys common common))))
  ([xs ys ks] (%join xs ys (keys ks) (vals ks))))

(defn %join [xs ys x-keys y-keys]
  (let [out (%builder)
        by-key (group-by (fn [y] (map (fn [k] (get y k)) y-keys)) ys)]
    (%for [x xs]
      (%for [y (get by-key (map (fn [k] (get x k)) x-keys))]
        (%push out (merge x y))))
    (%finish-set out)))
