; Search, read the pages that look right, pull out the figures.
(def hits (tool/search {:query "solar capacity" :limit 3}))

(defn figures [text]
  (->> (re-seq #"([\d,]+) GW" (or text ""))
       (map second)
       (map #(parse-long (str/replace % "," "")))))

(let [relevant (filter #(str/includes? (str/lower-case (:title %)) "solar") hits)
      pages    (pmap (fn [{:keys [url title]}]
                       (let [{:keys [text status]} (tool/fetch_page {:url url})]
                         {:title title :status status :gw (figures text)}))
                     relevant)
      ok       (filter #(= 200 (:status %)) pages)]
  {:read (count ok)
   :failed (mapv :title (remove #(= 200 (:status %)) pages))
   :growth (let [[from to] (:gw (first ok))]
             (format "%.1f%%" (* 100.0 (/ (- to from) from))))
   :hosts (frequencies (map #(second (re-find #"https?://([^/]+)" (:url %))) hits))})
