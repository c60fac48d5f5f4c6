//! The forms of the language in one table. The compiler takes the names it expands from it, and the reference page and
//! `doc` their texts. A row without an arm in the compiler does not compile.

/// One row of [`FORMS`].
#[derive(Clone, Copy, Debug)]
pub struct FormRow {
    /// The name as a program writes it.
    pub name: &'static str,
    /// Syntax of the form.
    pub usage: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// A program and its result, checked by the tests.
    pub example: &'static str,
    /// True if the name means the form even where a local shadows it.
    pub is_fixed: bool,
}

macro_rules! forms {
    ($($name:literal $variant:ident $($fixed:ident)? $usage:literal $doc:literal $example:literal;)*) => {
        /// The name of a form, to dispatch on.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum FormName { $(#[doc = $doc] $variant,)* }

        impl FormName {
            /// Looks up the form that a program writes as `name`.
            pub fn lookup(name: &str) -> Option<FormName> {
                match name { $($name => Some(FormName::$variant),)* _ => None }
            }
        }

        /// Every form, in the order of the reference page.
        pub const FORMS: &[FormRow] = &[$(FormRow {
            name: $name, usage: $usage, doc: $doc, example: $example, is_fixed: forms!(@fixed $($fixed)?),
        },)*];
    };
    (@fixed fixed) => { true };
    (@fixed) => { false };
}

forms! {
    "def" Def fixed "(def name value)" "Defines a name for the rest of the session and gives its var; a doc string may come before the value." "(do (def x 5) (inc x)) ;=> 6";
    "defn" Defn "(defn name [params] body…)" "Defines a function; a doc string may follow the name; for several arities, each is a list." "(do (defn area [w h] (* w h)) (area 2 3)) ;=> 6";
    "defn-" DefnPrivate "(defn- name [params] body…)" "The same as `defn`." "(do (defn- twice [x] (* 2 x)) (twice 4)) ;=> 8";
    "defonce" DefOnce fixed "(defonce name value)" "Defines a name unless it has a value already." "(do (def x 1) (defonce x 2) x) ;=> 1";
    "declare" Declare "(declare name…)" "Promises definitions that come later, for functions that call each other." "(do (declare g) (defn f [] (g)) (defn g [] 1) (f)) ;=> 1";
    "fn" Fn "(fn name? [params] body…)" "A function; parameters may be patterns, `& rest` takes further arguments." "((fn [x & more] [x more]) 1 2 3) ;=> [1 [2 3]]";
    "let" Let "(let [pattern value …] body…)" "Binds names in order; patterns take vectors and maps apart." "(let [[a b] [1 2] {:keys [c]} {:c 3}] (+ a b c)) ;=> 6";
    "letfn" Letfn "(letfn [(name [params] body…)…] body…)" "Binds functions that may call themselves and each other." "(letfn [(twice [x] (* 2 x))] (twice 4)) ;=> 8";
    "do" Do fixed "(do form…)" "Evaluates forms in order, gives the last value." "(do 1 2 3) ;=> 3";
    "if" If fixed "(if test then else?)" "One branch or the other; only nil and false are falsy." "(if 0 :yes :no) ;=> :yes";
    "if-not" IfNot "(if-not test then else?)" "`if` with the test negated." "(if-not nil 1 2) ;=> 1";
    "when" When "(when test body…)" "The body if the test holds, else nil." "(when (pos? 1) :ok) ;=> :ok";
    "when-not" WhenNot "(when-not test body…)" "The body if the test does not hold, else nil." "(when-not nil :ok) ;=> :ok";
    "cond" Cond "(cond test value … :else value)" "The value of the first test that holds, or nil." "(cond (neg? 1) :minus :else :plus) ;=> :plus";
    "case" Case "(case x constant value … default?)" "The value whose constant equals x; a list groups constants; nil without a match and default." "(case 2 1 :one (2 3) :few :many) ;=> :few";
    "condp" Condp "(condp pred x test value … default?)" "The first value for which `(pred test x)` holds; `test :>> f` calls f with the result of `pred`." "(condp = 2 1 :one 2 :two) ;=> :two";
    "if-let" IfLet "(if-let [pattern value] then else?)" "Binds the value if it is truthy, else takes the other branch." "(if-let [x (:a {:a 1})] (inc x) 0) ;=> 2";
    "when-let" WhenLet "(when-let [pattern value] body…)" "Binds the value and runs the body if it is truthy." "(when-let [x 5] (inc x)) ;=> 6";
    "if-some" IfSome "(if-some [pattern value] then else?)" "As `if-let`, but only nil fails." "(if-some [x false] [x] :none) ;=> [false]";
    "when-some" WhenSome "(when-some [pattern value] body…)" "As `when-let`, but only nil fails." "(when-some [x false] [x]) ;=> [false]";
    "when-first" WhenFirst "(when-first [pattern coll] body…)" "Binds the first element and runs the body if there is one." "(when-first [x [7 8]] x) ;=> 7";
    "and" And "(and form…)" "The first falsy value, or the last; later forms are not evaluated." "(and 1 nil 2) ;=> nil";
    "or" Or "(or form…)" "The first truthy value, or the last; a name no turn has defined counts as nil." "(or nil 2) ;=> 2";
    "loop" Loop "(loop [pattern start …] body…)" "Binds as `let`; `recur` in tail position starts the body again." "(loop [i 0 sum 0] (if (< i 4) (recur (inc i) (+ sum i)) sum)) ;=> 6";
    "recur" Recur fixed "(recur value…)" "Starts the nearest `loop` or function again with new values; the stack does not grow." "((fn [n] (if (pos? n) (recur (dec n)) :done)) 3) ;=> :done";
    "for" For "(for [pattern coll :when test :let [x v] :while test …] body)" "A vector of the body's value for each element; later bindings nest inside earlier ones." "(for [x [1 2] y [3 4] :when (odd? y)] (* x y)) ;=> [3 6]";
    "doseq" Doseq "(doseq [pattern coll …] body…)" "As `for`, for effect only: gives nil." "(doseq [x [1 2]] (println x)) ;=> nil";
    "dotimes" Dotimes "(dotimes [i n] body…)" "Runs the body with i from 0 to n - 1: gives nil." "(dotimes [i 2] (println i)) ;=> nil";
    "while" While "(while test body…)" "Runs the body as long as the test holds: gives nil." "(while false 1) ;=> nil";
    "->" ThreadFirst "(-> x (f a) g)" "Threads x through the steps as first argument." "(-> 5 (- 1) str) ;=> \"4\"";
    "->>" ThreadLast "(->> x (map f) (filter p))" "Threads x through the steps as last argument." "(->> [1 2 3] (map inc) (filter even?)) ;=> [2 4]";
    "as->" ThreadAs "(as-> x name form…)" "Binds name, or the names of a pattern, to the value of each form in turn." "(as-> 5 it (inc it) [it it]) ;=> [6 6]";
    "cond->" CondFirst "(cond-> x test (f a) …)" "Threads x as first argument through the steps whose test holds." "(cond-> {} true (assoc :a 1) false (assoc :b 2)) ;=> {:a 1}";
    "cond->>" CondLast "(cond->> x test (f a) …)" "Threads x as last argument through the steps whose test holds." "(cond->> [1 2 3] true (filter odd?)) ;=> [1 3]";
    "some->" SomeFirst "(some-> x (f a) g)" "As `->`, but stops with nil at the first nil." "(some-> {:a nil} :a inc) ;=> nil";
    "some->>" SomeLast "(some->> x (map f))" "As `->>`, but stops with nil at the first nil." "(some->> nil (map inc)) ;=> nil";
    "doto" Doto "(doto x (f a) g)" "Runs the steps on x for effect, gives x." "(doto 5 println) ;=> 5";
    "quote" Quote "(quote form)" "A symbol or collection as data; also written 'form." "(quote [1 2]) ;=> [1 2]";
    "var" Var "(var name)" "The var of a definition; also written #'name. Builtins give themselves." "((var inc) 1) ;=> 2";
    "comment" Comment "(comment form…)" "Gives nil; the forms inside are not evaluated." "(comment (boom)) ;=> nil";
    "assert" Assert "(assert test message?)" "Stops with `assertion_failed` unless the test holds." "(assert (= 1 1)) ;=> nil";
    "ns" Ns "(ns name (:require [namespace :as alias :refer [name…]]…))" "Gives namespaces an alias for the rest of the program; nothing is loaded. At the top level only." "(ns app (:require [clojure.string :as s])) (s/join \"-\" [1 2]) ;=> \"1-2\"";
    "require" Require "(require '[namespace :as alias])" "As the `:require` of `ns`." "(require '[clojure.set :as set]) (set/union #{1} #{2}) ;=> #{1 2}";
    "lazy-seq" LazySeq "(lazy-seq body…)" "The elements of its body, at once: sequences are eager." "(lazy-seq [1 2]) ;=> [1 2]";
    "return" Return fixed "(return value)" "Ends the run at once with this value." "(do (return 1) 2) ;=> 1";
    "fail" Fail fixed "(fail reason)" "Ends the run at once as a failure that carries any value." "(fail \"no rows\") ;=> fails fail";
    "try" Try fixed "(try body… (catch Class e handler…) … (finally cleanup…))" "The value of the body; if it stops with an exception of a class, the value of that handler. `Exception` and `:default` catch all that can be caught: not limits, `fail` and `return`." "(try (/ 1 0) (catch ArithmeticException e (:kind (ex-data e)))) ;=> :arithmetic_error";
    "throw" Throw fixed "(throw exception)" "Stops with an exception, for `try` to catch." "(try (throw (ex-info \"no rows\" {:table \"orders\"})) (catch ExceptionInfo e (ex-data e))) ;=> {:table \"orders\"}";
    "task" Task fixed "(task id form)" "Evaluates the form once per journal: a later turn gets the stored value." "(task \"load\" (+ 1 2)) ;=> 3";
    "step-done" StepDone fixed "(step-done id summary)" "Records a line of progress for the next turn, and gives the summary." "(step-done \"load\" \"44 rows\") ;=> \"44 rows\"";
    "task-reset" TaskReset fixed "(task-reset id)" "Forgets the stored value of a task." "(task-reset \"load\") ;=> nil";
    "call" ToolCall "(call \"name\" {:key value})" "An older spelling of `(tool/name {:key value})`." "(call \"return\" 5) ;=> 5";
    "memory/put" MemoryPut "(memory/put :name value)" "An older spelling of `def`; gives the value." "(memory/put :x 5) ;=> 5";
    "memory/get" MemoryGet "(memory/get :name default?)" "An older way to read a definition; nil if there is none." "(memory/get :unknown) ;=> nil";
}

impl FormName {
    /// Returns the row of this form.
    pub fn row(self) -> &'static FormRow {
        &FORMS[self as usize]
    }
}
