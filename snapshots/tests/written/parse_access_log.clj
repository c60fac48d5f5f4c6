; Status counts, bytes per path and the slowest client from a web log.
(def log "10.0.0.1 - - [01/May/2024:10:00:01 +0000] \"GET /index.html HTTP/1.1\" 200 512
10.0.0.2 - - [01/May/2024:10:00:03 +0000] \"POST /login HTTP/1.1\" 302 0
garbage line
10.0.0.1 - - [01/May/2024:10:00:09 +0000] \"GET /missing HTTP/1.1\" 404 128
10.0.0.3 - - [01/May/2024:10:01:00 +0000] \"GET /index.html HTTP/1.1\" 200 512")

(def line-re #"^(\S+) \S+ \S+ \[([^\]]+)\] \"(\w+) (\S+) [^\"]*\" (\d{3}) (\d+)$")

(defn parse-line [line]
  (when-let [[_ ip ts method path status size] (re-matches line-re line)]
    {:ip ip :ts ts :method (keyword (str/lower-case method)) :path path
     :status (Integer/parseInt status) :bytes (Long/parseLong size)}))

(let [entries (keep parse-line (str/split-lines log))]
  {:lines    (count entries)
   :by-class (frequencies (map #(str (quot (:status %) 100) "xx") entries))
   :bytes    (->> entries
                  (group-by :path)
                  (map (fn [[p es]] [p (reduce + (map :bytes es))]))
                  (sort-by second >)
                  (into []))
   :methods  (set (map :method entries))
   :busiest  (key (apply max-key val (frequencies (map :ip entries))))})
