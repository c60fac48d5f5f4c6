(ns prelude
  "Stored preludes: read them, write new versions, choose the current one."
  {:visibility :prompt})

(defn list
  "All stored preludes, one row each, without their sources."
  {:effect :read}
  []
  (tool/prelude_store_list {}))

(defn history
  "The versions of a stored prelude that are kept, oldest first."
  {:effect :read}
  [id]
  (tool/prelude_store_history {:id id}))

(defn read
  "A stored prelude: \"paged\" is the current version, \"paged@2\" that one, or {:id :version :checksum}. The source is cut at 64 KiB; :source_truncated tells."
  {:effect :read}
  [ref]
  (tool/prelude_store_read {:ref ref}))

(defn source
  "The whole source of a stored prelude. Fails if there is no such version, or if it is longer than 64 KiB."
  {:effect :read}
  [ref]
  (let [found (read ref)]
    (cond
      (not= "ok" (:status found)) (fail (select-keys found ["reason" "message"]))
      (:source_truncated found) (fail {:reason "source_truncated" :source_bytes (:source_bytes found)})
      :else (:source found))))

(defn write
  "Stores a new version and makes it current: {:id \"paged\" :source \"(ns paged) …\" :metadata {:reason \"why\" :parent_checksum \"of the version it is based on\"}}."
  {:effect :write}
  [version]
  (tool/prelude_store_write version))

(defn set-default
  "Makes a version the current one: {:id \"paged\" :version 1 :checksum \"to be sure\" :metadata {:reason \"why\"}}."
  {:effect :write}
  [selection]
  (tool/prelude_store_set_default selection))
