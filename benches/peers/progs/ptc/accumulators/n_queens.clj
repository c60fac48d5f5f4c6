(def size 9)

(defn solutions [row columns rising falling]
  (if (= row size)
    1
    (reduce + (for [column (range size)
                    :let [up (+ row column)
                          down (- row column)]
                    :when (not (or (contains? columns column)
                                   (contains? rising up)
                                   (contains? falling down)))]
                (solutions (inc row)
                           (conj columns column)
                           (conj rising up)
                           (conj falling down))))))

(solutions 0 #{} #{} #{})
