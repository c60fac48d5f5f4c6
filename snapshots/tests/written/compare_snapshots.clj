; What was added, removed and changed between two versions of a table.
(def before [{:id 1 :name "Tea" :price 3} {:id 2 :name "Jam" :price 5} {:id 3 :name "Bun" :price 1}])
(def after [{:id 1 :name "Tea" :price 4} {:id 3 :name "Bun" :price 1} {:id 4 :name "Egg" :price 2}])

(defn by-id [rows] (reduce #(assoc %1 (:id %2) %2) {} rows))

(defn row-diff [a b]
  (into {} (for [k (keys a) :when (not= (k a) (k b))] [k {:from (k a) :to (k b)}])))

(let [a (by-id before)
      b (by-id after)
      [removed added common] [(remove b (keys a)) (remove a (keys b)) (filter b (keys a))]]
  {:removed (vec removed)
   :added (mapv #(get-in b [% :name]) added)
   :changed (->> common
                 (map (fn [id] [id (row-diff (a id) (b id))]))
                 (remove (comp empty? second))
                 (into {}))})
