;; Evaluates programs, one per line, and answers one line each.
;;
;; A request is a JSON array of strings: the program, then the names of the explanations to apply.
;; An answer is a JSON array of strings: "value", the canonical text, the prints; or "fault", what
;; was thrown; or "slow". The request ["?"] asks for the explanations that are known.
;;
;; Every program finds its namespace as if it were new. An explanation replaces library functions by ones that do
;; what PTC-Lisp says, so that a program it explains then answers alike.
(ns ptc.driver
  (:require [clojure.edn :as edn] [clojure.set] [clojure.string :as string] [clojure.walk])
  (:import [java.io StringWriter]
           [java.util.concurrent FutureTask TimeUnit TimeoutException]))

(set! *warn-on-reflection* false)

;; ---- Canonical text: sequences as vectors, characters as strings.

(defn quoted [s]
  (let [sb (StringBuilder. "\"")]
    (doseq [c s]
      (case c
        \" (.append sb "\\\"")
        \\ (.append sb "\\\\")
        \newline (.append sb "\\n")
        \tab (.append sb "\\t")
        \return (.append sb "\\r")
        (if (< (int c) 32) (.append sb (format "\\u%04x" (int c))) (.append sb (char c)))))
    (str (.append sb "\""))))

(declare canonical)

(defn- all [xs] (string/join " " (map canonical xs)))

(defn canonical [x]
  (cond
    (nil? x) "nil"
    (string? x) (quoted x)
    (char? x) (quoted (str x))
    (instance? Double x) (cond (Double/isNaN x) "##NaN"
                               (Double/isInfinite x) (if (pos? x) "##Inf" "##-Inf")
                               :else (str x))
    (instance? Float x) (canonical (double x))
    (integer? x) (str x)
    (map? x) (str "{" (string/join " " (map (fn [[k v]] (str (canonical k) " " (canonical v))) x)) "}")
    (set? x) (str "#{" (all x) "}")
    (sequential? x) (str "[" (all x) "]")
    (instance? java.util.regex.Pattern x) (str "#\"" x "\"")
    (fn? x) "#fn"
    (reduced? x) (str "reduced " (canonical @x))
    :else (pr-str x)))

;; ---- Explanations. `explain` is called by the file of explanations.

(def explanations (atom []))

(defn explain
  "Under `id`, each name (a symbol, perhaps with the alias str, set or walk) is replaced: by what the
  function gives for the previous meaning, or, for a macro, as `rewriting` says."
  [id replacements]
  (swap! explanations conj [id replacements]))

(defn rewriting
  "The replacement of a macro: a function of the name of the previous one and the parts of the form."
  [f]
  {:rewrite f})

(def groups '{nil clojure.core str clojure.string set clojure.set walk clojure.walk})

(defn- replace-in [target id [sym replacement]]
  (let [home (get target (some-> (namespace sym) symbol))
        plain (symbol (name sym))
        known (ns-resolve home plain)]
    (ns-unmap home plain)
    (if-let [rewrite (:rewrite replacement)]
      (let [before (symbol (str (.name (.ns known))) (str (.sym known)))
            layer (intern home (symbol (str plain "-" id)) (fn [_ _ & parts] (apply rewrite before parts)))]
        (.setMacro layer)
        (.refer home plain layer))
      (intern home plain (replacement @known)))))

(defn- library
  "The namespaces of the library under these explanations, by alias."
  [ids]
  (let [tag (str "ptc.under." (string/join "." ids) ".")
        target (into {} (for [[alias real] groups]
                          (let [made (create-ns (symbol (str tag real)))]
                            ;; Only what is interned is found behind an alias.
                            (doseq [[sym v] (ns-publics real)]
                              (if alias (intern made sym @v) (.refer made sym v)))
                            [alias made])))]
    (doseq [[id replacements] @explanations :when (some #{id} ids)
            replacement replacements]
      (replace-in target id replacement))
    target))

(defn- make [ids]
  (let [program (create-ns (symbol (str "program." (string/join "." ids))))
        from (library ids)]
    (.importClass program java.lang.Math)
    (doseq [[sym v] (ns-map (get from nil)) :when (var? v)] (.refer program sym v))
    (doseq [[alias ns] from :when alias] (.addAlias program alias ns))
    {:program program :core (get from nil) :all (cons program (vals from))}))

(def made "What is made for some explanations." (atom {}))

(def most-made
  "Making namespaces is slow, so they are kept and swept after use; but they are large. Those for one
  explanation are always kept."
  150)

(defn- namespaces
  "The namespace of the programs under these explanations, and that of the core library."
  [ids]
  (or (@made ids)
      (do
        (when (<= most-made (count @made))
          (let [several (filter (fn [[ids _]] (next ids)) @made)]
            (doseq [[_ {:keys [all]}] several ns all] (remove-ns (ns-name ns)))
            (apply swap! made dissoc (map key several))))
        (get (swap! made assoc ids (make ids)) ids))))

(defn- sweep
  "Forgets what a program defined, and gives the names it took back to the library."
  [{:keys [program core]}]
  (let [known (ns-map core)]
    (doseq [sym (keys (ns-interns program))]
      (ns-unmap program sym)
      (when-let [v (known sym)] (.refer program sym v)))))

;; ---- Evaluation.

(defn- run [source ids]
  (let [used (namespaces ids)
        out (StringWriter.)]
    (try
      (binding [*ns* (:program used) *out* out *read-eval* false]
        (let [reader (clojure.lang.LineNumberingPushbackReader. (java.io.StringReader. source))
              value (loop [value nil]
                      (let [form (read {:eof ::end} reader)]
                        (if (= form ::end) value (recur (eval form)))))]
          ["value" (canonical value) (str out)]))
      (catch Throwable thrown
        (let [cause (loop [t thrown] (if-let [c (.getCause t)] (recur c) t))]
          ["fault" (str (.getSimpleName (class cause)) ": " (.getMessage cause))]))
      (finally (sweep used)))))

(defn- bounded [source ids]
  (let [task (FutureTask. #(run source ids))
        thread (Thread. nil task "program" (* 64 1024 1024))]
    (.setDaemon thread true)
    (.start thread)
    (try
      (.get task 3 TimeUnit/SECONDS)
      ;; It has to be gone before the next one uses its namespace.
      (catch TimeoutException _ (.stop thread) (.join thread) ["slow"]))))

(defn- answer [[source & ids]]
  (if (= source "?")
    (for [[id replacements] @explanations] (string/join " " (cons id (map str (keys replacements)))))
    (bounded source (vec ids))))

(defn -main [explanations-file]
  (load-file explanations-file)
  (let [in (java.io.BufferedReader. (java.io.InputStreamReader. System/in "UTF-8"))
        out (java.io.PrintStream. System/out true "UTF-8")]
    (loop []
      (when-let [line (.readLine in)]
        (.println out (str "[" (string/join "," (map quoted (answer (edn/read-string line)))) "]"))
        (recur)))))

(binding [*ns* (the-ns 'ptc.driver)]
  (-main (first *command-line-args*)))
