(ns paged
  "Tools that answer page by page: fold over all items, and stop as soon as enough was seen."
  {:visibility :prompt})

;; A fetch function takes a cursor, nil at first, and gives a page: a vector of items, or a map with the
;; items and the cursor of the next page. A page may stand in {:ok true :value page}.

(defn- option [opts name default]
  (let [value (get opts name)]
    (if (nil? value) default value)))

(defn- present [page names]
  (first (filter (fn [name] (not (nil? (get page name)))) names)))

(defn- pick [page how names]
  (cond
    (nil? how) (let [name (present page names)] (when name (get page name)))
    (vector? how) (get-in page how)
    :else (how page)))

;; Pages of most servers call their parts by one of these.
(defn- item-names [] [:items :results :data :records :rows :values :entries])
(defn- next-names [] [:next :next_cursor :nextCursor :next-cursor :next_page_token :nextPageToken :next_token :nextToken])
(defn- more-names [] [:has_more :hasMore :has-more :more])
(defn- last-names [] [:total_pages :totalPages :total-pages :page_count :pageCount])

(defn- items-of [page opts]
  (cond
    (and (sequential? page) (nil? (:items opts))) page
    (map? page) (pick page (:items opts) (item-names))
    :else nil))

;; What a call gave: {:page …}, or {:reason …} if it failed.
(defn- opened [answer]
  (cond
    (and (map? answer) (false? (:ok answer))) {:reason (option answer :reason "page_failed")}
    (and (map? answer) (true? (:ok answer))) {:page (:value answer)}
    :else {:page answer}))

(defn- read-page [answer opts]
  (let [found (opened answer)
        page (:page found)
        items (when-not (:reason found) (items-of page opts))]
    (cond
      (:reason found) found
      (nil? page) {:items [] :next nil}
      (and (nil? items) (map? page) (nil? (:items opts)))
      {:reason (str "page_without_items: it has " (keys page) "; say where they are, such as {:items :rows}")}
      (and (nil? items) (not (map? page)))
      {:reason "not_a_page: a page is a vector, or a map with :items and :next"}
      :else
      (let [cursor (when (map? page) (pick page (:next opts) (next-names)))]
        {:items (vec items) :next (when-not (or (= "" cursor) (false? cursor)) cursor)}))))

;; As reduce, but what was `reduced` stays so.
(defn- fold-items [f acc items]
  (reduce (fn [acc item]
            (let [result (f acc item)]
              (if (reduced? result) (reduced result) result)))
          acc
          items))

(defn- max-pages [opts]
  (let [most (option opts :max-pages 100)]
    (if (and (int? most) (pos? most) (<= most 1000))
      most
      (fail {:reason (str "paged: :max-pages must be a number from 1 to 1000, but it is " (pr-str most))}))))

(defn walk
  "Like fold, but never fails: {:ok true :value v :pages n :items n :next cursor :stopped \"end\", \"early\" or \"page_limit\"}, or {:ok false :reason why} with what there was until then. Go on later with {:start cursor}."
  {:visibility :discoverable}
  ([f init fetch-page] (walk f init fetch-page {}))
  ([f init fetch-page opts]
   (let [most (max-pages opts)]
     (loop [cursor (:start opts) acc init pages 0 items 0]
       (let [page (read-page (fetch-page cursor) opts)]
         (if (:reason page)
           {:ok false :reason (:reason page) :value acc :pages pages :items items :next cursor}
           (let [acc (fold-items f acc (:items page))
                 pages (inc pages)
                 items (+ items (clojure.core/count (:items page)))
                 following (:next page)
                 seen {:ok true :pages pages :items items :next following}]
             (cond
               (reduced? acc) (assoc seen :value (unreduced acc) :stopped "early")
               (nil? following) (assoc seen :value acc :stopped "end")
               (= following cursor)
               (assoc seen :ok false :value acc :reason (str "cursor_repeats: " (pr-str cursor)))
               (>= pages most) (assoc seen :value acc :stopped "page_limit")
               :else (recur following acc pages items)))))))))

(defn fold
  "Folds f over the items of all pages. fetch-page takes a cursor, nil at first, and gives {:items [...] :next cursor}. Stops at (reduced x); fails past :max-pages (100). opts: {:items :rows :next [:meta :cursor] :max-pages 20}."
  ([f init fetch-page] (fold f init fetch-page {}))
  ([f init fetch-page opts]
   (let [walked (walk f init fetch-page opts)]
     (cond
       (not (:ok walked))
       (fail {:reason (:reason walked) :pages (:pages walked) :items (:items walked)})
       (= "page_limit" (:stopped walked))
       (fail {:reason (str "paged: more than " (:pages walked) " pages (:max-pages)")
              :pages (:pages walked)
              :items (:items walked)
              :next (:next walked)})
       :else (:value walked)))))

(defn collect
  "All items of all pages, as a vector. fetch-page and opts as for paged/fold."
  ([fetch-page] (collect fetch-page {}))
  ([fetch-page opts] (fold conj [] fetch-page opts)))

(defn take
  "The first n items; no page more than needed is fetched. fetch-page and opts as for paged/fold."
  ([n fetch-page] (take n fetch-page {}))
  ([n fetch-page opts]
   (if (pos? n)
     (fold (fn [acc item]
             (let [acc (conj acc item)]
               (if (>= (clojure.core/count acc) n) (reduced acc) acc)))
           []
           fetch-page
           opts)
     [])))

(defn find
  "The first item for which pred holds, or nil; pages after it are not fetched. fetch-page and opts as for paged/fold."
  ([pred fetch-page] (find pred fetch-page {}))
  ([pred fetch-page opts]
   (fold (fn [none item] (if (pred item) (reduced item) none)) nil fetch-page opts)))

(defn count
  "How many items there are on all pages. fetch-page and opts as for paged/fold."
  {:visibility :discoverable}
  ([fetch-page] (count fetch-page {}))
  ([fetch-page opts] (fold (fn [n _] (inc n)) 0 fetch-page opts)))

(defn- numbered [answer opts following]
  (let [page (read-page answer opts)]
    (if (:reason page)
      {:ok false :reason (:reason page)}
      {:items (:items page) :next (following (:page (opened answer)) (:items page))})))

(defn by-page
  "Makes a fetch-page of a function of the page number: (paged/collect (paged/by-page (fn [n] (tool/list {:page n})))). Ends at an empty page, or when the page says so. opts: {:first 0 :size 50 :items :rows}."
  ([fetch] (by-page fetch {}))
  ([fetch opts]
   (fn [cursor]
     (let [n (if (nil? cursor) (option opts :first 1) cursor)]
       (numbered (fetch n)
                 opts
                 (fn [page items]
                   (let [more (when (map? page) (pick page nil (more-names)))
                         total (when (map? page) (pick page nil (last-names)))
                         size (:size opts)]
                     (when-not (or (empty? items)
                                   (false? more)
                                   (and (number? total) (>= (- n (option opts :first 1) -1) total))
                                   (and size (< (clojure.core/count items) size)))
                       (inc n)))))))))

(defn by-offset
  "Makes a fetch-page of a function of offset and limit: (paged/collect (paged/by-offset 50 (fn [offset limit] (tool/list {:offset offset :limit limit})))). Ends at a page with fewer items than the limit. opts: {:items :rows}."
  {:visibility :discoverable}
  ([size fetch] (by-offset size fetch {}))
  ([size fetch opts]
   (if (and (int? size) (pos? size))
     (fn [cursor]
       (let [offset (if (nil? cursor) 0 cursor)]
         (numbered (fetch offset size)
                   opts
                   (fn [_ items]
                     (when-not (< (clojure.core/count items) size)
                       (+ offset (clojure.core/count items)))))))
     (fail {:reason (str "paged: the size of a page must be a positive number, but it is " (pr-str size))}))))
