;; The differences that are meant, each as a change to Clojure's library. `explanations.toml` says
;; the rule of each in words, in the same order.
(in-ns 'ptc.driver)

(defn- over
  "The same change of several names."
  [names change]
  (into {} (map (fn [name] [name (change name)])) names))

;; ---- D2: sequences are made at once.

(defn- endless? [x]
  (or (instance? clojure.lang.Iterate x)
      (instance? clojure.lang.Cycle x)
      (instance? clojure.lang.Repeat x)
      (and (instance? clojure.lang.IObj x) (:endless (meta x)))))

(explain "D2"
  (assoc
   (over '[map filter remove keep map-indexed keep-indexed mapcat drop drop-while take take-while
           take-nth concat interleave interpose distinct dedupe flatten partition partition-all
           partition-by reductions replace sequence repeatedly tree-seq drop-last rest next cons
           list* keys vals split-at split-with re-seq]
         (fn [name]
           (let [bounds? ('#{take take-while} name)]
             (fn [before]
               (fn [& args]
                 (let [made (apply before args)
                       given (filter #(or (seqable? %) (endless? %)) (rest args))]
                   (cond
                     ('#{split-at split-with} name) (mapv doall made)
                     (not (seq? made)) made
                     (and (not bounds?) (seq given) (every? endless? given))
                     (with-meta made {:endless true})
                     :else (doall made))))))))
   'for (rewriting (fn [before & parts] `(doall (~before ~@parts))))))

;; ---- D14: a sequence is a vector.

(defn as-vector [x] (cond (seq? x) (vec x) (map-entry? x) [(key x) (val x)] :else x))

(defn- with-inits
  "A macro with bindings, where `change` makes something else of the values for some patterns."
  [change]
  (rewriting
   (fn [before bindings & body]
     (let [changed (mapcat (fn [[pattern init]] [pattern (if (keyword? pattern) init (change pattern init))])
                           (partition 2 bindings))]
       `(~before [~@changed] ~@body)))))

(explain "D14"
  (merge
   (over '[peek pop get assoc update find contains? vector? subvec assoc-in update-in get-in empty
           associative? update-vals ifn? select-keys]
         (fn [_] (fn [before] (fn [x & more] (apply before (as-vector x) more)))))
   {'conj (fn [before] (fn ([] []) ([x] x) ([x & more] (apply before (if (nil? x) [] (as-vector x)) more))))
    'into (fn [before] (fn ([] []) ([x] x) ([x & more] (apply before (if (nil? x) [] (as-vector x)) more))))
    'reduce-kv (fn [before] (fn [f init xs] (before f init (as-vector xs))))
    'list (fn [_] vector)
    ;; A map pattern looks things up in a vector; it takes a sequence for pairs.
    'let (with-inits (fn [pattern init] (if (map? pattern) (list `as-vector init) init)))}))

;; ---- D15: a character is a string.

(defn- as-text [x] (if (char? x) (str x) x))

(defn texts [x]
  (cond (string? x) (map str x)
        (endless? x) (with-meta (map as-text x) {:endless true})
        (sequential? x) (map as-text x)
        :else x))

(defn parts
  "What a pattern takes apart."
  [x]
  (if (string? x) (mapv str x) (as-text x)))

(defn- nested? [pattern] (and (vector? pattern) (some vector? pattern)))

(explain "D15"
  (merge
  ;; The elements of a string are strings.
  (over '[map mapv filter filterv remove keep mapcat reduce some every? not-any? not-every? sort-by
          group-by map-indexed keep-indexed partition-by take-while drop-while split-with]
        (fn [_] (fn [before] (fn [& xs] (apply before (concat (butlast xs) [(texts (as-text (last xs)))]))))))
  (assoc (over '[string? = not= contains? get count seq first rest last
                  str/upper-case str/lower-case str/capitalize str/trim str/replace str/split str/join
                  str/includes? str/starts-with? str/ends-with? str/index-of re-find re-seq re-matches subs
                  into set concat distinct frequencies compare sort parse-long name keyword
                  empty? not-empty take drop apply reverse vec nth coll? str/blank?]
        (fn [_] (fn [before] (fn [& xs] (apply before (map as-text xs))))))
         'for (with-inits (fn [_ init] (list `texts init)))
         'let (with-inits (fn [pattern init] (if (nested? pattern) (list `parts init) init)))
         'ffirst (fn [_] (fn [x] (first (as-text (first x))))))))

;; ---- D17: an integer equals a float of its value.

(defn- alike [a b]
  (cond
    (and (number? a) (number? b)) (== a b)
    (and (sequential? a) (sequential? b)) (and (= (count a) (count b)) (every? true? (map alike a b)))
    (and (map? a) (map? b)) (and (= (set (keys a)) (set (keys b)))
                                 (every? (fn [[k v]] (alike v (get b k))) a))
    :else (= a b)))

(defn- all-alike [x & more] (every? #(alike x %) more))

(explain "D17"
  {'= (fn [_] all-alike)
   '== (fn [_] all-alike)
   'not= (fn [_] (complement all-alike))})

;; ---- D20, D21: one order over all kinds of values.

(defn- kind [x]
  (cond (nil? x) 0 (boolean? x) 1 (number? x) 2 (keyword? x) 3 (or (string? x) (char? x)) 4
        (sequential? x) 6 :else 7))

(defn- sign [n] (cond (neg? n) -1 (pos? n) 1 :else 0))

(defn- ordered [a b]
  (let [kinds (compare (kind a) (kind b))]
    (cond
      (not (zero? kinds)) kinds
      (sequential? a) (let [lengths (compare (count a) (count b))]
                        (if (zero? lengths)
                          (or (first (remove zero? (map ordered a b))) 0)
                          lengths))
      (= 4 (kind a)) (sign (compare (str a) (str b)))
      (keyword? a) (sign (compare (name a) (name b)))
      (= 7 (kind a)) 0
      :else (compare a b))))

(defn- ordering [test]
  (fn [& xs]
    (every? (fn [[a b]]
              (and (= (kind a) (kind b)) (#{2 3 4} (kind a)) (test (ordered a b))))
            (partition 2 1 xs))))

(explain "D20"
  {'< (fn [_] (ordering neg?))
   '> (fn [_] (ordering pos?))
   '<= (fn [_] (ordering (complement pos?)))
   '>= (fn [_] (ordering (complement neg?)))})

(defn- comparator-of [f]
  (cond (= f <) ordered
        (= f >) (fn [a b] (ordered b a))
        :else f))

(defn- extreme
  "Of the arguments whose key is not nil; of equals the last."
  [better?]
  (fn [f & xs]
    (let [keyed (if (next xs) (mapv (fn [x] [(f x) x]) xs) [[0 (first xs)]])]
      (if-let [known (seq (remove (comp nil? first) keyed))]
        (second (reduce (fn [a b] (let [order (ordered (first b) (first a))]
                                    (if (or (zero? order) (better? order)) b a)))
                        known))
        (last xs)))))

(explain "D21"
  {'compare (fn [_] ordered)
   'sort (fn [before] (fn ([xs] (before ordered xs)) ([f xs] (before (comparator-of f) xs))))
   'sort-by (fn [before]
              (fn ([f xs] (before f ordered xs)) ([f g xs] (before f (comparator-of g) xs))))
   'sorted-set (fn [_] (partial sorted-set-by ordered))
   'sorted-map (fn [_] (partial sorted-map-by ordered))
   'sorted-set-by (fn [before] (fn [f & xs] (apply before (comparator-of f) xs)))
   'sorted-map-by (fn [before] (fn [f & xs] (apply before (comparator-of f) xs)))
   'min-key (fn [_] (extreme neg?))
   'max-key (fn [_] (extreme pos?))})

;; ---- KEYS: every key is computed.

(explain "KEYS"
  {'sort-by (fn [before] (fn ([f xs] (run! f xs) (before f xs)) ([f g xs] (run! f xs) (before f g xs))))})

;; ---- D26: integers have no bounds.

(defn- over-big [before big]
  (fn [& xs] (if (some #(instance? clojure.lang.BigInt %) xs) (bigint (reduce big (map biginteger xs))) (apply before xs))))

(explain "D26"
  {'+ (fn [_] +') '- (fn [_] -') '* (fn [_] *') 'inc (fn [_] inc') 'dec (fn [_] dec')
   'bit-and (fn [before] (over-big before (fn [^BigInteger a ^BigInteger b] (.and a b))))
   'bit-or (fn [before] (over-big before (fn [^BigInteger a ^BigInteger b] (.or a b))))
   'bit-xor (fn [before] (over-big before (fn [^BigInteger a ^BigInteger b] (.xor a b))))})

;; ---- D27: division gives a float.

(explain "D27" {'/ (fn [before] (fn [& xs] (double (apply before xs))))})

;; ---- D28: maps keep the order in which keys came.

(defn- in-order [made keys]
  (if (and (map? made) (not (sorted? made)) (< 8 (count made)))
    (apply array-map (mapcat (fn [k] [k (get made k)]) (filter #(contains? made %) (distinct keys))))
    made))

(defn- keys-of [x]
  (cond (map? x) (keys x)
        (and (vector? x) (= 2 (count x)) (not (coll? (first x)))) [(first x)]
        (sequential? x) (mapcat keys-of x)))

(explain "D28"
  (merge
   (over '[merge into conj dissoc merge-with update-vals select-keys reduce-kv]
         (fn [_] (fn [before] (fn [& xs] (in-order (apply before xs) (mapcat keys-of xs))))))
   {'assoc (fn [before] (fn [m & kvs] (in-order (apply before m kvs)
                                                (concat (keys-of m) (take-nth 2 kvs)))))
    'update (fn [before] (fn [m k & more] (in-order (apply before m k more) (concat (keys-of m) [k]))))
    'zipmap (fn [before] (fn [ks vs] (in-order (before ks vs) ks)))
    'group-by (fn [before] (fn [f xs] (in-order (before f xs) (map f xs))))
    'frequencies (fn [before] (fn [xs] (in-order (before xs) xs)))
    'hash-map (fn [_] array-map)}))

;; ---- D35: names of keywords.

(defn- name? [x] (re-matches #"[A-Za-z][A-Za-z0-9_?!-]*" x))

(defn- keywords [x]
  (if (map? x)
    (into (empty x) (map (fn [[k v]] [(if (and (string? k) (name? k)) (keyword k) k) v])) x)
    x))

(explain "D35"
  {'keyword (fn [before]
              (fn [x] (if (or (not (string? x)) (name? x))
                        (before x)
                        (throw (IllegalArgumentException. "no name")))))
   'walk/keywordize-keys (fn [_] (fn [x] (clojure.walk/postwalk keywords x)))})

;; ---- D81: only maps merge.

(explain "D81"
  {'merge (fn [before]
            (fn [& ms]
              (let [first-one (first (remove nil? ms))]
                (if (or (nil? first-one) (map? first-one))
                  (apply before ms)
                  (throw (IllegalArgumentException. "no map"))))))
   'merge-with (fn [before]
                 (fn [f & ms]
                   (if (or (nil? (next ms)) (every? map? (filter identity ms)))
                     (apply before f ms)
                     (throw (IllegalArgumentException. "no map")))))})

;; ---- D101: empty beats nil.

(explain "D101" {'nthrest (fn [before] (fn [xs n] (let [left (before xs n)] (if (nil? left) [] left))))})

;; ---- D107: whatever can be called replaces, text or pattern, and what it gives is shown.

(explain "D107"
  (over '[str/replace str/replace-first]
        (fn [_]
          (fn [before]
            (fn [s from to]
              (if (and (ifn? to) (not (char? from)))
                (before s (if (string? from) (re-pattern (java.util.regex.Pattern/quote from)) from) (comp str to))
                (before s from to)))))))

;; ---- D33: a pair is a vector of two.

(explain "D33" {'key (fn [_] first) 'val (fn [_] second)})

;; ---- D46: how collections are printed.

(defn- printed [x] (if (or (coll? x) (char? x)) (canonical x) (pr-str x)))
(defn- shown [x] (if (coll? x) (canonical x) (str x)))

(explain "D46"
  (merge
  (over '[str/upper-case str/lower-case str/capitalize str/starts-with? str/ends-with? str/includes?]
        (fn [_] (fn [before] (fn [s & more] (apply before (if (coll? s) (shown s) s) more)))))
  {'println (fn [_] (fn [& xs] (println (string/join " " (map #(if (nil? %) "nil" (shown %)) xs)))))
   'format (fn [before] (fn [text & xs] (apply before text (map #(if (coll? %) (shown %) %) xs))))
   'str (fn [_] (fn [& xs] (apply str (map shown xs))))
   'pr-str (fn [_] (fn [& xs] (string/join " " (map printed xs))))
   'prn-str (fn [_] (fn [& xs] (str (string/join " " (map printed xs)) "\n")))
   'str/join (fn [_] (fn ([xs] (string/join (map shown xs)))
                       ([sep xs] (string/join (shown sep) (map shown xs)))))}))

;; ---- D58: no clause fits.

(explain "D58"
  {'case (rewriting (fn [before x & clauses]
                      `(~before ~x ~@clauses ~@(when (even? (count clauses)) [nil]))))
   'condp (rewriting (fn [before f x & clauses]
                       `(~before ~f ~x ~@clauses ~@(when (even? (count clauses)) [nil]))))})

;; ---- D70: out of range.

(defn- index [f] (if (vector? f) (fn [i] (if (int? i) (get f i) (f i))) f))

(explain "D70"
  (merge
  ;; A vector as a function.
  (over '[map mapv filter filterv remove keep some every? not-any? not-every? comp partial apply sort-by group-by]
        (fn [_] (fn [before] (fn [f & xs] (apply before (index f) xs)))))
  {'nth (fn [before] (fn ([xs n] (before xs n nil)) ([xs n other] (before xs n other))))
   'pop (fn [before] (fn [xs] (if (and (vector? xs) (empty? xs)) nil (before xs))))
   'subvec (fn [before]
             (fn ([xs from] (let [n (count xs)] (before xs (max 0 (min from n)) n)))
               ([xs from to] (let [n (count xs) to (max 0 (min to n))]
                               (before xs (max 0 (min from to)) to)))))}))

;; ---- D100: predicates say no.

(explain "D100"
  (merge
   (over '[zero? pos? neg?] (fn [_] (fn [before] (fn [x] (and (number? x) (before x))))))
   (over '[even? odd?] (fn [_] (fn [before] (fn [x] (and (number? x) (== x (bigint x)) (before (bigint x)))))))))

;; ---- D102: subs clamps.

(explain "D102"
  {'subs (fn [before]
           (fn [s from & [to]]
             (let [n (count s) to (min (or to n) n)]
               (if (or (neg? from) (> from to)) "" (before s from to)))))})

;; ---- D103: nothing to read.

(explain "D103"
  (over '[parse-long parse-double parse-boolean]
        (fn [_] (fn [before] (fn [x] (when (string? x) (before x)))))))

;; ---- D111: format takes more.

(defn- fitting
  "The argument as its conversion wants it."
  [conversion x]
  (cond (and (nil? x) (#{"s" "S"} conversion)) ""
        (and (integer? x) (#{"f" "e" "E" "g" "G"} conversion)) (double x)
        (and (float? x) (== x (Math/rint x)) (#{"d" "x" "X" "o"} conversion)) (biginteger x)
        (and (integer? x) (#{"c" "C"} conversion)) (int x)
        :else x))

(explain "D111"
  {'format (fn [before]
             (fn [text & xs]
               ;; Indexed arguments keep their order here.
               (let [conversions (map second (re-seq #"%[-#+ 0,(]*[0-9.]*([a-zA-Z])" text))]
                 (apply before text (concat (map fitting conversions xs) (drop (count conversions) xs))))))})

;; ---- D56: a map pattern and a written number cannot fit.

(explain "D56"
  {'let (with-inits (fn [pattern init]
                      (if (and (map? pattern) (or (number? init) (boolean? init) (keyword? init)))
                        (throw (IllegalArgumentException. "no map"))
                        init)))})

;; ---- D118: no number.

(defn- special? [x] (and (float? x) (or (Double/isNaN x) (Double/isInfinite x))))

(explain "D118"
  (over '[quot rem mod]
        (fn [_] (fn [before] (fn [a b] (if (and (or (special? a) (special? b)) (number? a) (number? b)
                                                (not (zero? b)))
                                         ##NaN
                                         (before a b)))))))

;; ---- T71: text functions want text.

(explain "T71"
  (over '[str/trim str/triml str/trimr str/trim-newline str/replace str/replace-first str/split
          str/split-lines str/index-of str/last-index-of str/escape str/blank? subs re-find re-seq
          re-matches]
        (fn [name]
          (let [text (if (re-find #"re-" (str name)) second first)]
            (fn [before]
              (fn [& xs]
                (if (or (string? (text xs)) (char? (text xs)) (and (= name 'str/blank?) (nil? (first xs))))
                  (apply before xs)
                  (throw (IllegalArgumentException. "no text")))))))))

;; ---- JVM: no primitive locals.

(defn boxed [x] x)

(explain "JVM" (over '[loop let] (fn [_] (with-inits (fn [_ init] (list `boxed init))))))

;; ---- ARGS: arguments are checked, used or not.

(defn- wanting [ok?]
  (fn [before]
    (fn [x & more]
      (if (ok? x) (apply before x more) (throw (IllegalArgumentException. "wrong argument"))))))

(defn- as-set [x]
  (if (or (nil? x) (set? x)) x (throw (IllegalArgumentException. "no set"))))

(defn- numeric [before]
  (fn [& xs] (if (every? number? xs) (apply before xs) (throw (IllegalArgumentException. "no number")))))

(defn- replacing [before]
  (fn [s from to]
    (if (or (string? to) (char? to) (ifn? to)) (before s from to) (throw (IllegalArgumentException. "no text")))))

(explain "ARGS"
  {'into (wanting #(or (nil? %) (coll? %)))
   'dissoc (wanting #(or (nil? %) (map? %)))
   'select-keys (wanting #(or (nil? %) (associative? %)))
   '+ numeric
   '* numeric
   'str/replace replacing
   'str/replace-first replacing
   'set/subset? (fn [before] (fn [a b] (before (as-set a) (as-set b))))
   'set/superset? (fn [before] (fn [a b] (before (as-set a) (as-set b))))
   'set/union (fn [before] (fn [& xs] (apply before (map as-set xs))))
   'set/intersection (fn [before] (fn [& xs] (apply before (map as-set xs))))
   'set/difference (fn [before] (fn [& xs] (apply before (map as-set xs))))})

;; ---- FOR: a written number is no collection.

(explain "FOR"
  (over '[for doseq]
        (fn [_] (with-inits (fn [_ init]
                              (if (or (number? init) (keyword? init))
                                (throw (IllegalArgumentException. "no collection"))
                                init))))))

;; ---- SETS: the order of sets. It explains a program whose answer in Clojure depends on that order.

(defn- turned [x] (if (and (set? x) (not (sorted? x))) (reverse (seq x)) x))

(defn- has-set? [x]
  (cond (set? x) (or (< 1 (count x)) (some has-set? x))
        (map? x) (some has-set? (mapcat identity x))
        (sequential? x) (some has-set? x)))

(explain "SETS"
  (merge
  ;; A printed set shows its order.
  (over '[str pr-str prn-str format str/join]
        (fn [_] (fn [before] (fn [& xs] (if (some has-set? xs) "some order" (apply before xs))))))
  (over '[map mapv mapcat filter filterv remove keep reduce seq vec first rest next last second take drop
          take-while drop-while concat into some every? not-any? not-every? sort-by group-by str/join apply interleave interpose
          partition partition-all partition-by distinct reductions zipmap map-indexed keep-indexed
          reverse cons max-key min-key sequence transduce list*]
        (fn [_] (fn [before] (fn [& xs] (apply before (map turned xs))))))))
