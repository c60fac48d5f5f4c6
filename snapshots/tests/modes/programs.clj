(loop [i 0 v []] (if (< i 300) (recur (inc i) [i (str i)]) v))

(reduce (fn [m i] (assoc m (mod i 40) [i])) {} (range 300))

(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 12)

(defn down [n] (if (= n 0) :done (down (dec n)))) (down 300)

(defn sum-to [n] (if (= n 0) 0 (+ n (sum-to (dec n))))) (sum-to 200)

(let [xs (range 100)] (reduce + (map (fn [x] (* x x)) (filter odd? xs))))

(sort (fn [a b] (> (mod a 7) (mod b 7))) (range 40))

(sort-by (fn [x] (- x)) [3 1 2])

(sort-by :id > data/rows)

(group-by :tag data/rows)

(map (fn [{:keys [id tag] :or {id 0}}] [tag id]) data/rows)

(into {} (map (fn [{:keys [id tag]}] [tag id]) data/rows))

(let [[a b & more :as all] [1 2 3 4]] [a b more all])

(let [{x :x [y z] :yz :strs [s] :or {x 9}} {:yz [1 2] "s" :str}] [x y z s])

((fn [a & {:keys [b c] :or {c 3}}] [a b c]) 1 :b 2)

(defn f ([] 0) ([x] (f x 10)) ([x y] (+ x y)) ([x y & more] (apply + x y more))) [(f) (f 1) (f 1 2) (f 1 2 3 4)]

(let [k 10 add (fn [x] (fn [y] (+ x y k)))] (map (add 1) [1 2 3]))

(map (fn [f] (f 5)) [inc dec (partial + 10) (comp str inc) (constantly :c) #(* % %) {5 :five} #{5} :none])

(for [x (range 6) :when (odd? x) y "ab" :let [z (str x y)] :while (not= z "5b")] z)

(doseq [x [1 2 3]] (println "item" x))

(loop [i 0 acc {}] (if (< i 60) (recur (inc i) (assoc acc (keyword (str "k" i)) (str "v" i))) (count acc)))

(loop [i 0 acc #{}] (if (< i 60) (recur (inc i) (conj acc (mod (* i 7) 31))) acc))

(loop [[x & more] [1 2 3 4] total 0] (if x (recur more (+ total x)) total))

(reduce (fn [acc x] (if (> acc 50) (reduced acc) (+ acc x))) (range 100))

(reduce (fn [m [k v]] (update m k (fnil conj []) v)) {} [[:a 1] [:b 2] [:a 3]])

(transduce (comp (map inc) (filter even?) (take-while (fn [x] (< x 20)))) conj [] (range 50))

(into #{} (map (fn [x] (mod x 5))) (range 30))

(apply str (interpose "," (map str (range 30))))

(str "a" 1 2.5 :k nil [1 "x"] {:a #{1}} 'sym)

(pr-str ["a\nb" \c 1e10 1.5e-7 ##Inf ##NaN -0.0])

[(+ 9223372036854775807 1) (- -9223372036854775808 1) (* 4611686018427387904 4) (- -9223372036854775808)]

(reduce * (range 1 40))

(reduce (fn [a b] (+ a (* b 1000000007 a))) 1 (range 1 12))

[(/ 1 3) (quot -7 2) (rem -7 2) (mod -7 2) (quot 7.5 2) (mod -7.5 2) (/ 6 3)]

[(= 1 1.0) (= [1 2] (range 1 3)) (= {:a 1} {:a 1.0}) (= #{1} #{1.0}) (= ##NaN ##NaN) (== 2 2.0)]

[(< 1 2 3) (< 1 3 2) (< 1 nil) (> "b" "a") (<= 1 1.0 2) (< :a :b) (>= 3 3 2)]

(sort [3 "a" nil :k true [1] 2.5 false {} #{} [0 0] "Z" -1])

(let [m {:a {:b {:c 1}}}] [(get-in m [:a :b :c]) (assoc-in m [:a :x] 2) (update-in m [:a :b :c] + 10) (:z m :none)])

[(get {"unit_price" 4} :unit-price) (:id {"id" 7}) (update {"id" 1} :id inc) (contains? {:a nil} "a")]

[(nth [1 2] 5) (nth [1 2] 1.9) (get [1 2] 1) ([7 8] 1) (first {:a 1}) (rest "héllo") (last (range 9))]

[(assoc [1 2] 2 3) (conj {:a 1} [:b 2] {:c 3}) (conj #{1} 1 2) (into [] {:a 1}) (conj nil 1) (assoc nil :a 1)]

[(take 3 (range 10)) (drop 7 (range 10)) (partition 2 (range 5)) (partition-all 2 (range 5)) (split-at 2 [1 2 3])]

[(distinct [1 1.0 1 :a :a]) (frequencies "abca") (dedupe [1 1 2 1]) (interleave [1 2] [:a :b]) (zipmap [:a :b] [1 2])]

[(merge {:a 1} nil {:b 2}) (merge-with + {:a 1} {:a 2 :b 3}) (select-keys {:a 1 :b 2} [:a :z]) (dissoc {:a 1} :a)]

(cond false 1 nil 2 :else (case 3 1 :one (2 3) :two-or-three :other))

(if-let [x (first [])] x (when-let [y 5] (if-some [z false] [y z] :no)))

(-> {:a 1} (assoc :b 2) (update :a inc) (dissoc :b))

(->> (range 10) (filter even?) (map (fn [x] (* x x))) (reduce +))

(cond-> {:n 1} true (assoc :t true) false (assoc :f true))

(some-> {:a {:b nil}} :a :b :c)

(as-> 5 x (+ x 1) (* x 2) [x])

(pmap (fn [x] (reduce + (range x))) (range 20))

(pmap (fn [x y] [x y]) [1 2 3] "ab")

(pcalls (fn [] 1) (fn [] (str "two")) (fn [] [3]))

(pmap (fn [x] (pmap (fn [y] (str x y)) [1 2])) [:a :b])

(let [base (map str (range 30))] (pmap (fn [i] (conj base i)) (range 5)))

(tool/echo {:a 1 :b-c [1 {:d "e"}]})

(map (fn [i] (tool/echo {:i i :pad (str "padding" i)})) (range 5))

(pmap (fn [i] (:i (tool/echo {:i i}))) (range 8))

(def a 1) (def b (+ a 1)) (defn g [] (+ a b)) (def a 10) [(g) a b]

(defonce once 1) (defonce once (+ 1 nil)) once

(def v [1 2 3]) [#'v (map inc v)]

(declare later) (defn early [] (later)) (defn later [] :ok) (early)

(letfn [(ev? [n] (if (= n 0) true (od? (dec n)))) (od? [n] (if (= n 0) false (ev? (dec n))))] (ev? 20))

(let [f (fn self [n] (if (< n 1) [] (conj (self (dec n)) n)))] (f 12))

(trampoline (fn go [n] (if (> n 0) (fn [] (go (dec n))) :landed)) 20)

(return (map inc [1 2]))

(do (println "first") (fail {:why "because" :n 1}))

(+ 1 nil)

(let [x [1 2]] (x 1 2 3))

((fn [a b] a) 1)

(map (fn [x] (/ 10 x)) [1 2 0])

(pmap (fn [x] (/ 10 x)) [1 2 0 nil])

(if true (inc "x") 1)

[(if false "" ((first []) 0)) 0]

(do (println (map inc (range 5))) (nth nil 0) (count 5))

(sort-by (fn [x] (+ x nil)) [1 2])

(reduce (fn [acc x] (+ acc (count x))) 0 ["a" "bc" 5])

(loop [i 0] (if (< i 10) (recur (inc i)) (:missing i i)))

(let [big (vec (range 200))] (reduce (fn [v i] (assoc v i (str i))) big (range 0 200 7)))

(let [m (zipmap (range 100) (range 100))] [(count (dissoc m 5)) (get m 50) (reduce-kv (fn [a k v] (+ a k v)) 0 m)])

(let [a (into {} (map (fn [i] [i i]) (range 50))) b (assoc a 3 :x) c (dissoc a 4) d (assoc a 99 :y)] [(count a) (b 3) (c 4) (d 99) (a 3) (a 99)])

(let [s (set (range 40))] [(count (conj s 99)) (count (disj s 3)) (contains? s 3) (count (union s #{:a}))])

(let [v (vec (range 70)) p (pop v) q (conj p :x) r (conj p :y)] [(last q) (last r) (last v) (count p)])

(let [s (subvec (vec (range 100)) 40 60)] [(first s) (count s) (conj s :end)])

(take 5 (map (fn [x] [x x]) (range 100)))

(count (filter even? (range 500)))

(map-indexed vector "añb")

(mapcat (fn [x] (range x)) [1 2 3])

(keep (fn [x] (when (odd? x) (* x x))) (range 10))

(let [xs [5 3 8]] [(apply max xs) (apply min xs) (max-by identity xs) (min-key - 5 3 8) (sum xs) (avg xs)])

(walk inc sum [1 2 3])

(postwalk (fn [x] (if (number? x) (inc x) x)) {:a [1 {:b 2}] :c #{3}})

(flatten [1 [2 [3 [4]] nil]])

(tree-seq vector? identity [1 [2 [3]]])

[(upper-case "grüße") (subs "hello" 1 3) (join ", " [1 nil "x"]) (split "a,b,,c,," ",") (trim "  x ")]

[(replace "a-b-c" "-" "+") (replace {1 :one} [1 2 1]) (index-of "hello" "l") (starts-with? "abc" "ab")]

[(parse-long "42") (parse-long "x") (parse-double "1.5e3") (keyword "a") (name :b) (int "A") (char 97)]

[(count "👩‍👧") (reverse "e\u0301x") (vec "añ") (= "\u00e9" "e\u0301")]

[(bit-and 12 10) (bit-shift-left 1 100) (bit-xor 5 3) (bit-not 0)]

[(type 1) (type "a") (type nil) (type []) (type inc) (fn? inc) (ifn? :a) (vector? (range 3))]

(let [f (juxt inc dec str) g (complement even?) h (every-pred pos? odd?) i (some-fn :a :b)] [(f 1) (g 1) (h 3 5) (i {:b 2})])

(assert (= 1 2) "no")

(loop [x 1 n 0] (if (< n 200) (recur (* x 3) (inc n)) (count (str x))))

(let [deep (reduce (fn [acc _] [acc]) [] (range 200))] [(count (str deep)) (= deep deep) (get {deep 1} deep)])

(let [dag (reduce (fn [acc _] [acc acc]) [1] (range 10))] [(= dag dag) (count (flatten dag))])

(map (fn [[k v]] {k v}) {:a 1 :b 2 :c 3})

(let [m {:b 1 :a 2}] [(keys m) (vals m) (seq m) (map first m) (reduce (fn [a [k v]] (+ a v)) 0 m)])

(let [x 5] (and (> x 1) (< x 10) (or nil false [x])))

(when-not (empty? [1]) (if-not false :yes :no))

(condp = 3 1 :one 3 :three :none)

(while false 1)

(dotimes [i 3] (println i))

(repeatedly 3 (fn [] (str "x" "y")))

(reductions + 0 [1 2 3])

(partition-by odd? [1 3 2 4 5])

(defn spread [& xs] (if (seq xs) (+ (first xs) (apply spread (rest xs))) 0)) (apply spread (range 30))

(try (/ 1 0) (catch ArithmeticException e [(ex-message e) (ex-data e)]))

(try (+ 1 nil) (catch Exception e (ex-data e)) (finally (println "done")))

(try (str "a" (/ 1 0)) (finally (println "cleaned")))

(map (fn [row] (try (if (= (:id row) 2) (throw (ex-info "two" row)) (:tag row)) (catch ExceptionInfo e (ex-data e)))) data/rows)

(defn deep [n] (if (= n 0) (throw (ex-info "deep" {:at n})) (+ 1 (deep (dec n))))) (try (deep 300) (catch Exception e [(ex-message e) (ex-data e)]))

(try (try (throw (Exception. "in")) (catch ArithmeticException e :no) (finally (println "one"))) (catch RuntimeException e :neither) (catch :default e (str "out " (.getMessage e))))

(try (reduce (fn [all n] (if (= n 700) (throw (ex-info "stop" {:all (count all) :last (last all)})) (conj all {:n n :text (str "row " n)}))) [] (range 1000)) (catch ExceptionInfo e (ex-data e)))

(loop [i 0 found []] (if (< i 40) (let [x (try (if (= 0 (mod i 7)) (throw (ex-info "seven" {:i i :rest (vec (range i))})) i) (catch ExceptionInfo e (count (:rest (ex-data e)))))] (recur (inc i) (conj found x))) found))

(pmap (fn [row] (try (tool/echo {:n (/ 6 (- (:id row) 2))}) (catch ArithmeticException e {:n (ex-message e)}))) data/rows)

(try (pmap (fn [row] (/ 6 (- (:id row) 2))) data/rows) (catch ArithmeticException e [(:kind (ex-data e)) (:index (ex-data e)) (ex-message (ex-cause e))]))

(try (pmap (fn [row] (throw (ex-info "no" {:row row}))) data/rows) (catch ExceptionInfo e [(:index (ex-data e)) (ex-data (ex-cause e))]))

(try (throw (ex-info "late" {:a 1} (ex-info "slow" {:b 2}))) (catch Exception e [(ex-data (ex-cause e)) (str (ex-message e))]))

(throw (ex-info "nobody catches this" {:rows [1 2 3]}))

(try (/ 5 0) (catch ExceptionInfo e :not-this))

(let [f (fn [x] (try (x) (catch Exception e :bad) (finally (println "called"))))] [(f (fn [] 1)) (f (fn [] (inc "a")))])

(try (fail {:why "it fails"}) (catch Throwable e :caught) (finally (println "not printed")))

(try (do (println "before") (return 7)) (catch Throwable e :caught) (finally (println "not printed")))

(try (first (drop 3 (map (fn [x] (if (= x 3) (throw (ex-info "three" {:x x})) x)) (range)))) (catch ExceptionInfo e (ex-data e)))

(try (sort-by (fn [x] (if (= x 3) (throw (ex-info "key" {:x x})) x)) [5 4 3 2 1]) (catch Exception e (ex-data e)))

(try (let [[a b] 5] a) (catch Exception e (:kind (ex-data e))))

[(ex-info "m" {:a 1}) (ex-data {:a 1}) (ex-message "text") (type (Exception. "x"))]

(let [n (atom 0)] (doseq [x (range 200)] (swap! n + x)) [@n n])

(let [seen (atom #{}) rows (atom [])] (doseq [{:keys [id tag]} data/rows] (when-not (contains? @seen tag) (swap! seen conj tag) (swap! rows conj {:id id :name (str tag id)}))) [@seen @rows])

(let [a (atom [])] (loop [i 0] (when (< i 300) (swap! a conj [i (str i)]) (recur (inc i)))) [(count @a) (last @a) (reset! a nil) a])

(let [a (atom {}) b {:in a} f (fn [k] (swap! a update k (fnil inc 0)))] (run! f [:x :y :x]) (dotimes [i 200] (str "garbage " i)) [@(:in b) (= a (:in b)) (= a (atom @a)) (get {a 1 [a] 2} [a])])

(def total (atom 0)) (defn add [x] (swap! total + x)) (run! add (range 50)) [total @total (map deref [(atom 1) (volatile! [2])])]

(let [a (atom 1)] [(try (swap! a (fn [x] (reset! a 7) (/ x 0))) (catch Exception e [(ex-message e) @a])) (swap-vals! a + 1 2 3) (reset-vals! a 0) (compare-and-set! a 0 :z) @a])

(let [v (volatile! [])] (dotimes [i 100] (vswap! v (fn [old] (if (> (count old) 5) [] (conj old (vec (range i))))))) [@v (pr-str v)])

(let [a (atom nil)] (reset! a [a {:self a} (atom @a)]) [(str a) (= a (first @a)) (count (pr-str [a a])) a])

(reduce (fn [a i] (atom [a i])) nil (range 60))

(let [fib (atom {})] (letfn [(f [n] (or (get @fib n) (let [v (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))] (swap! fib assoc n v) v)))] [(f 50) (count @fib)]))

(let [a (atom 10)] (pmap (fn [row] (let [own (atom @a)] (swap! own + (:id row)) [own @own a])) data/rows))

(let [a (atom 0)] (pmap (fn [row] (swap! a + (:id row))) data/rows))

(let [as (pmap (fn [row] (let [own (atom [row])] {:a own :b [own]})) data/rows)] (doseq [x as] (swap! (:a x) conj (str "more" (count @(:a x))))) (map (fn [x] (= (:a x) (first (:b x)))) as) [as (map (comp count deref :a) as)])

(into [] (comp (map (let [n (volatile! 0)] (fn [x] (vswap! n + x)))) (filter odd?)) (range 40))

(+ 1 (atom 1))

(swap! {} inc)

(let [a (atom "x")] (println a @a) (prn [a]) (str a))

(defn price [row] (+ 1 (:price row))) (defn total [rows] (reduce + (map price rows))) (total data/rows)

(defn f [n] (if (= n 0) (/ 1 n) (inc (f (dec n))))) (map f [30 40])

(defn g [x] (/ 1 x)) (defn all [xs] (pmap (fn [x] (map g [x (- x 2)])) xs)) (all [1 2])

(sort-by (fn [x] (if (= x 3) (throw (ex-info "key" {:x x})) x)) [5 4 3 2 1])

(first (drop 3 (map (fn [x] (if (= x 3) (/ 1 0) x)) (iterate inc 0))))

(for [row data/rows i (range 3)] (/ (:id row) (- i 2)))
