; The mean of a column, without nulls.
(def init {:n 0 :sum 0})

(defn step [{:keys [n sum] :as state} value]
  (if (nil? value) state {:n (inc n) :sum (+ sum value)}))

(defn combine [a b] (merge-with + a b))

(defn finish [{:keys [n sum]}] (when (pos? n) (/ sum n)))
