; Two lists of rows to one comparison, with a total row.
(def budget [{:cat "rent" :amt 1000} {:cat "food" :amt 400} {:cat "fun" :amt 100}])
(def actual [{:cat "food" :amt 450} {:cat "rent" :amt 1000} {:cat "gifts" :amt 60}])

(let [index  (fn [rows] (zipmap (map :cat rows) (map :amt rows)))
      b      (index budget)
      a      (index actual)
      rows   (for [c (distinct (concat (keys b) (keys a)))
                   :let [bv (get b c 0) av (get a c 0) diff (- av bv)]]
               {:cat c :budget bv :actual av :diff diff
                :flag (cond (zero? bv) :unplanned
                            (> diff (* 0.1 bv)) :over
                            (neg? diff) :under
                            :else :ok)})
      total  (apply merge-with + (map #(select-keys % [:budget :actual :diff]) rows))]
  {:rows (map (juxt :cat :diff :flag) rows)
   :total total})
