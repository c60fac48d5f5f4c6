; Group multi-line log entries, blank out numbers, count the kinds of error.
(defn entry-start? [line] (re-find #"^\d{4}-\d{2}-\d{2} " line))

(defn entries [lines]
  (reduce (fn [acc line]
            (if (entry-start? line)
              (conj acc [line])
              (update acc (dec (count acc)) conj line)))
          [] lines))

(defn parse-entry [[head & trace]]
  (let [[_ ts level source msg] (re-matches #"(\S+ \S+) (\w+)\s+\[(\w+)\] (.*)" head)]
    {:ts ts :level (keyword (.toLowerCase level)) :source source :msg msg :trace (mapv str/trim trace)}))

(defn signature [msg]
  (-> msg
      (str/replace #"\d+(\.\d+)+" "<ip>")
      (str/replace #"\d+" "<n>")))

(let [parsed (map parse-entry (entries (str/split data/log #"\n")))
      errs   (filter (comp #{:error} :level) parsed)]
  {:levels (frequencies (map :level parsed))
   :kinds  (->> errs
                (group-by (comp signature :msg))
                (map (fn [[sig es]] {:sig sig :n (count es) :first (:ts (first es)) :traces (count (filter (comp seq :trace) es))}))
                (sort-by (comp - :n)))
   :slow   (some->> parsed (keep #(re-find #"took (\d+)ms" (:msg %))) first second parse-long)})
