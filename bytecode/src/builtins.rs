//! The builtin table: every function of the language with its arity, effects, reference text and place of its body.
//!
//! The compiler resolves names and checks arities with it, the runtime binds bodies to it (a row without a function
//! does not compile), and `doc` and the reference page print it. Names that start with `%` serve the core library and
//! expansions; programs cannot spell them.

/// Calls `$callback!` with every row of the builtin table.
///
/// A row is `"name" => native(module::function, elements, keeps?) | core, min.. | min..max, Effect, inline Op?,
/// "doc", "example ;=> result";`. Arities are inclusive. `core` bodies are PTC-Lisp in `preludes/core`. `inline`
/// names the instruction the compiler emits for a direct call. The word after the cost rule says how firewalled
/// values pass through ([`Veil`]); without it the whole result is firewalled if any argument is.
#[macro_export]
macro_rules! for_each_builtin {
    ($callback:ident) => {
        $callback! {
            section "Arithmetic" {
                "+" => native(number::add, operands), 0.., Pure, inline Add, "Sum; none gives 0.", "(+ 1 2 3) ;=> 6";
                "-" => native(number::sub, operands), 1.., Pure, inline Sub, "Difference from left to right, or the negative of one number.", "(- 10 3 2) ;=> 5";
                "*" => native(number::mul, operands), 0.., Pure, inline Mul, "Product; none gives 1.", "(* 2 3 4) ;=> 24";
                "/" => native(number::div, operands), 1.., Pure, inline Div, "Quotient, always a float; one number gives its reciprocal.", "(/ 9 2) ;=> 4.5";
                "inc" => native(number::inc, operands), 1..1, Pure, inline Inc, "One more.", "(inc 41) ;=> 42";
                "dec" => native(number::dec, operands), 1..1, Pure, inline Dec, "One less.", "(dec 43) ;=> 42";
                "quot" => native(number::quot, operands), 2..2, Pure, inline Quot, "Quotient cut toward zero.", "(quot -7 2) ;=> -3";
                "rem" => native(number::rem, operands), 2..2, Pure, inline Rem, "Remainder with the sign of the dividend.", "(rem -7 2) ;=> -1";
                "mod" => native(number::modulo, operands), 2..2, Pure, inline Mod, "Modulus with the sign of the divisor.", "(mod -7 2) ;=> 1";
                "+'" => native(number::add, operands), 0.., Pure, inline Add, "The same as `+`, which never overflows.", "(+' 1 2) ;=> 3";
                "-'" => native(number::sub, operands), 1.., Pure, inline Sub, "The same as `-`.", "(-' 3 1) ;=> 2";
                "*'" => native(number::mul, operands), 0.., Pure, inline Mul, "The same as `*`.", "(*' 2 3) ;=> 6";
                "inc'" => native(number::inc, operands), 1..1, Pure, inline Inc, "The same as `inc`.", "(inc' 1) ;=> 2";
                "dec'" => native(number::dec, operands), 1..1, Pure, inline Dec, "The same as `dec`.", "(dec' 1) ;=> 0";
                "abs" => native(number::abs, operands), 1..1, Pure, "Distance from zero.", "(abs -5) ;=> 5";
                "max" => native(number::max, operands), 1.., Pure, "The largest number.", "(max 3 7 5) ;=> 7";
                "min" => native(number::min, operands), 1.., Pure, "The smallest number.", "(min 3 7 5) ;=> 3";
                "floor" => native(rounding::floor, operands), 1..1, Pure, "The greatest integer not above x.", "(floor 2.7) ;=> 2";
                "ceil" => native(rounding::ceil, operands), 1..1, Pure, "The least integer not below x.", "(ceil 2.1) ;=> 3";
                "round" => native(rounding::round, operands), 1..1, Pure, "The nearest integer; halves go away from zero.", "(round 2.5) ;=> 3";
                "trunc" => native(rounding::trunc, operands), 1..1, Pure, "The integer part.", "(trunc -2.7) ;=> -2";
                "sqrt" => native(rounding::sqrt, operands), 1..1, Pure, "Square root, a float.", "(sqrt 9) ;=> 3.0";
                "pow" => native(rounding::pow, operands), 2..2, Pure, "Power, a float.", "(pow 2 10) ;=> 1024.0";
                "double" => native(rounding::double, operands), 1..1, Pure, "As a float.", "(double 3) ;=> 3.0";
                "float" => native(rounding::double, operands), 1..1, Pure, "As a float; the same as `double`.", "(float 3) ;=> 3.0";
                "int" => native(rounding::int, operands), 1..1, Pure, "Cut to an integer of 32 bits; of a one-character string its code point.", "(int 3.9) ;=> 3";
                "long" => native(rounding::long, operands), 1..1, Pure, "Cut to an integer; of a one-character string its code point.", "(long 3.9) ;=> 3";
            }
            section "Exceptions" {
                "ex-info" => native(exception::ex_info, constant, keeps_all), 2..3, Pure, "An exception with a message and a map of data, and perhaps the exception that caused it.", "(ex-data (ex-info \"no rows\" {:table \"orders\"})) ;=> {:table \"orders\"}";
                "ex-message" => native(exception::ex_message, constant, keeps_all), 1..1, Pure, "The message of an exception; nil for anything else.", "(ex-message (ex-info \"no rows\" {})) ;=> \"no rows\"";
                "ex-data" => native(exception::ex_data, constant, keeps_all), 1..1, Pure, "The data of an exception, for faults a map with :kind; nil for anything else.", "(try (+ 1 nil) (catch Exception e (:kind (ex-data e)))) ;=> :type_error";
                "ex-cause" => native(exception::ex_cause, constant, keeps_all), 1..1, Pure, "The exception that caused another, or nil.", "(ex-message (ex-cause (ex-info \"late\" {} (ex-info \"slow\" {})))) ;=> \"slow\"";
                ".getMessage" => native(exception::ex_message, constant, keeps_all), 1..1, Pure, "The message of an exception.", "(.getMessage (Exception. \"no\")) ;=> \"no\"";
                ".getCause" => native(exception::ex_cause, constant, keeps_all), 1..1, Pure, "The exception that caused another, or nil.", "(.getCause (Exception. \"no\")) ;=> nil";
                ".getData" => native(exception::ex_data, constant, keeps_all), 1..1, Pure, "The data of an exception.", "(.getData (ex-info \"no\" {:a 1})) ;=> {:a 1}";
                "Exception." => native(exception::exception, constant, keeps_all), 0..2, Pure, "An exception with a message, and perhaps its cause.", "(ex-message (Exception. \"no\")) ;=> \"no\"";
                "RuntimeException." => native(exception::exception, constant, keeps_all), 0..2, Pure, "An exception with a message, and perhaps its cause.", "(ex-message (RuntimeException. \"no\")) ;=> \"no\"";
                "IllegalArgumentException." => native(exception::exception, constant, keeps_all), 0..2, Pure, "An exception with a message, and perhaps its cause.", "(try (throw (IllegalArgumentException. \"no\")) (catch IllegalArgumentException e 1)) ;=> 1";
                "IllegalStateException." => native(exception::exception, constant, keeps_all), 0..2, Pure, "An exception with a message, and perhaps its cause.", "(try (throw (IllegalStateException. \"no\")) (catch Exception e 1)) ;=> 1";
                "ArithmeticException." => native(exception::exception, constant, keeps_all), 0..1, Pure, "An exception with a message.", "(try (throw (ArithmeticException. \"no\")) (catch ArithmeticException e 1)) ;=> 1";
                "UnsupportedOperationException." => native(exception::exception, constant, keeps_all), 0..2, Pure, "An exception with a message, and perhaps its cause.", "(ex-message (UnsupportedOperationException. \"no\")) ;=> \"no\"";
            }
            section "Bits" {
                "bit-and" => native(bits::bit_and, operands), 2.., Pure, "Bits set in all.", "(bit-and 12 10) ;=> 8";
                "bit-or" => native(bits::bit_or, operands), 2.., Pure, "Bits set in any.", "(bit-or 12 10) ;=> 14";
                "bit-xor" => native(bits::bit_xor, operands), 2.., Pure, "Bits set in an odd number of them.", "(bit-xor 12 10) ;=> 6";
                "bit-and-not" => native(bits::bit_and_not, operands), 2.., Pure, "The first without the bits of the others.", "(bit-and-not 12 10) ;=> 4";
                "bit-not" => native(bits::bit_not, operands), 1..1, Pure, "Every bit inverted.", "(bit-not 0) ;=> -1";
                "bit-shift-left" => native(bits::bit_shift_left, operands), 2..2, Pure, "Shifted left by n bits; never overflows.", "(bit-shift-left 1 10) ;=> 1024";
                "bit-shift-right" => native(bits::bit_shift_right, operands), 2..2, Pure, "Shifted right by n bits, keeping the sign.", "(bit-shift-right 1024 3) ;=> 128";
                "unsigned-bit-shift-right" => native(bits::unsigned_bit_shift_right, operands), 2..2, Pure, "Shifted right by n bits as 64 bits without a sign.", "(unsigned-bit-shift-right -1 60) ;=> 15";
                "bit-set" => native(bits::bit_set, operands), 2..2, Pure, "With bit n set.", "(bit-set 0 3) ;=> 8";
                "bit-clear" => native(bits::bit_clear, operands), 2..2, Pure, "With bit n cleared.", "(bit-clear 15 0) ;=> 14";
                "bit-flip" => native(bits::bit_flip, operands), 2..2, Pure, "With bit n inverted.", "(bit-flip 5 1) ;=> 7";
                "bit-test" => native(bits::bit_test, operands), 2..2, Pure, "Whether bit n is set.", "(bit-test 5 2) ;=> true";
            }
            section "Comparison" {
                "=" => native(compare::eq, operands, measures), 1.., Pure, inline Eq, "Whether all are equal; 1 and 1.0 are.", "(= 1 1.0) ;=> true";
                "==" => native(compare::eq, operands, measures), 1.., Pure, inline Eq, "The same as `=`.", "(== 2 2.0) ;=> true";
                "not=" => native(compare::not_eq, operands, measures), 1.., Pure, inline NotEq, "The opposite of `=`.", "(not= 1 2) ;=> true";
                "<" => native(compare::less, operands, measures), 1.., Pure, inline Less, "Whether each is less than the next; false between different kinds.", "(< 1 2 3) ;=> true";
                "<=" => native(compare::less_eq, operands, measures), 1.., Pure, inline LessEq, "Whether none is greater than the next.", "(<= 1 1 2) ;=> true";
                ">" => native(compare::greater, operands, measures), 1.., Pure, inline Greater, "Whether each is greater than the next.", "(> 3 2 1) ;=> true";
                ">=" => native(compare::greater_eq, operands, measures), 1.., Pure, inline GreaterEq, "Whether none is less than the next.", "(>= 2 2 1) ;=> true";
                "compare" => native(compare::compare, operands), 2..2, Pure, "-1, 0 or 1 by the order of `sort`.", "(compare 1 2) ;=> -1";
                "not" => native(compare::not, constant, measures), 1..1, Pure, inline Not, "true for nil and false, else false.", "(not nil) ;=> true";
                "boolean" => native(compare::boolean, constant, measures), 1..1, Pure, "false for nil and false, else true.", "(boolean 0) ;=> true";
                "identity" => native(compare::identity, constant, keeps_all), 1..1, Pure, "Its argument.", "(identity 7) ;=> 7";
                "distinct?" => native(compare::distinct_p, operands, measures), 1.., Pure, "Whether no two are the same.", "(distinct? 1 2 1) ;=> false";
            }
            section "Predicates" {
                "nil?" => native(predicate::nil_p, constant, measures), 1..1, Pure, inline IsNil, "Whether it is nil.", "(nil? nil) ;=> true";
                "some?" => native(predicate::some_p, constant, measures), 1..1, Pure, "Whether it is anything but nil.", "(some? false) ;=> true";
                "any?" => native(predicate::any_p, constant, measures), 1..1, Pure, "true for anything.", "(any? nil) ;=> true";
                "true?" => native(predicate::true_p, constant, measures), 1..1, Pure, "Whether it is true.", "(true? 1) ;=> false";
                "false?" => native(predicate::false_p, constant, measures), 1..1, Pure, "Whether it is false.", "(false? nil) ;=> false";
                "boolean?" => native(predicate::boolean_p, constant, measures), 1..1, Pure, "Whether it is true or false.", "(boolean? false) ;=> true";
                "number?" => native(predicate::number_p, constant, measures), 1..1, Pure, "Whether it is a number.", "(number? 1.5) ;=> true";
                "int?" => native(predicate::int_p, constant, measures), 1..1, Pure, "Whether it is an integer.", "(int? 1.0) ;=> false";
                "integer?" => native(predicate::int_p, constant, measures), 1..1, Pure, "Whether it is an integer.", "(integer? 1) ;=> true";
                "rational?" => native(predicate::int_p, constant, measures), 1..1, Pure, "Whether it is an integer; there are no ratios.", "(rational? 1.5) ;=> false";
                "float?" => native(predicate::float_p, constant, measures), 1..1, Pure, "Whether it is a float.", "(float? 1.0) ;=> true";
                "double?" => native(predicate::float_p, constant, measures), 1..1, Pure, "Whether it is a float.", "(double? 1) ;=> false";
                "decimal?" => native(predicate::never_p, constant, measures), 1..1, Pure, "false: there are no decimals.", "(decimal? 1.5) ;=> false";
                "ratio?" => native(predicate::never_p, constant, measures), 1..1, Pure, "false: there are no ratios.", "(ratio? 1.5) ;=> false";
                "nat-int?" => native(predicate::nat_int_p, constant, measures), 1..1, Pure, "Whether it is an integer of at least 0.", "(nat-int? 0) ;=> true";
                "pos-int?" => native(predicate::pos_int_p, constant, measures), 1..1, Pure, "Whether it is an integer above 0.", "(pos-int? 0) ;=> false";
                "neg-int?" => native(predicate::neg_int_p, constant, measures), 1..1, Pure, "Whether it is an integer below 0.", "(neg-int? -1) ;=> true";
                "infinite?" => native(predicate::infinite_p, constant, measures), 1..1, Pure, "Whether it is an infinity.", "(infinite? ##Inf) ;=> true";
                "NaN?" => native(predicate::nan_p, constant, measures), 1..1, Pure, "Whether it is the float NaN.", "(NaN? ##NaN) ;=> true";
                "zero?" => native(predicate::zero_p, constant, measures), 1..1, Pure, "Whether it is zero; false for anything that is not a number.", "(zero? 0.0) ;=> true";
                "pos?" => native(predicate::pos_p, constant, measures), 1..1, Pure, "Whether it is above zero; false for anything that is not a number.", "(pos? 3) ;=> true";
                "neg?" => native(predicate::neg_p, constant, measures), 1..1, Pure, "Whether it is below zero; false for anything that is not a number.", "(neg? -3) ;=> true";
                "even?" => native(predicate::even_p, operands, measures), 1..1, Pure, "Whether it is a whole, even number.", "(even? 4) ;=> true";
                "odd?" => native(predicate::odd_p, operands, measures), 1..1, Pure, "Whether it is a whole, odd number.", "(odd? 4) ;=> false";
                "string?" => native(predicate::string_p, constant, measures), 1..1, Pure, "Whether it is a string.", "(string? \"a\") ;=> true";
                "char?" => native(predicate::char_p, constant, measures), 1..1, Pure, "Whether it is a string of one character.", "(char? \\a) ;=> true";
                "keyword?" => native(predicate::keyword_p, constant, measures), 1..1, Pure, "Whether it is a keyword.", "(keyword? :a) ;=> true";
                "simple-keyword?" => native(predicate::simple_keyword_p, bytes, measures), 1..1, Pure, "Whether it is a keyword without a slash.", "(simple-keyword? :a) ;=> true";
                "qualified-keyword?" => native(predicate::qualified_keyword_p, bytes, measures), 1..1, Pure, "Whether it is a keyword with a slash.", "(qualified-keyword? :a/b) ;=> true";
                "symbol?" => native(predicate::symbol_p, constant, measures), 1..1, Pure, "Whether it is a quoted symbol.", "(symbol? :a) ;=> false";
                "vector?" => native(predicate::vector_p, constant, measures), 1..1, Pure, "Whether it is a vector, the only sequential type.", "(vector? [1]) ;=> true";
                "list?" => native(predicate::vector_p, constant, measures), 1..1, Pure, "Whether it is a vector, the only sequential type.", "(list? [1]) ;=> true";
                "seq?" => native(predicate::seq_p, constant, measures), 1..1, Pure, "Whether it is a vector, the only sequential type.", "(seq? [1]) ;=> true";
                "sequential?" => native(predicate::seq_p, constant, measures), 1..1, Pure, "Whether it is a vector, the only sequential type.", "(sequential? {}) ;=> false";
                "map?" => native(predicate::map_p, constant, measures), 1..1, Pure, "Whether it is a map.", "(map? {}) ;=> true";
                "set?" => native(predicate::set_p, constant, measures), 1..1, Pure, "Whether it is a set.", "(set? #{}) ;=> true";
                "coll?" => native(predicate::coll_p, constant, measures), 1..1, Pure, "Whether it is a vector, map or set.", "(coll? \"ab\") ;=> false";
                "associative?" => native(predicate::associative_p, constant, measures), 1..1, Pure, "Whether it is a vector or map.", "(associative? #{}) ;=> false";
                "counted?" => native(predicate::counted_p, constant, measures), 1..1, Pure, "Whether it is a vector, map or set.", "(counted? [1]) ;=> true";
                "indexed?" => native(predicate::vector_p, constant, measures), 1..1, Pure, "Whether it is a vector.", "(indexed? [1]) ;=> true";
                "reversible?" => native(predicate::vector_p, constant, measures), 1..1, Pure, "Whether it is a vector.", "(reversible? [1]) ;=> true";
                "seqable?" => native(predicate::seqable_p, constant, measures), 1..1, Pure, "Whether it can be walked: nil, a string or a collection.", "(seqable? \"ab\") ;=> true";
                "sorted?" => native(sorted::sorted_p, elements, measures), 1..1, Pure, "Whether it is a sorted map or set.", "(sorted? (sorted-set 1)) ;=> true";
                "map-entry?" => native(predicate::never_p, constant, measures), 1..1, Pure, "false: entries are plain vectors of two.", "(map-entry? [1 2]) ;=> false";
                "fn?" => native(predicate::fn_p, constant, measures), 1..1, Pure, "Whether it is a function.", "(fn? inc) ;=> true";
                "ifn?" => native(predicate::ifn_p, constant, measures), 1..1, Pure, "Whether it can be called: functions, keywords and collections.", "(ifn? :a) ;=> true";
                "regex?" => native(predicate::regex_p, constant, measures), 1..1, Pure, "Whether it is a pattern.", "(regex? \"a\") ;=> false";
                "describe" => native(describe::describe, own, keeps), 1..2, Pure, "What is in unknown data: types, keys, examples; with {:paths true :depth 2} nested keys too.", "(:count (describe [1 2])) ;=> 2";
                "type" => native(predicate::type_of, constant, measures), 1..1, Pure, "Its type as a keyword; nil for nil.", "(type [1]) ;=> :vector";
            }
            section "Sequences" {
                "count" => native(seq::count, elements, measures), 1..1, Pure, inline Count, "Number of elements; nil has none.", "(count [7 8]) ;=> 2";
                "first" => native(seq::first, elements, keeps), 1..1, Pure, inline First, "The first element, or nil.", "(first [7 8]) ;=> 7";
                "second" => native(seq::second, elements, keeps), 1..1, Pure, "The second element, or nil.", "(second [7 8]) ;=> 8";
                "last" => native(seq::last, elements, keeps), 1..1, Pure, "The last element, or nil.", "(last [7 8 9]) ;=> 9";
                "rest" => native(seq::rest, elements, keeps), 1..1, Pure, "All elements but the first.", "(rest [7 8 9]) ;=> [8 9]";
                "next" => native(seq::next, elements, keeps), 1..1, Pure, "All elements but the first; nil when none is left.", "(next [7]) ;=> nil";
                "butlast" => native(seq::butlast, elements, keeps), 1..1, Pure, "All elements but the last; nil when none is left.", "(butlast [7 8 9]) ;=> [7 8]";
                "ffirst" => native(seq::ffirst, elements, keeps), 1..1, Pure, "The first of the first.", "(ffirst [[1 2] [3]]) ;=> 1";
                "fnext" => native(seq::second, elements, keeps), 1..1, Pure, "The first of the rest.", "(fnext [7 8]) ;=> 8";
                "nfirst" => native(seq::nfirst, elements, keeps), 1..1, Pure, "The rest of the first; nil when none is left.", "(nfirst [[1 2] [3]]) ;=> [2]";
                "nnext" => native(seq::nnext, elements, keeps), 1..1, Pure, "All but the first two; nil when none is left.", "(nnext [7 8 9]) ;=> [9]";
                "nth" => native(seq::nth, elements, keeps_third), 2..3, Pure, inline Nth, "The element at an index, else nil or the default.", "(nth [7 8] 1) ;=> 8";
                "peek" => native(seq::peek, elements, keeps), 1..1, Pure, "The last element of a vector, or nil.", "(peek [7 8]) ;=> 8";
                "pop" => native(seq::pop, elements, keeps), 1..1, Pure, "The vector without its last element; nil when empty.", "(pop [7 8]) ;=> [7]";
                "subvec" => native(seq::subvec, elements, keeps), 2..3, Pure, "The part of a vector from start up to end, clamped.", "(subvec [5 6 7 8] 1 3) ;=> [6 7]";
                "seq" => native(seq::seq, elements, keeps), 1..1, Pure, "The elements as a vector; nil when there are none.", "(seq \"ab\") ;=> [\"a\" \"b\"]";
                "empty?" => native(seq::empty_p, elements, measures), 1..1, Pure, "Whether there are no elements.", "(empty? []) ;=> true";
                "not-empty" => native(seq::not_empty, elements, keeps), 1..1, Pure, "The collection, or nil when it has no elements.", "(not-empty []) ;=> nil";
                "empty" => native(seq::empty, elements, keeps), 1..1, Pure, "An empty collection of the same kind.", "(empty {:a 1}) ;=> {}";
                "take" => native(slice::take, elements, keeps), 1..2, Pure, "The first n elements.", "(take 2 [5 6 7]) ;=> [5 6]";
                "drop" => native(slice::drop, elements, keeps), 1..2, Pure, "All but the first n elements.", "(drop 2 [5 6 7]) ;=> [7]";
                "take-last" => native(slice::take_last, elements, keeps), 2..2, Pure, "The last n elements; nil when that is none.", "(take-last 2 [5 6 7]) ;=> [6 7]";
                "drop-last" => native(slice::drop_last, elements, keeps), 1..2, Pure, "All but the last n elements, or the last one.", "(drop-last 2 [5 6 7]) ;=> [5]";
                "take-nth" => native(slice::take_nth, elements, keeps), 1..2, Pure, "Every n-th element, from the first on.", "(take-nth 2 [1 2 3 4 5]) ;=> [1 3 5]";
                "take-while" => core, 1..2, Pure, "Elements up to the first for which `pred` does not hold.", "(take-while pos? [1 2 -1 3]) ;=> [1 2]";
                "drop-while" => core, 1..2, Pure, "Elements from the first on for which `pred` does not hold.", "(drop-while pos? [1 2 -1 3]) ;=> [-1 3]";
                "nthrest" => native(slice::nthrest, elements, keeps), 2..2, Pure, "What is left after n elements.", "(nthrest [5 6 7] 1) ;=> [6 7]";
                "nthnext" => native(slice::nthnext, elements, keeps), 2..2, Pure, "What is left after n elements; nil when that is none.", "(nthnext [5 6 7] 3) ;=> nil";
                "split-at" => native(slice::split_at, elements, keeps), 2..2, Pure, "The first n elements and the rest.", "(split-at 1 [5 6 7]) ;=> [[5] [6 7]]";
                "split-with" => core, 2..2, Pure, "What `take-while` and `drop-while` give, as a pair.", "(split-with pos? [1 -1 2]) ;=> [[1] [-1 2]]";
                "partition" => native(slice::partition, elements, keeps), 2..4, Pure, "Chunks of n, by step; an incomplete last one only with padding.", "(partition 2 [1 2 3 4 5]) ;=> [[1 2] [3 4]]";
                "partition-all" => native(slice::partition_all, elements, keeps), 1..3, Pure, "Chunks of n, by step; the last may be short.", "(partition-all 2 [1 2 3]) ;=> [[1 2] [3]]";
                "partition-by" => core, 1..2, Pure, "Splits where the result of `f` changes.", "(partition-by odd? [1 3 2 5]) ;=> [[1 3] [2] [5]]";
                "map" => core, 1.., Pure, "The results of `f` on each element; with several collections, on their elements side by side.", "(map inc [1 2 3]) ;=> [2 3 4]";
                "mapv" => core, 2.., Pure, "The same as `map`: a vector.", "(mapv inc [1 2]) ;=> [2 3]";
                "mapcat" => core, 1.., Pure, "As `map`, with the results joined.", "(mapcat reverse [[1 2] [3 4]]) ;=> [2 1 4 3]";
                "map-indexed" => core, 1..2, Pure, "The results of `(f index element)`.", "(map-indexed vector [:a :b]) ;=> [[0 :a] [1 :b]]";
                "keep" => core, 1..2, Pure, "The results of `f` that are not nil.", "(keep :a [{:a 1} {}]) ;=> [1]";
                "keep-indexed" => core, 1..2, Pure, "The results of `(f index element)` that are not nil.", "(keep-indexed (fn [i x] (if (odd? i) x)) [5 6 7 8]) ;=> [6 8]";
                "filter" => core, 1..2, Pure, "The elements for which `pred` holds.", "(filter odd? [1 2 3]) ;=> [1 3]";
                "filterv" => core, 2..2, Pure, "The same as `filter`: a vector.", "(filterv odd? [1 2 3]) ;=> [1 3]";
                "remove" => core, 1..2, Pure, "The elements for which `pred` does not hold.", "(remove odd? [1 2 3]) ;=> [2]";
                "some" => core, 2..2, Pure, "The first result of `pred` that is true, or nil.", "(some #{2 3} [1 2 3]) ;=> 2";
                "every?" => core, 2..2, Pure, "Whether `pred` holds for all.", "(every? odd? [1 3]) ;=> true";
                "not-any?" => core, 2..2, Pure, "Whether `pred` holds for none.", "(not-any? odd? [2 4]) ;=> true";
                "not-every?" => core, 2..2, Pure, "Whether `pred` fails for some.", "(not-every? odd? [1 2]) ;=> true";
                "reduce" => core, 2..3, Pure, "Folds `f` over the elements, from the left.", "(reduce + 0 [1 2 3]) ;=> 6";
                "reduce-kv" => core, 3..3, Pure, "Folds `(f acc key value)` over a map, or a vector by index.", "(reduce-kv (fn [acc k v] (+ acc v)) 0 {:a 1 :b 2}) ;=> 3";
                "reductions" => core, 2..3, Pure, "The steps of `reduce`.", "(reductions + [1 2 3]) ;=> [1 3 6]";
                "reduced" => native(internal::reduced, elements, keeps_all), 1..1, Pure, "Ends the `reduce` whose function returns it, with this value.", "(reduce (fn [acc x] (if (> x 2) (reduced acc) (+ acc x))) 0 [1 2 3 4]) ;=> 3";
                "reduced?" => native(internal::reduced_p, elements, measures), 1..1, Pure, "Whether it is the result of `reduced`.", "(reduced? 1) ;=> false";
                "unreduced" => native(internal::unreduced, elements, keeps_all), 1..1, Pure, "The value inside the result of `reduced`; anything else as it is.", "(unreduced (reduced 1)) ;=> 1";
                "ensure-reduced" => core, 1..1, Pure, "The result of `reduced`, unless it is one already.", "(unreduced (ensure-reduced 1)) ;=> 1";
                "run!" => core, 2..2, Pure, "Calls `f` with each element for its effects; nil.", "(run! println [1 2]) ;=> nil";
                "sort" => core, 1..2, Pure, "The elements in order, or in the order of a comparator.", "(sort [3 1 2]) ;=> [1 2 3]";
                "sort-by" => core, 2..3, Pure, "The elements in the order of their keys.", "(sort-by count [\"aa\" \"b\"]) ;=> [\"b\" \"aa\"]";
                "group-by" => core, 2..2, Pure, "A map from key to the elements that have it.", "(group-by odd? [1 2 3]) ;=> {true [1 3] false [2]}";
                "frequencies" => native(tally::frequencies, elements, keeps), 1..1, Pure, "A map from element to how often it occurs.", "(frequencies [:a :b :a]) ;=> {:a 2 :b 1}";
                "distinct" => native(tally::distinct, elements, keeps), 0..1, Pure, "Each element once, in order of first appearance.", "(distinct [1 2 1]) ;=> [1 2]";
                "distinct-by" => core, 2..2, Pure, "The first element for each key.", "(distinct-by :a [{:a 1} {:a 1 :b 2} {:a 2}]) ;=> [{:a 1} {:a 2}]";
                "dedupe" => native(tally::dedupe, elements, keeps), 0..1, Pure, "Without repeats of the element before.", "(dedupe [1 1 2 1]) ;=> [1 2 1]";
                "concat" => native(build::concat, elements, keeps), 0.., Pure, "The elements of all, one after the other.", "(concat [1] [2 3]) ;=> [1 2 3]";
                "cons" => native(build::cons, elements, keeps_first), 2..2, Pure, "With an element in front.", "(cons 1 [2 3]) ;=> [1 2 3]";
                "conj" => native(seq::conj, elements, keeps_after_first), 0.., Pure, inline Conj, "Adds to a vector's end, to a set, or a pair to a map.", "(conj [1] 2 3) ;=> [1 2 3]";
                "into" => core, 0..3, Pure, "Adds every element of the second collection to the first.", "(into [1] [2 3]) ;=> [1 2 3]";
                "reverse" => native(build::reverse, elements, keeps), 1..1, Pure, "The elements from last to first.", "(reverse [1 2 3]) ;=> [3 2 1]";
                "rseq" => native(build::rseq, elements, keeps), 1..1, Pure, "The elements from last to first; nil when there are none.", "(rseq [1 2 3]) ;=> [3 2 1]";
                "interleave" => native(build::interleave, elements, keeps), 0.., Pure, "Elements of all in turn, up to the shortest.", "(interleave [1 2] [:a :b]) ;=> [1 :a 2 :b]";
                "interpose" => native(build::interpose, elements, keeps_first), 1..2, Pure, "With a separator between elements.", "(interpose 0 [1 2]) ;=> [1 0 2]";
                "flatten" => native(build::flatten, elements), 1..1, Pure, "The elements of nested vectors, without the nesting.", "(flatten [1 [2 [3]]]) ;=> [1 2 3]";
                "zipmap" => native(build::zipmap, elements, keeps), 2..2, Pure, "A map of keys and values side by side.", "(zipmap [:a :b] [1 2]) ;=> {:a 1 :b 2}";
                "zip" => native(build::zip, elements, keeps), 2..2, Pure, "Pairs of elements side by side.", "(zip [1 2] [:a :b]) ;=> [[1 :a] [2 :b]]";
                "range" => native(build::range, elements), 0..3, Pure, "Numbers from start (0) up to, not including, end; without arguments all of them.", "(range 1 7 2) ;=> [1 3 5]";
                "repeat" => native(build::repeat, elements, keeps_last), 1..2, Pure, "The same value n times, or without end.", "(repeat 3 :a) ;=> [:a :a :a]";
                "repeatedly" => core, 1..2, Pure, "The results of n calls of `f`, or of calls without end.", "(repeatedly 2 (fn [] 7)) ;=> [7 7]";
                "cycle" => core, 1..1, Pure, "The elements over and over, without end.", "(take 5 (cycle [1 2])) ;=> [1 2 1 2 1]";
                "iterate" => core, 2..2, Pure, "`x`, `(f x)`, `(f (f x))` and so on, without end.", "(take 4 (iterate (fn [x] (* 2 x)) 1)) ;=> [1 2 4 8]";
                "combinations" => native(build::combinations, elements, keeps), 2..2, Pure, "All selections of n elements, in order.", "(combinations [1 2 3] 2) ;=> [[1 2] [1 3] [2 3]]";
                "vector" => native(seq::vector, elements, keeps_all), 0.., Pure, "A vector of its arguments.", "(vector 1 2) ;=> [1 2]";
                "list" => native(seq::vector, elements, keeps_all), 0.., Pure, "A vector of its arguments: the only sequential type.", "(list 1 2) ;=> [1 2]";
                "list*" => native(build::list_star, elements, keeps_before_last), 1.., Pure, "A vector of its arguments, the last of them spread.", "(list* 1 2 [3 4]) ;=> [1 2 3 4]";
                "vec" => native(seq::vec, elements, keeps), 1..1, Pure, "The elements as a vector.", "(vec #{1}) ;=> [1]";
                "doall" => native(compare::identity, constant, keeps_all), 1..1, Pure, "Its argument: nothing is left to be done.", "(doall (map inc [1])) ;=> [2]";
                "dorun" => native(seq::dorun, elements, keeps), 1..1, Pure, "nil: nothing is left to be done.", "(dorun (map inc [1])) ;=> nil";
                "sequence" => core, 1..2, Pure, "The elements as a vector, through a transducer if given.", "(sequence (map inc) [1 2]) ;=> [2 3]";
                "transduce" => core, 3..4, Pure, "`reduce` with a transducer around the function.", "(transduce (map inc) + 0 [1 2]) ;=> 5";
                "completing" => core, 1..2, Pure, "A reducing function with a last step, for `transduce`.", "(transduce (map inc) (completing +) 0 [1 2]) ;=> 5";
                "cat" => core, 1..1, Pure, "A transducer that joins the elements of elements.", "(into [] cat [[1] [2 3]]) ;=> [1 2 3]";
                "eduction" => core, 2..2, Pure, "The same as `sequence` with a transducer.", "(eduction (map inc) [1 2]) ;=> [2 3]";
            }
            section "Aggregates" {
                "sum" => native(tally::sum, elements), 1..1, Pure, "Sum of the elements; nil is skipped.", "(sum [1 nil 2]) ;=> 3";
                "avg" => native(tally::avg, elements), 1..1, Pure, "Mean of the elements as a float; nil is skipped; nil if there are no elements.", "(avg [1 2]) ;=> 1.5";
                "sum-by" => core, 2..2, Pure, "Sum of what `key`, a key or a function, gives for each element; nil is skipped.", "(sum-by :n [{:n 1} {:n 2}]) ;=> 3";
                "avg-by" => core, 2..2, Pure, "Mean of what `key`, a key or a function, gives for each element, as a float; nil is skipped.", "(avg-by :n [{:n 1} {:n 2}]) ;=> 1.5";
                "min-by" => core, 2.., Pure, "The element with the least key; those with a nil key are ignored.", "(min-by :n [{:n 2} {:n 1}]) ;=> {:n 1}";
                "max-by" => core, 2.., Pure, "The element with the greatest key; those with a nil key are ignored.", "(max-by :n [{:n 2} {:n 1}]) ;=> {:n 2}";
                "min-key" => core, 2.., Pure, "The argument for which `f` is least; the last one if several are equal.", "(min-key count \"aa\" \"b\") ;=> \"b\"";
                "max-key" => core, 2.., Pure, "The argument for which `f` is greatest; the last one if several are equal.", "(max-key count \"aa\" \"b\") ;=> \"aa\"";
            }
            section "Maps" {
                "get" => native(map::get, elements, keyed), 2..3, Pure, inline Get, "The value at a key, else nil or the default.", "(get {:a 1} :a) ;=> 1";
                "get-in" => native(path::get_in, elements, keyed), 2..3, Pure, "The value at a path of keys, else nil or the default.", "(get-in {:a [{:b 1}]} [:a 0 :b]) ;=> 1";
                "assoc" => native(map::assoc, elements, keeps_after_first), 1.., Pure, inline Assoc, "Sets keys of a map or indexes of a vector.", "(assoc {:a 1} :b 2) ;=> {:a 1 :b 2}";
                "assoc-in" => native(path::assoc_in, elements, keyed), 3..3, Pure, "Sets the value at a path of keys.", "(assoc-in {} [:a :b] 1) ;=> {:a {:b 1}}";
                "update" => core, 3.., Pure, "Replaces the value at a key by `(f value args…)`.", "(update {:a 1} :a inc) ;=> {:a 2}";
                "update-in" => core, 3.., Pure, "Replaces the value at a path of keys by `(f value args…)`.", "(update-in {:a {:b 1}} [:a :b] + 10) ;=> {:a {:b 11}}";
                "update-vals" => core, 2..2, Pure, "Replaces each value by `(f value)`.", "(update-vals {:a 1} inc) ;=> {:a 2}";
                "update-keys" => core, 2..2, Pure, "Replaces each key by `(f key)`.", "(update-keys {:a 1} name) ;=> {\"a\" 1}";
                "dissoc" => native(map::dissoc, elements, keeps), 1.., Pure, "The map without these keys.", "(dissoc {:a 1 :b 2} :a) ;=> {:b 2}";
                "merge" => native(map::merge, elements, keeps), 0.., Pure, "One map with the entries of all maps; later maps win.", "(merge {:a 1} {:a 2 :b 3}) ;=> {:a 2 :b 3}";
                "merge-with" => core, 1.., Pure, "As `merge`, with `(f old new)` where a key occurs again.", "(merge-with + {:a 1} {:a 2}) ;=> {:a 3}";
                "select-keys" => native(map::select_keys, elements, keyed), 2..2, Pure, "The map with only these keys.", "(select-keys {:a 1 :b 2} [:a]) ;=> {:a 1}";
                "rename-keys" => native(map::rename_keys, elements, keyed), 2..2, Pure, "The map with keys replaced as a second map says.", "(rename-keys {:a 1} {:a :b}) ;=> {:b 1}";
                "contains?" => native(map::contains_p, elements, measures), 2..2, Pure, "Whether a map has the key, or a set or vector the member.", "(contains? {:a nil} :a) ;=> true";
                "find" => native(map::find, elements, keyed), 2..2, Pure, "The pair of key and value, or nil.", "(find {:a 1} :a) ;=> [:a 1]";
                "key" => native(map::key, elements, keeps), 1..1, Pure, "The first of a pair.", "(key [:a 1]) ;=> :a";
                "val" => native(map::val, elements, keeps), 1..1, Pure, "The second of a pair.", "(val [:a 1]) ;=> 1";
                "keys" => native(map::keys, elements, keeps), 1..1, Pure, "The keys of a map, nil if it has none.", "(keys {:a 1}) ;=> [:a]";
                "vals" => native(map::vals, elements, keeps), 1..1, Pure, "The values of a map, nil if it has none.", "(vals {:a 1}) ;=> [1]";
                "entries" => native(map::entries, elements, keeps), 1..1, Pure, "The pairs of a map.", "(entries {:a 1}) ;=> [[:a 1]]";
                "hash-map" => native(map::hash_map, elements, keeps_all), 0.., Pure, "A map from keys and values in turn.", "(hash-map :a 1) ;=> {:a 1}";
                "array-map" => native(map::hash_map, elements, keeps_all), 0.., Pure, "A map from keys and values in turn.", "(array-map :a 1) ;=> {:a 1}";
                "sorted-map" => native(sorted::sorted_map, elements, keeps_all), 0.., Pure, "A map from keys and values in turn that stays in the order of its keys.", "(assoc (sorted-map :b 1) :a 2) ;=> {:a 2 :b 1}";
                "sorted-map-by" => native(sorted::sorted_map_by, elements, keeps_all), 1.., Pure, "A sorted map in the order of `<` or `>`.", "(sorted-map-by > 1 :a 2 :b) ;=> {2 :b 1 :a}";
                "map-invert" => native(map::map_invert, elements, keeps), 1..1, Pure, "A map from values to keys.", "(map-invert {:a 1}) ;=> {1 :a}";
            }
            section "Sets" {
                "hash-set" => native(set::hash_set, elements, keeps_all), 0.., Pure, "A set of its arguments.", "(hash-set 1 1) ;=> #{1}";
                "sorted-set" => native(sorted::sorted_set, elements, keeps_all), 0.., Pure, "A set of its arguments that stays in order.", "(conj (sorted-set 3 1) 2) ;=> #{1 2 3}";
                "sorted-set-by" => native(sorted::sorted_set_by, elements, keeps_all), 1.., Pure, "A sorted set in the order of `<` or `>`.", "(sorted-set-by > 1 2 3) ;=> #{3 2 1}";
                "subseq" => native(sorted::subseq, elements, keeps), 3..5, Pure, "The entries of a sorted collection whose keys pass a test, or two.", "(subseq (sorted-set 1 2 3 4) > 2) ;=> [3 4]";
                "rsubseq" => native(sorted::rsubseq, elements, keeps), 3..5, Pure, "As `subseq`, from last to first.", "(rsubseq (sorted-set 1 2 3 4) >= 1 < 3) ;=> [2 1]";
                "set" => native(set::set, elements, keeps), 1..1, Pure, "The elements as a set.", "(set [1 1 2]) ;=> #{1 2}";
                "disj" => native(set::disj, elements, keeps), 1.., Pure, "The set without these members.", "(disj #{1 2} 1) ;=> #{2}";
                "union" => native(set::union, elements, keeps), 0.., Pure, "Members of any.", "(union #{1} #{2}) ;=> #{1 2}";
                "intersection" => native(set::intersection, elements, keeps), 1.., Pure, "Members of all.", "(intersection #{1 2} #{2 3}) ;=> #{2}";
                "difference" => native(set::difference, elements, keeps), 1.., Pure, "Members of the first that are in no other.", "(difference #{1 2} #{2 3}) ;=> #{1}";
                "subset?" => native(set::subset_p, elements, measures), 2..2, Pure, "Whether the second has all members of the first.", "(subset? #{1} #{1 2}) ;=> true";
                "superset?" => native(set::superset_p, elements, measures), 2..2, Pure, "Whether the first has all members of the second.", "(superset? #{1 2} #{1}) ;=> true";
                "set/select" => core, 2..2, Pure, "The members for which `pred` holds.", "(set/select odd? #{1 2}) ;=> #{1}";
                "set/project" => core, 2..2, Pure, "A set of maps with only these keys.", "(set/project #{{:a 1 :b 2}} [:a]) ;=> #{{:a 1}}";
                "set/rename" => core, 2..2, Pure, "A set of maps with keys replaced as a map says.", "(set/rename #{{:a 1}} {:a :b}) ;=> #{{:b 1}}";
                "set/index" => core, 2..2, Pure, "A map from the values of these keys to the maps that have them.", "(set/index #{{:a 1 :b 2}} [:a]) ;=> {{:a 1} #{{:a 1 :b 2}}}";
                "set/join" => core, 2..3, Pure, "Joins the maps of two sets that agree in their common keys, or in the pairs of keys that a map gives.", "(set/join #{{:a 1}} #{{:a 1 :b 2}}) ;=> #{{:a 1 :b 2}}";
            }
            section "Functions" {
                "apply" => core, 2.., Pure, "Calls `f` with the elements of the last argument as further arguments.", "(apply + 1 [2 3]) ;=> 6";
                "comp" => core, 0.., Pure, "A function that applies the last first.", "((comp inc abs) -5) ;=> 6";
                "partial" => core, 1.., Pure, "A function with its first arguments given.", "((partial + 10) 1) ;=> 11";
                "complement" => core, 1..1, Pure, "A function that returns the opposite.", "((complement odd?) 2) ;=> true";
                "constantly" => core, 1..1, Pure, "A function that always gives this value.", "((constantly 7) 1 2) ;=> 7";
                "juxt" => core, 1.., Pure, "A function that gives the results of all functions as a vector.", "((juxt inc dec) 5) ;=> [6 4]";
                "fnil" => core, 2..4, Pure, "A function that takes a default for a nil argument.", "((fnil inc 0) nil) ;=> 1";
                "every-pred" => core, 1.., Pure, "A function: whether all predicates hold for all arguments.", "((every-pred odd? pos?) 3 5) ;=> true";
                "some-fn" => core, 1.., Pure, "A function: the first true result of any predicate on any argument.", "((some-fn :a :b) {:b 2}) ;=> 2";
                "memoize" => core, 1..1, Pure, "The function, called once for each list of arguments.", "((memoize inc) 1) ;=> 2";
                "trampoline" => core, 1.., Pure, "Calls a function, then what it returns, until that is not a function.", "(trampoline (fn [] (fn [] 5))) ;=> 5";
                "comparator" => core, 1..1, Pure, "A comparator from a predicate that says whether one value is before another.", "(sort (comparator >) [1 3 2]) ;=> [3 2 1]";
            }
            section "Atoms" {
                "atom" => native(atom::atom, constant, keeps_all), 1..1, State, "A place that holds a value and can be changed; it lasts for this program.", "(let [n (atom 0)] (doseq [x [1 2 3]] (swap! n + x)) @n) ;=> 6";
                "deref" => native(atom::deref, constant, keeps_all), 1..1, State, "The value of an atom or a volatile; `@a` is the same.", "(deref (atom 5)) ;=> 5";
                "reset!" => native(atom::reset, constant, keeps_all), 2..2, State, "Sets an atom to a value and returns the value.", "(let [a (atom 1)] [(reset! a 2) @a]) ;=> [2 2]";
                "swap!" => core, 2.., State, "Sets an atom to `(f value args…)` and returns the new value.", "(let [a (atom {})] (swap! a assoc :k 1)) ;=> {:k 1}";
                "compare-and-set!" => core, 3..3, State, "Sets an atom if it holds the old value; returns whether it did.", "(let [a (atom 1)] [(compare-and-set! a 1 2) (compare-and-set! a 1 3) @a]) ;=> [true false 2]";
                "swap-vals!" => core, 2.., State, "As `swap!`, but returns the values before and after.", "(swap-vals! (atom 1) inc) ;=> [1 2]";
                "reset-vals!" => core, 2..2, State, "As `reset!`, but returns the values before and after.", "(reset-vals! (atom 1) 5) ;=> [1 5]";
                "volatile!" => native(atom::volatile, constant, keeps_all), 1..1, State, "As `atom`, to be changed with `vreset!` and `vswap!`.", "@(volatile! 1) ;=> 1";
                "volatile?" => native(atom::volatile_p, constant, measures), 1..1, Pure, "Whether it was made by `volatile!`.", "(volatile? (atom 1)) ;=> false";
                "vreset!" => native(atom::vreset, constant, keeps_all), 2..2, State, "Sets a volatile to a value and returns the value.", "(let [v (volatile! 1)] (vreset! v 2) @v) ;=> 2";
                "vswap!" => core, 2.., State, "Sets a volatile to `(f value args…)` and returns the new value.", "(vswap! (volatile! 1) + 2 3) ;=> 6";
                "transient" => native(transient::transient, constant, keeps_all), 1..1, State, "A vector, map or set that `conj!` and similar functions change, until `persistent!`. `conj` and `assoc` are as fast if nothing else holds the collection.", "(persistent! (reduce conj! (transient []) [1 2])) ;=> [1 2]";
                "persistent!" => native(transient::persistent, constant, keeps_all), 1..1, State, "The collection that a transient holds; the transient is used up.", "(persistent! (transient #{1})) ;=> #{1}";
                "conj!" => native(transient::conj, constant, keeps_all), 0..2, State, "As `conj`, for a transient; returns the transient.", "(persistent! (conj! (transient [1]) 2)) ;=> [1 2]";
                "assoc!" => native(transient::assoc, constant, keeps_all), 3.., State, "As `assoc`, for a transient; returns the transient.", "(persistent! (assoc! (transient {}) :a 1)) ;=> {:a 1}";
                "dissoc!" => native(transient::dissoc, constant, keeps_all), 2.., State, "As `dissoc`, for a transient; returns the transient.", "(persistent! (dissoc! (transient {:a 1 :b 2}) :a)) ;=> {:b 2}";
                "disj!" => native(transient::disj, constant, keeps_all), 2.., State, "As `disj`, for a transient; returns the transient.", "(persistent! (disj! (transient #{1 2}) 1)) ;=> #{2}";
                "pop!" => native(transient::pop, constant, keeps_all), 1..1, State, "As `pop`, for a transient; returns the transient.", "(persistent! (pop! (transient [1 2]))) ;=> [1]";
            }
            section "Text" {
                "str" => native(text::str, own), 0.., Pure, "The text of its arguments side by side; nil is empty.", "(str \"a\" 1 :k) ;=> \"a1:k\"";
                "pr-str" => native(text::pr_str, own), 0.., Pure, "The readable form of its arguments.", "(pr-str \"a\") ;=> \"\\\"a\\\"\"";
                "prn-str" => native(text::prn_str, own), 0.., Pure, "As `pr-str`, with a line break at the end.", "(prn-str 1) ;=> \"1\\n\"";
                "println" => native(text::println, own, keeps_all), 0.., Prints, "Prints its arguments as one entry and returns nil.", "(println \"hi\" 1) ;=> nil";
                "prn" => native(text::prn, own, keeps_all), 0.., Prints, "Prints the readable form of its arguments and returns nil.", "(prn \"hi\") ;=> nil";
                "name" => native(text::name, bytes), 1..1, Pure, "The text of a keyword or string.", "(name :a) ;=> \"a\"";
                "namespace" => native(text::namespace, bytes), 1..1, Pure, "The part of a keyword before the slash, or nil.", "(namespace :a/b) ;=> \"a\"";
                "keyword" => native(text::keyword, bytes), 1..2, Pure, "The keyword of this name.", "(keyword \"a\") ;=> :a";
                "char" => native(text::char, bytes), 1..1, Pure, "The character of a code point.", "(char 97) ;=> \"a\"";
                "subs" => native(string::subs, bytes), 2..3, Pure, "The part of a string from start up to end, clamped.", "(subs \"hello\" 1 3) ;=> \"el\"";
                "join" => native(string::join, elements), 1..2, Pure, "The text of all elements, with a separator between them.", "(join \", \" [1 2]) ;=> \"1, 2\"";
                "split" => native(string::split, pattern), 2..3, Pure, "The pieces between separators; empty ones at the end are dropped.", "(split \"a,b\" \",\") ;=> [\"a\" \"b\"]";
                "str/re-quote-replacement" => native(string::re_quote_replacement, bytes), 1..1, Pure, "A replacement for a pattern that is used literally: `\\` and `$` have no special meaning in it.", "(replace \"a1\" #\"\\d\" (str/re-quote-replacement \"$0\")) ;=> \"a$0\"";
                "str/reverse" => native(string::reverse, bytes), 1..1, Pure, "The characters of a string from last to first.", "(str/reverse \"abc\") ;=> \"cba\"";
                "split-lines" => native(string::split_lines, bytes), 1..1, Pure, "The lines of a text.", "(split-lines \"a\\nb\") ;=> [\"a\" \"b\"]";
                "trim" => native(string::trim, bytes), 1..1, Pure, "Without blanks at both ends.", "(trim \" a \") ;=> \"a\"";
                "triml" => native(string::triml, bytes), 1..1, Pure, "Without blanks at the start.", "(triml \" a \") ;=> \"a \"";
                "trimr" => native(string::trimr, bytes), 1..1, Pure, "Without blanks at the end.", "(trimr \" a \") ;=> \" a\"";
                "trim-newline" => native(string::trim_newline, bytes), 1..1, Pure, "Without line breaks at the end.", "(trim-newline \"a\\n\") ;=> \"a\"";
                "blank?" => native(string::blank_p, bytes), 1..1, Pure, "Whether it is nil, empty or all blanks.", "(blank? \" \") ;=> true";
                "upper-case" => native(string::upper_case, bytes), 1..1, Pure, "In upper case.", "(upper-case \"aB\") ;=> \"AB\"";
                "upcase" => native(string::upper_case, bytes), 1..1, Pure, "The same as `upper-case`.", "(upcase \"a\") ;=> \"A\"";
                "lower-case" => native(string::lower_case, bytes), 1..1, Pure, "In lower case.", "(lower-case \"aB\") ;=> \"ab\"";
                "downcase" => native(string::lower_case, bytes), 1..1, Pure, "The same as `lower-case`.", "(downcase \"A\") ;=> \"a\"";
                "capitalize" => native(string::capitalize, bytes), 1..1, Pure, "The first character a capital, the others small.", "(capitalize \"aBC\") ;=> \"Abc\"";
                "starts-with?" => native(string::starts_with_p, bytes), 2..2, Pure, "Whether a string begins with another.", "(starts-with? \"abc\" \"ab\") ;=> true";
                "ends-with?" => native(string::ends_with_p, bytes), 2..2, Pure, "Whether a string ends with another.", "(ends-with? \"abc\" \"bc\") ;=> true";
                "includes?" => native(string::includes_p, bytes), 2..2, Pure, "Whether a string contains another.", "(includes? \"abc\" \"b\") ;=> true";
                "index-of" => native(search::index_of, bytes), 2..3, Pure, "Where a string first contains another, or nil.", "(index-of \"abcb\" \"b\") ;=> 1";
                "last-index-of" => native(search::last_index_of, bytes), 2..3, Pure, "Where a string last contains another, or nil.", "(last-index-of \"abcb\" \"b\") ;=> 3";
                "replace" => core, 1..3, Pure, "A string with every match replaced; or a collection with elements looked up in a map.", "(replace \"a-b\" \"-\" \"+\") ;=> \"a+b\"";
                "replace-first" => core, 3..3, Pure, "A string with the first match replaced.", "(replace-first \"a-b-c\" \"-\" \"+\") ;=> \"a+b-c\"";
                "escape" => core, 2..2, Pure, "A string with characters replaced as a map or function says.", "(escape \"a<b\" {\\< \"&lt;\"}) ;=> \"a&lt;b\"";
                "format" => native(format::format, own), 1.., Pure, "Text with `%s`, `%d`, `%.2f` and the like filled in.", "(format \"%s: %.2f\" \"a\" 1.005) ;=> \"a: 1.01\"";
                "parse-long" => native(parse::parse_long, constant), 1..1, Pure, "The integer a string spells, or nil.", "(parse-long \"42\") ;=> 42";
                "parse-int" => native(parse::parse_long, constant), 1..1, Pure, "The same as `parse-long`.", "(parse-int \"x\") ;=> nil";
                "parse-double" => native(parse::parse_double, constant), 1..1, Pure, "The float a string spells, or nil.", "(parse-double \"1.5\") ;=> 1.5";
                "parse-boolean" => native(parse::parse_boolean, constant), 1..1, Pure, "true or false as a string spells it, or nil.", "(parse-boolean \"true\") ;=> true";
                "parse-uuid" => native(parse::parse_uuid, constant), 1..1, Pure, "The UUID a string spells, as text in lower case, or nil.", "(parse-uuid \"x\") ;=> nil";
            }
            section "Patterns" {
                "re-pattern" => native(regex::re_pattern, pattern), 1..1, Pure, "A pattern from text.", "(re-find (re-pattern \"b+\") \"abb\") ;=> \"bb\"";
                "re-find" => native(regex::re_find, pattern), 2..2, Pure, "The first match, or nil; if the pattern has groups, a vector of the match and its groups.", "(re-find #\"a(.)\" \"xab\") ;=> [\"ab\" \"b\"]";
                "re-matches" => native(regex::re_matches, pattern), 2..2, Pure, "The match of the whole text, or nil.", "(re-matches #\"a+\" \"aab\") ;=> nil";
                "re-seq" => native(regex::re_seq, pattern), 2..2, Pure, "All matches, or nil.", "(re-seq #\"\\d\" \"a1b2\") ;=> [\"1\" \"2\"]";
                "re-split" => native(regex::re_split, pattern), 2..2, Pure, "The pieces of a text between matches.", "(re-split #\",\" \"a,b\") ;=> [\"a\" \"b\"]";
                "extract" => native(regex::extract, pattern), 2..3, Pure, "A group of the first match, by default the first group; or nil.", "(extract \"id=(\\\\d+)\" \"id=7\") ;=> \"7\"";
                "extract-int" => native(regex::extract_int, pattern), 2..4, Pure, "As `extract`, as an integer; else nil or the default.", "(extract-int \"id=(\\\\d+)\" \"id=7\") ;=> 7";
            }
            section "Trees" {
                "walk" => core, 3..3, Pure, "Rebuilds a collection with `inner` on each part and `outer` on the whole.", "(walk inc sum [1 2]) ;=> 5";
                "prewalk" => core, 2..2, Pure, "Replaces every part of nested data by `(f part)`, from the outside in.", "(prewalk (fn [x] (if (number? x) (inc x) x)) [1 [2]]) ;=> [2 [3]]";
                "postwalk" => core, 2..2, Pure, "Replaces every part of nested data by `(f part)`, from the inside out.", "(postwalk (fn [x] (if (number? x) (inc x) x)) [1 [2]]) ;=> [2 [3]]";
                "tree-seq" => core, 3..3, Pure, "All nodes of a tree, depth first.", "(tree-seq vector? identity [1 [2]]) ;=> [[1 [2]] 1 [2] 2]";
                "keywordize-keys" => core, 1..1, Pure, "String keys of nested maps as keywords.", "(keywordize-keys {\"a\" {\"b\" 1}}) ;=> {:a {:b 1}}";
                "stringify-keys" => core, 1..1, Pure, "Keyword keys of nested maps as strings.", "(stringify-keys {:a {:b 1}}) ;=> {\"a\" {\"b\" 1}}";
                "postwalk-replace" => core, 2..2, Pure, "Replaces parts of nested data that are keys of a map, from the inside out.", "(postwalk-replace {1 :one} [1 2]) ;=> [:one 2]";
                "prewalk-replace" => core, 2..2, Pure, "Replaces parts of nested data that are keys of a map, from the outside in.", "(prewalk-replace {1 :one} [1 2]) ;=> [:one 2]";
            }
            section "Math" {
                "Math/log" => native(math::log, operands), 1..1, Pure, "Natural logarithm.", "(Math/log 1) ;=> 0.0";
                "Math/log10" => native(math::log10, operands), 1..1, Pure, "Logarithm to base 10.", "(Math/log10 1000) ;=> 3.0";
                "Math/log1p" => native(math::log1p, operands), 1..1, Pure, "Natural logarithm of one more.", "(Math/log1p 0) ;=> 0.0";
                "Math/exp" => native(math::exp, operands), 1..1, Pure, "e to the power of x.", "(Math/exp 0) ;=> 1.0";
                "Math/expm1" => native(math::expm1, operands), 1..1, Pure, "One less than e to the power of x.", "(Math/expm1 0) ;=> 0.0";
                "Math/sin" => native(math::sin, operands), 1..1, Pure, "Sine of an angle in radians.", "(Math/sin 0) ;=> 0.0";
                "Math/cos" => native(math::cos, operands), 1..1, Pure, "Cosine of an angle in radians.", "(Math/cos 0) ;=> 1.0";
                "Math/tan" => native(math::tan, operands), 1..1, Pure, "Tangent of an angle in radians.", "(Math/tan 0) ;=> 0.0";
                "Math/asin" => native(math::asin, operands), 1..1, Pure, "The angle with this sine.", "(Math/asin 0) ;=> 0.0";
                "Math/acos" => native(math::acos, operands), 1..1, Pure, "The angle with this cosine.", "(Math/acos 1) ;=> 0.0";
                "Math/atan" => native(math::atan, operands), 1..1, Pure, "The angle with this tangent.", "(Math/atan 0) ;=> 0.0";
                "Math/atan2" => native(math::atan2, operands), 2..2, Pure, "The angle of the point (x, y), given as y and x.", "(Math/atan2 0 1) ;=> 0.0";
                "Math/sinh" => native(math::sinh, operands), 1..1, Pure, "Hyperbolic sine.", "(Math/sinh 0) ;=> 0.0";
                "Math/cosh" => native(math::cosh, operands), 1..1, Pure, "Hyperbolic cosine.", "(Math/cosh 0) ;=> 1.0";
                "Math/tanh" => native(math::tanh, operands), 1..1, Pure, "Hyperbolic tangent.", "(Math/tanh 0) ;=> 0.0";
                "Math/cbrt" => native(math::cbrt, operands), 1..1, Pure, "Cube root.", "(Math/cbrt 27) ;=> 3.0";
                "Math/hypot" => native(math::hypot, operands), 2..2, Pure, "Length of the hypotenuse over two sides.", "(Math/hypot 3 4) ;=> 5.0";
                "Math/signum" => native(math::signum, operands), 1..1, Pure, "-1.0, 0.0 or 1.0 by the sign.", "(Math/signum -7) ;=> -1.0";
                "Math/copySign" => native(math::copy_sign, operands), 2..2, Pure, "The first number with the sign of the second.", "(Math/copySign 2 -1) ;=> -2.0";
                "Math/toRadians" => native(math::to_radians, operands), 1..1, Pure, "Degrees as radians.", "(Math/toRadians 180) ;=> 3.141592653589793";
                "Math/toDegrees" => native(math::to_degrees, operands), 1..1, Pure, "Radians as degrees.", "(Math/toDegrees Math/PI) ;=> 180.0";
                "Math/rint" => native(math::rint, operands), 1..1, Pure, "The nearest whole float; halves go to the even one.", "(Math/rint 2.5) ;=> 2.0";
                "Math/nextUp" => native(math::next_up, operands), 1..1, Pure, "The next float above.", "(< 1.0 (Math/nextUp 1.0)) ;=> true";
                "Math/nextDown" => native(math::next_down, operands), 1..1, Pure, "The next float below.", "(< (Math/nextDown 1.0) 1.0) ;=> true";
                "Math/floorDiv" => native(math::floor_div, operands), 2..2, Pure, "Quotient of integers, cut toward negative infinity.", "(Math/floorDiv -7 2) ;=> -4";
                "Math/floorMod" => native(math::floor_mod, operands), 2..2, Pure, "Modulus of integers with the sign of the divisor.", "(Math/floorMod -7 2) ;=> 1";
                "Math/ceilDiv" => native(math::ceil_div, operands), 2..2, Pure, "Quotient of integers, cut toward positive infinity.", "(Math/ceilDiv 7 2) ;=> 4";
                "Math/clamp" => native(math::clamp, operands), 3..3, Pure, "A number kept between two others.", "(Math/clamp 15 0 10) ;=> 10";
            }
            section "JSON" {
                "json/parse-string" => native(json::parse_string, own), 1..2, Pure, "The value of JSON text, or nil if the text is not valid JSON; keys are strings, or keywords if the second argument is true.", "(json/parse-string \"{\\\"a\\\": [1, null]}\") ;=> {\"a\" [1 nil]}";
                "json/parse-lines" => native(json::parse_lines, own), 1..2, Pure, "A vector of the values of JSON lines; nil for a line that is not valid JSON.", "(json/parse-lines \"1\\n[2]\\nx\") ;=> [1 [2] nil]";
                "json/generate-string" => native(json::generate_string, own), 1..2, Pure, "Compact JSON text, indented with {:pretty true}; nil if JSON has no form for the value.", "(json/generate-string {:a [1 nil]}) ;=> \"{\\\"a\\\":[1,null]}\"";
                "json/read-str" => native(json::read_str, own), 1.., Pure, "As `json/parse-string`, with options: `:key-fn keyword`.", "(json/read-str \"{\\\"a\\\": 1}\" :key-fn keyword) ;=> {:a 1}";
                "json/write-str" => native(json::write_str, own), 1.., Pure, "As `json/generate-string`, with options: `:indent true`.", "(json/write-str [1 2]) ;=> \"[1,2]\"";
            }
            section "Dates" {
                "parse" => native(date::parse, bytes), 1..2, Pure, "A date from `2024-05-01`, a datetime from text with a time, in UTC unless it has an offset; other text by a pattern such as `\"dd/MM/yyyy\"`.", "(str (parse \"2024-05-01T08:00:00+02:00\")) ;=> \"2024-05-01T06:00:00Z\"";
                "java.util.Date." => native(date::new_date, bytes), 0..1, Clock, "A datetime: now, or from milliseconds or text.", "(.getTime (java.util.Date. \"1970-01-01T00:00:01Z\")) ;=> 1000";
                "currentTimeMillis" => native(date::current_time_millis, constant), 0..0, Clock, "The time now, in milliseconds since 1970.", "(pos? (currentTimeMillis)) ;=> true";
                "Instant/now" => native(date::instant_now, constant), 0..0, Clock, "The datetime now.", "(.isAfter (Instant/now) (parse \"2020-01-01T00:00:00Z\")) ;=> true";
                "LocalDate/now" => native(date::day_now, constant), 0..0, Clock, "The date now, in UTC.", "(.isAfter (LocalDate/now) (parse \"2020-01-01\")) ;=> true";
                "LocalDate/of" => native(date::day_of, constant), 3..3, Pure, "The date of a year, a month and a day.", "(str (LocalDate/of 2024 5 1)) ;=> \"2024-05-01\"";
                "LocalDate/ofEpochDay" => native(date::of_epoch_day, constant), 1..1, Pure, "The date that many days after 1970-01-01.", "(str (LocalDate/ofEpochDay 1)) ;=> \"1970-01-02\"";
                "Instant/ofEpochMilli" => native(date::of_epoch_milli, constant), 1..1, Pure, "The datetime that many milliseconds after 1970.", "(str (Instant/ofEpochMilli 1000)) ;=> \"1970-01-01T00:00:01Z\"";
                "Instant/ofEpochSecond" => native(date::of_epoch_second, constant), 1..1, Pure, "The datetime that many seconds after 1970.", "(str (Instant/ofEpochSecond 60)) ;=> \"1970-01-01T00:01:00Z\"";
                "inst-ms" => native(date::inst_ms, constant), 1..1, Pure, "Milliseconds since 1970 of a datetime.", "(inst-ms #inst \"1970-01-01T00:00:01Z\") ;=> 1000";
                "inst?" => native(predicate::inst_p, constant, measures), 1..1, Pure, "Whether it is a datetime.", "(inst? #inst \"2024-05-01\") ;=> true";
                ".getTime" => native(date::epoch_millis, constant), 1..1, Pure, "Milliseconds since 1970 of a datetime.", "(.getTime (parse \"1970-01-01T00:00:01Z\")) ;=> 1000";
                ".toEpochMilli" => native(date::epoch_millis, constant), 1..1, Pure, "Milliseconds since 1970 of a datetime.", "(.toEpochMilli (parse \"1970-01-01T00:00:01Z\")) ;=> 1000";
                ".getEpochSecond" => native(date::epoch_seconds, constant), 1..1, Pure, "Seconds since 1970 of a datetime.", "(.getEpochSecond (parse \"1970-01-01T00:01:00Z\")) ;=> 60";
                ".toEpochDay" => native(date::epoch_day, constant), 1..1, Pure, "Days since 1970-01-01 of a date.", "(.toEpochDay (parse \"1970-01-02\")) ;=> 1";
                ".toLocalDate" => native(date::to_day, constant), 1..1, Pure, "The date of a datetime, in UTC.", "(str (.toLocalDate (parse \"2024-05-01T08:00:00Z\"))) ;=> \"2024-05-01\"";
                ".atStartOfDay" => native(date::at_start_of_day, constant), 1..1, Pure, "Midnight of a date, in UTC.", "(str (.atStartOfDay (parse \"2024-05-01\"))) ;=> \"2024-05-01T00:00:00Z\"";
                ".toInstant" => native(date::to_instant, constant), 1..1, Pure, "A datetime itself.", "(.getTime (.toInstant (java.util.Date. 5))) ;=> 5";
                ".plusDays" => native(date::plus_days, constant), 2..2, Pure, "A date that many days later.", "(str (.plusDays (parse \"2024-02-29\") 1)) ;=> \"2024-03-01\"";
                ".plusWeeks" => native(date::plus_weeks, constant), 2..2, Pure, "A date that many weeks later.", "(str (.plusWeeks (parse \"2024-02-29\") 1)) ;=> \"2024-03-07\"";
                ".plusMonths" => native(date::plus_months, constant), 2..2, Pure, "A date that many months later; in a shorter month its last day.", "(str (.plusMonths (parse \"2024-02-29\") 1)) ;=> \"2024-03-29\"";
                ".plusYears" => native(date::plus_years, constant), 2..2, Pure, "A date that many years later; 29 February may become 28 February.", "(str (.plusYears (parse \"2024-02-29\") 1)) ;=> \"2025-02-28\"";
                ".minusDays" => native(date::minus_days, constant), 2..2, Pure, "A date that many days earlier.", "(str (.minusDays (parse \"2024-03-31\") 1)) ;=> \"2024-03-30\"";
                ".minusWeeks" => native(date::minus_weeks, constant), 2..2, Pure, "A date that many weeks earlier.", "(str (.minusWeeks (parse \"2024-03-31\") 1)) ;=> \"2024-03-24\"";
                ".minusMonths" => native(date::minus_months, constant), 2..2, Pure, "A date that many months earlier.", "(str (.minusMonths (parse \"2024-03-31\") 1)) ;=> \"2024-02-29\"";
                ".minusYears" => native(date::minus_years, constant), 2..2, Pure, "A date that many years earlier.", "(str (.minusYears (parse \"2024-03-31\") 1)) ;=> \"2023-03-31\"";
                ".plusHours" => native(date::plus_hours, constant), 2..2, Pure, "A datetime that many hours later.", "(str (.plusHours (parse \"2024-05-01T08:00:00Z\") 1)) ;=> \"2024-05-01T09:00:00Z\"";
                ".plusMinutes" => native(date::plus_minutes, constant), 2..2, Pure, "A datetime that many minutes later.", "(str (.plusMinutes (parse \"2024-05-01T08:00:00Z\") 1)) ;=> \"2024-05-01T08:01:00Z\"";
                ".plusSeconds" => native(date::plus_seconds, constant), 2..2, Pure, "A datetime that many seconds later.", "(str (.plusSeconds (parse \"2024-05-01T08:00:00Z\") 1)) ;=> \"2024-05-01T08:00:01Z\"";
                ".plusMillis" => native(date::plus_millis, constant), 2..2, Pure, "A datetime that many milliseconds later.", "(str (.plusMillis (parse \"2024-05-01T08:00:00Z\") 1)) ;=> \"2024-05-01T08:00:00.001Z\"";
                ".minusHours" => native(date::minus_hours, constant), 2..2, Pure, "A datetime that many hours earlier.", "(str (.minusHours (parse \"2024-05-01T08:00:00Z\") 1)) ;=> \"2024-05-01T07:00:00Z\"";
                ".minusMinutes" => native(date::minus_minutes, constant), 2..2, Pure, "A datetime that many minutes earlier.", "(str (.minusMinutes (parse \"2024-05-01T08:00:00Z\") 1)) ;=> \"2024-05-01T07:59:00Z\"";
                ".minusSeconds" => native(date::minus_seconds, constant), 2..2, Pure, "A datetime that many seconds earlier.", "(str (.minusSeconds (parse \"2024-05-01T08:00:00Z\") 1)) ;=> \"2024-05-01T07:59:59Z\"";
                ".minusMillis" => native(date::minus_millis, constant), 2..2, Pure, "A datetime that many milliseconds earlier.", "(str (.minusMillis (parse \"2024-05-01T08:00:00Z\") 1)) ;=> \"2024-05-01T07:59:59.999Z\"";
                ".isBefore" => native(date::is_before, constant), 2..2, Pure, "Whether a date, or a datetime, is before another.", "(.isBefore (parse \"2024-05-01\") (parse \"2024-05-02\")) ;=> true";
                ".isAfter" => native(date::is_after, constant), 2..2, Pure, "Whether a date, or a datetime, is after another.", "(.isAfter (parse \"2024-05-01\") (parse \"2024-05-02\")) ;=> false";
                ".isEqual" => native(date::is_equal, constant), 2..2, Pure, "Whether two dates, or two datetimes, are the same.", "(.isEqual (parse \"2024-05-01\") (parse \"2024-05-01\")) ;=> true";
                ".getYear" => native(date::year, constant), 1..1, Pure, "The year of a date.", "(.getYear (parse \"2024-05-01\")) ;=> 2024";
                ".getMonthValue" => native(date::month_value, constant), 1..1, Pure, "The month of a date, from 1.", "(.getMonthValue (parse \"2024-05-01\")) ;=> 5";
                ".getMonth" => native(date::month, constant), 1..1, Pure, "The month of a date as text.", "(.getMonth (parse \"2024-05-01\")) ;=> \"MAY\"";
                ".getDayOfMonth" => native(date::day_of_month, constant), 1..1, Pure, "The day of a date, from 1.", "(.getDayOfMonth (parse \"2024-05-01\")) ;=> 1";
                ".getDayOfWeek" => native(date::day_of_week, constant), 1..1, Pure, "The weekday of a date as text.", "(.getDayOfWeek (parse \"2024-05-01\")) ;=> \"WEDNESDAY\"";
                ".getDayOfYear" => native(date::day_of_year, constant), 1..1, Pure, "The day of a date within its year, from 1.", "(.getDayOfYear (parse \"2024-05-01\")) ;=> 122";
                ".getValue" => native(date::value_of, constant), 1..1, Pure, "The number of a weekday, from Monday, or of a month.", "(.getValue (.getDayOfWeek (parse \"2024-05-01\"))) ;=> 3";
                ".lengthOfMonth" => native(date::length_of_month, constant), 1..1, Pure, "How many days the month of a date has.", "(.lengthOfMonth (parse \"2024-05-01\")) ;=> 31";
                ".isLeapYear" => native(date::is_leap_year, constant), 1..1, Pure, "Whether the year of a date has 366 days.", "(.isLeapYear (parse \"2024-05-01\")) ;=> true";
                ".withDayOfMonth" => native(date::with_day_of_month, constant), 2..2, Pure, "A date with another day of its month.", "(str (.withDayOfMonth (parse \"2024-05-01\") 31)) ;=> \"2024-05-31\"";
                ".getHour" => native(date::hour, constant), 1..1, Pure, "The hour of a datetime, in UTC.", "(.getHour (parse \"2024-05-01T08:30:15Z\")) ;=> 8";
                ".getMinute" => native(date::minute, constant), 1..1, Pure, "The minute of a datetime.", "(.getMinute (parse \"2024-05-01T08:30:15Z\")) ;=> 30";
                ".getSecond" => native(date::second, constant), 1..1, Pure, "The second of a datetime.", "(.getSecond (parse \"2024-05-01T08:30:15Z\")) ;=> 15";
                "Duration/between" => native(date::between, constant), 2..2, Pure, "The time from one datetime to another.", "(.toMinutes (Duration/between (parse \"2024-05-01T08:00:00Z\") (parse \"2024-05-01T09:30:00Z\"))) ;=> 90";
                "Duration/ofMillis" => native(date::of_millis, constant), 1..1, Pure, "The time of that many milliseconds.", "(.toMillis (Duration/ofMillis 5)) ;=> 5";
                "Duration/ofSeconds" => native(date::of_seconds, constant), 1..1, Pure, "The time of that many seconds.", "(.toMillis (Duration/ofSeconds 5)) ;=> 5000";
                "Duration/ofMinutes" => native(date::of_minutes, constant), 1..1, Pure, "The time of that many minutes.", "(.toMillis (Duration/ofMinutes 5)) ;=> 300000";
                "Duration/ofHours" => native(date::of_hours, constant), 1..1, Pure, "The time of that many hours.", "(.toMillis (Duration/ofHours 5)) ;=> 18000000";
                "Duration/ofDays" => native(date::of_days, constant), 1..1, Pure, "The time of that many days.", "(.toMillis (Duration/ofDays 5)) ;=> 432000000";
                ".toMillis" => native(date::to_millis, constant), 1..1, Pure, "A time in milliseconds, cut toward zero.", "(.toMillis (Duration/ofHours 36)) ;=> 129600000";
                ".toSeconds" => native(date::to_seconds, constant), 1..1, Pure, "A time in seconds, cut toward zero.", "(.toSeconds (Duration/ofHours 36)) ;=> 129600";
                ".toMinutes" => native(date::to_minutes, constant), 1..1, Pure, "A time in minutes, cut toward zero.", "(.toMinutes (Duration/ofHours 36)) ;=> 2160";
                ".toHours" => native(date::to_hours, constant), 1..1, Pure, "A time in hours, cut toward zero.", "(.toHours (Duration/ofHours 36)) ;=> 36";
                ".toDays" => native(date::to_days, constant), 1..1, Pure, "A time in days, cut toward zero.", "(.toDays (Duration/ofHours 36)) ;=> 1";
                ".getSeconds" => native(date::to_seconds, constant), 1..1, Pure, "A time in seconds, cut toward zero.", "(.getSeconds (Duration/ofMinutes 2)) ;=> 120";
                ".between" => native(date_unit::between, constant), 3..3, Pure, "How many whole units two dates, or two datetimes, are apart.", "(.between ChronoUnit/DAYS (parse \"2024-02-01\") (parse \"2024-03-01\")) ;=> 29";
                ".until" => native(date_unit::until, constant), 3..3, Pure, "How many whole units lie between two dates, or two datetimes.", "(.until (parse \"2024-02-01\") (parse \"2024-03-01\") ChronoUnit/DAYS) ;=> 29";
                ".plus" => native(date_unit::plus, constant), 2..3, Pure, "A date or a datetime that many units later, or a datetime a duration later.", "(str (.plus (parse \"2024-05-31\") 1 ChronoUnit/MONTHS)) ;=> \"2024-06-30\"";
                ".minus" => native(date_unit::minus, constant), 2..3, Pure, "A date or a datetime that many units earlier, or a datetime a duration earlier.", "(str (.minus (parse \"2024-05-01T08:00:00Z\") (Duration/ofHours 9))) ;=> \"2024-04-30T23:00:00Z\"";
                ".truncatedTo" => native(date_unit::truncated_to, constant), 2..2, Pure, "A datetime cut off to a unit.", "(str (.truncatedTo (parse \"2024-05-01T08:45:10Z\") ChronoUnit/HOURS)) ;=> \"2024-05-01T08:00:00Z\"";
                ".withYear" => native(date_unit::with_year, constant), 2..2, Pure, "A date in another year; 29 February may become 28 February.", "(str (.withYear (parse \"2024-02-29\") 2025)) ;=> \"2025-02-28\"";
                ".withMonth" => native(date_unit::with_month, constant), 2..2, Pure, "A date in another month; in a shorter one its last day.", "(str (.withMonth (parse \"2024-05-31\") 6)) ;=> \"2024-06-30\"";
                ".format" => native(date_text::format, bytes), 2..2, Pure, "A date or a datetime as text, by a pattern.", "(.format (parse \"2024-05-01\") \"d MMM yyyy\") ;=> \"1 May 2024\"";
                "DateTimeFormatter/ofPattern" => native(date_text::of_pattern, bytes), 1..1, Pure, "A pattern for `.format` and `parse`, checked.", "(str (LocalDate/parse \"31/05/2024\" (DateTimeFormatter/ofPattern \"dd/MM/yyyy\"))) ;=> \"2024-05-31\"";
            }
            section "Methods" {
                ".length" => native(method::length, bytes, measures), 1..1, Pure, "How many characters a string has, or elements a vector.", "(.length \"abc\") ;=> 3";
                ".isEmpty" => native(method::is_empty, bytes, measures), 1..1, Pure, "Whether a string or a collection has nothing in it.", "(.isEmpty \"\") ;=> true";
                ".isBlank" => native(method::is_blank_text, bytes), 1..1, Pure, "Whether a string is empty or all blanks.", "(.isBlank \" \") ;=> true";
                ".charAt" => native(method::char_at, bytes), 2..2, Pure, "The character at a position; faults outside.", "(.charAt \"abc\" 1) ;=> \"b\"";
                ".indexOf" => native(method::index_of, bytes), 2..3, Pure, "Where a string first contains another, or a vector an element; -1 if nowhere.", "(.indexOf \"abcb\" \"b\") ;=> 1";
                ".lastIndexOf" => native(method::last_index_of, bytes), 2..3, Pure, "Where a string last contains another, or a vector an element; -1 if nowhere.", "(.lastIndexOf \"abcb\" \"b\") ;=> 3";
                ".contains" => native(method::contains, bytes), 2..2, Pure, "Whether a string contains another, or a collection an element.", "(.contains \"abc\" \"b\") ;=> true";
                ".startsWith" => native(method::starts_with, bytes), 2..2, Pure, "Whether a string begins with another.", "(.startsWith \"abc\" \"ab\") ;=> true";
                ".endsWith" => native(method::ends_with, bytes), 2..2, Pure, "Whether a string ends with another.", "(.endsWith \"abc\" \"bc\") ;=> true";
                ".equals" => native(method::equals, operands), 2..2, Pure, "Whether two values are equal; 1 and 1.0 are not.", "(.equals \"a\" \"a\") ;=> true";
                ".equalsIgnoreCase" => native(method::equals_ignore_case, bytes), 2..2, Pure, "Whether two strings are equal, ignoring case.", "(.equalsIgnoreCase \"aB\" \"Ab\") ;=> true";
                ".compareTo" => native(method::compare_to, operands), 2..2, Pure, "-1, 0 or 1 by the order of two values of one kind.", "(.compareTo \"a\" \"b\") ;=> -1";
                ".compareToIgnoreCase" => native(method::compare_to_ignore_case, bytes), 2..2, Pure, "-1, 0 or 1 by the order of two strings, ignoring case.", "(.compareToIgnoreCase \"A\" \"a\") ;=> 0";
                ".toLowerCase" => native(method::to_lower_case, bytes), 1..1, Pure, "In lower case.", "(.toLowerCase \"aB\") ;=> \"ab\"";
                ".toUpperCase" => native(method::to_upper_case, bytes), 1..1, Pure, "In upper case.", "(.toUpperCase \"aB\") ;=> \"AB\"";
                ".substring" => native(method::substring, bytes), 2..3, Pure, "The part of a string from start up to end; faults outside.", "(.substring \"hello\" 1 3) ;=> \"el\"";
                ".trim" => native(string::trim, bytes), 1..1, Pure, "Without blanks at both ends.", "(.trim \" a \") ;=> \"a\"";
                ".strip" => native(string::trim, bytes), 1..1, Pure, "Without blanks at both ends.", "(.strip \" a \") ;=> \"a\"";
                ".stripLeading" => native(string::triml, bytes), 1..1, Pure, "Without blanks at the start.", "(.stripLeading \" a \") ;=> \"a \"";
                ".stripTrailing" => native(string::trimr, bytes), 1..1, Pure, "Without blanks at the end.", "(.stripTrailing \" a \") ;=> \" a\"";
                ".concat" => native(method::concat, bytes), 2..2, Pure, "Two strings side by side.", "(.concat \"a\" \"b\") ;=> \"ab\"";
                ".repeat" => native(method::repeat, bytes), 2..2, Pure, "A string n times over.", "(.repeat \"ab\" 2) ;=> \"abab\"";
                ".replace" => native(method::replace, bytes), 3..3, Pure, "A string with every occurrence of another replaced.", "(.replace \"a.b\" \".\" \"+\") ;=> \"a+b\"";
                ".replaceAll" => native(method::replace_all, pattern), 3..3, Pure, "A string with every match of a pattern replaced; the pattern may be text.", "(.replaceAll \"a1b22\" \"\\\\d+\" \"#\") ;=> \"a#b#\"";
                ".replaceFirst" => native(method::replace_first, pattern), 3..3, Pure, "A string with the first match of a pattern replaced; the pattern may be text.", "(.replaceFirst \"a1b22\" \"\\\\d+\" \"#\") ;=> \"a#b22\"";
                ".matches" => native(regex::matches_text, pattern), 2..2, Pure, "Whether a pattern matches all of a string; the pattern may be text.", "(.matches \"abb\" \"ab+\") ;=> true";
                ".split" => native(method::split, pattern), 2..3, Pure, "The pieces of a string between matches of a pattern, which may be text.", "(.split \"a,b\" \",\") ;=> [\"a\" \"b\"]";
                ".toString" => native(method::to_string, own), 1..1, Pure, "The text of a value; nil has none.", "(.toString 5) ;=> \"5\"";
                ".size" => native(method::size, elements, measures), 1..1, Pure, "How many elements a collection has.", "(.size [7 8]) ;=> 2";
                ".get" => native(method::get, elements, keyed), 2..2, Pure, "The value at a key or an index, or nil.", "(.get {:a 1} :a) ;=> 1";
                ".getOrDefault" => native(method::get, elements, keyed), 3..3, Pure, "The value at a key, or the default.", "(.getOrDefault {:a 1} :b 0) ;=> 0";
                ".containsKey" => native(method::contains_key, elements, measures), 2..2, Pure, "Whether a map has the key.", "(.containsKey {:a 1} :a) ;=> true";
            }
            section "Classes" {
                "Boolean/parseBoolean" => native(java::parse_boolean, bytes), 1..1, Pure, "true for \"true\" in any case, else false.", "(Boolean/parseBoolean \"True\") ;=> true";
                "Integer/parseInt" => native(java::parse_int, bytes), 1..2, Pure, "The integer a string spells, in base 10 or another; or nil.", "(Integer/parseInt \"ff\" 16) ;=> 255";
                "Long/parseLong" => native(java::parse_int, bytes), 1..2, Pure, "The same as `Integer/parseInt`.", "(Long/parseLong \"x\") ;=> nil";
                "Long/valueOf" => native(java::parse_int, bytes), 1..2, Pure, "The same as `Integer/parseInt`.", "(Long/valueOf \"5\") ;=> 5";
                "Integer/toString" => native(java::to_string, operands), 1..2, Pure, "The digits of an integer, in base 10 or another.", "(Integer/toString 255 16) ;=> \"ff\"";
                "Integer/toBinaryString" => native(java::to_binary_string, operands), 1..1, Pure, "The binary digits of an integer.", "(Integer/toBinaryString 5) ;=> \"101\"";
                "Integer/toHexString" => native(java::to_hex_string, operands), 1..1, Pure, "The hexadecimal digits of an integer.", "(Integer/toHexString 255) ;=> \"ff\"";
                "Double/parseDouble" => native(parse::parse_double, constant), 1..1, Pure, "The float a string spells, or nil.", "(Double/parseDouble \"2.50\") ;=> 2.5";
                "Float/parseFloat" => native(parse::parse_double, constant), 1..1, Pure, "The float a string spells, or nil.", "(Float/parseFloat \"x\") ;=> nil";
                "String/valueOf" => native(java::value_of, own), 1..1, Pure, "The text of a value; \"null\" for nil.", "(String/valueOf 5) ;=> \"5\"";
                "Character/isDigit" => native(java::is_digit, operands), 1..1, Pure, "Whether a character is a digit.", "(Character/isDigit \\5) ;=> true";
                "Character/isLetter" => native(java::is_letter, operands), 1..1, Pure, "Whether a character is a letter.", "(Character/isLetter \\5) ;=> false";
                "Character/isLetterOrDigit" => native(java::is_letter_or_digit, operands), 1..1, Pure, "Whether a character is a letter or a digit.", "(Character/isLetterOrDigit \\-) ;=> false";
                "Character/isUpperCase" => native(java::is_upper_case, operands), 1..1, Pure, "Whether a character is a capital.", "(Character/isUpperCase \\A) ;=> true";
                "Character/isLowerCase" => native(java::is_lower_case, operands), 1..1, Pure, "Whether a character is a small letter.", "(Character/isLowerCase \\A) ;=> false";
                "Character/isWhitespace" => native(java::is_whitespace, operands), 1..1, Pure, "Whether a character is a blank.", "(Character/isWhitespace \\space) ;=> true";
                "Character/getNumericValue" => native(java::numeric_value, operands), 1..1, Pure, "The value of a digit, or -1.", "(Character/getNumericValue \\7) ;=> 7";
            }
            section "Parallel" {
                "pmap" => core, 2.., Pure, "As `map`, with the calls in parallel branches.", "(pmap inc [1 2]) ;=> [2 3]";
                "pcalls" => core, 0.., Pure, "Calls functions of no arguments in parallel branches.", "(pcalls (fn [] 1) (fn [] 2)) ;=> [1 2]";
            }
            section "Discovery" {
                "doc" => native(discovery::doc, own), 1..1, Pure, "What a form, builtin or definition does, as text.", "(str/includes? (doc filter) \"Kind: function\") ;=> true";
                "apropos" => native(discovery::apropos, own), 1..2, Pure, "Lines about the best matches for a text; options `:limit` and `:load`.", "(first (apropos \"frequencies\")) ;=> \"local: frequencies - A map from element to how often it occurs.\"";
                "dir" => native(discovery::dir, own), 1..2, Pure, "Lines about the members of a namespace; options `:limit` and `:offset`.", "(first (dir walk)) ;=> \"keywordize-keys - String keys of nested maps as keywords.\"";
                "meta" => native(discovery::meta, own), 1..1, Pure, "Facts about what a name stands for, as a map; nil for a value.", "(:namespace (meta str/join)) ;=> \"clojure.string\"";
                "source" => native(discovery::source, own, keeps_all), 1..1, Prints, "Prints the source of a prelude function, if there is one.", "(source map) ;=> nil";
                "ns-publics" => native(discovery::ns_publics, own), 1..1, Pure, "The members of a namespace by name, with facts about each.", "(get-in (ns-publics walk) [\"walk\" :section]) ;=> \"Trees\"";
                "all-ns" => native(discovery::all_ns, own), 0..0, Pure, "The names of all namespaces.", "(first (all-ns)) ;=> \"clojure.core\"";
                "ns-name" => native(discovery::ns_name, own), 1..1, Pure, "The full name of a namespace.", "(ns-name str) ;=> \"clojure.string\"";
                "tool/servers" => native(discovery::no_servers, own), 0..0, Host, "The upstream servers, if the host has any.", "(tool/servers) ;=> fails runtime_error";
                "tool/call" => native(discovery::no_servers, own), 1..2, Host, "Calls a tool of an upstream server, if the host has any.", "(tool/call {:server \"crm\" :tool \"find\"}) ;=> fails runtime_error";
                "budget/remaining" => native(discovery::budget_remaining, own), 0..0, Host, "The budget that an agent or a program of `ptc mcp` has left; elsewhere an empty map.", "(budget/remaining) ;=> {}";
            }
            section "Internal" {
                "%builder" => native(internal::builder, elements, keeps_all), 0..0, Pure, inline NewBuilder, "An empty builder.", "";
                "%push" => native(internal::push, elements, keeps_all), 2..2, Pure, inline Push, "Appends to a builder.", "";
                "%finish" => native(internal::finish, elements, keeps_all), 1..1, Pure, inline BuildVector, "The builder's items as a vector.", "";
                "%finish-map" => native(internal::finish_map, elements, keeps_all), 1..1, Pure, inline BuildMap, "The builder's items as a map.", "";
                "%finish-set" => native(internal::finish_set, elements, keeps_all), 1..1, Pure, inline BuildSet, "The builder's items as a set.", "";
                "%apply" => native(internal::apply, elements, keeps_all), 2.., Pure, inline Apply, "Calls with the last argument spread.", "";
                "%pmap" => native(internal::pmap, elements, keeps_all), 2..2, Pure, inline ParallelMap, "Parallel branches over items.", "";
                "%pcalls" => native(internal::pcalls, elements, keeps_all), 1..1, Pure, inline ParallelCalls, "Parallel branches of functions.", "";
                "%assert-failed" => native(internal::assert_failed, elements, keeps_all), 1..2, Pure, "Stops with `assertion_failed`: the test as written, and the message.", "";
                "%task-get" => native(agent::task_get, own, keeps_all), 1..1, Journal, "The stored value of a task in a vector, or nil.", "";
                "%task-put" => native(agent::task_put, own, keeps_all), 2..2, Journal, "Stores the value of a task.", "";
                "%task-reset" => native(agent::task_reset, own, keeps_all), 1..1, Journal, "Forgets the value of a task.", "";
                "%step-done" => native(agent::step_done, own, keeps_all), 2..2, Journal, "Records a summary of progress.", "";
                "%doc-def" => native(discovery::doc_def, own), 2..2, Pure, "`doc` of a definition and its value.", "";
                "%meta-def" => native(discovery::meta_def, own), 2..2, Pure, "`meta` of a definition and its value.", "";
                "%nth" => native(internal::nth, elements, keeps_third), 2..3, Pure, "An element by position, for vector patterns; maps and sets only with a third argument.", "";
                "%drop" => native(internal::drop, elements, keeps), 2..2, Pure, "What is left after n elements, nil if nothing.", "";
                "%kwargs" => native(internal::kwargs, elements, keeps), 1..1, Pure, "Trailing arguments as a map.", "";
                "%sort" => native(internal::sort, elements, keeps), 2..2, Pure, "Sorts by the total order; the flag reverses.", "";
                "%sort-by-keys" => native(internal::sort_by_keys, elements, keeps), 3..3, Pure, "Sorts items by a vector of their keys; the flag reverses.", "";
                "%refuse-text-key" => native(internal::refuse_text_key, elements, keeps_all), 1..1, Pure, "Stops: text is no key to sort by.", "";
                "%sort-direction" => native(internal::sort_direction, elements, keeps_all), 1..1, Pure, "Of a comparator: false for the total order, true for its reverse, nil for any other.", "";
                "%group" => native(tally::group, elements, keeps), 2..2, Pure, "Groups items by a vector of their keys.", "";
                "%first-by-key" => native(tally::first_by_key, elements, keeps), 2..2, Pure, "The first item of each key, by a vector of keys.", "";
                "%extreme" => native(tally::extreme, elements, keeps), 4..4, Pure, "The item with the least key, or greatest by a flag; of equals the last by another.", "";
                "%into" => native(internal::into, elements, keeps), 2..2, Pure, "Adds all of one collection to another.", "";
                "%indexed" => native(internal::indexed, elements, keeps), 1..1, Pure, "The elements in a form `nth` reads quickly.", "";
                "%zip" => native(internal::zip, elements, keeps), 1..1, Pure, "Vectors of the elements side by side of all collections.", "";
                "%split-changes" => native(slice::split_changes, elements, keeps), 2..2, Pure, "Splits items where their keys change.", "";
                "%concat-all" => native(build::concat_all, elements, keeps), 1..1, Pure, "The elements of the elements.", "";
                "%put" => native(path::put, elements, keeps_after_first), 3..3, Pure, "`assoc` that writes to the spelling of the key a map has already.", "";
                "%pairs" => native(map::pairs, elements, keeps), 1..1, Pure, "Keys and values of a map, or indexes and items of a vector, as pairs.", "";
                "%each" => native(plain::each, elements, keeps_all), 2..2, Pure, "`mapv` of a keyword or builtin over a list; nil for what has to be run by the program.", "";
                "%each-where" => native(plain::each_where, elements, keeps_all), 3..3, Pure, "`filterv` likewise: the elements for which the truth of the function is the flag.", "";
                "%fold" => native(plain::fold, elements, keeps_all), 2..3, Pure, "`reduce` of numbers with `+`, `*`, `min`, `max`; nil for anything else.", "";
                "%key-fn" => core, 1..1, Pure, "A key as a function: a string or path looks up.", "";
                "%keys" => core, 2..2, Pure, "The key of each element.", "";
                "%merge-sort" => core, 2..2, Pure, "Stable sort by a comparator.", "";
                "%map-rows" => core, 2..2, Pure, "Calls with each row of arguments.", "";
                "%join" => core, 4..4, Pure, "Maps of two collections side by side where the values of these keys agree.", "";
                "%extreme-by" => core, 3..3, Pure, "The element with the least or greatest key.", "";
                "%replacements" => native(map::replacements, elements, keeps), 1..1, Pure, "A map or vector to look replacements up in.", "";
                "%replace-text" => native(search::replace, pattern), 4..4, Pure, "A string with that many matches replaced, all for a negative number.", "";
                "%match-parts" => native(regex::match_parts, pattern), 3..3, Pure, "Text between matches and the matches, in turn.", "";
                "%replace-matches" => core, 4..4, Pure, "A string with matches replaced by text, or by what a function gives.", "";
                "%as-keyword" => native(text::as_keyword, bytes), 1..1, Pure, "The keyword of a string that can be one; anything else as it is.", "";
                "%endless?" => native(endless::endless_p, constant, keeps_all), 1..1, Pure, "Whether it is a sequence without an end.", "";
                "%bounded" => native(endless::bounded, constant, keeps_all), 1..1, Pure, "The collection, unless it has no end.", "";
                "%link" => native(endless::link, constant, keeps_all), 2..2, Pure, "An endless sequence of an element and the others.", "";
                "%step" => native(endless::step, constant, keeps_all), 1.., Pure, "An endless sequence whose link a function gives.", "";
                "%step-call" => native(endless::step_call, constant, keeps_all), 1..1, Pure, "Function and arguments of a step, nil for a link.", "";
                "%head" => native(endless::head, constant, keeps_all), 1..1, Pure, "The element of a link.", "";
                "%tail" => native(endless::tail, constant, keeps_all), 1..1, Pure, "The sequence behind a link.", "";
                "%counts-from" => native(endless::counts_from, constant, keeps_all), 1..1, Pure, "Where an endless sequence of integers goes on, or nil.", "";
                "%state" => native(endless::state, constant, keeps_all), 1..1, State, "A place that holds a value.", "";
                "%held" => native(endless::held, constant, keeps_all), 1..1, State, "What a place holds.", "";
                "%atom-held" => native(atom::atom_held, constant, keeps_all), 1..1, State, "What an atom holds that will be written to.", "";
                "%volatile-held" => native(atom::volatile_held, constant, keeps_all), 1..1, State, "What a volatile holds that will be written to.", "";
                "%exact" => native(compare::exact, operands, measures), 2..2, Pure, "Whether two values are the same key.", "";
                "%catches" => native(exception::catches, constant, measures), 2..2, Pure, "Whether a class of exceptions has this one.", "";
                "%hold!" => native(endless::hold, constant, keeps_all), 2..2, State, "Writes to a place.", "";
                "%hold-if-own!" => native(endless::hold_if_own, constant, keeps_all), 2..2, State, "Writes to a place of this run; whether it did.", "";
                "%force" => core, 1..1, Pure, "The link of an endless sequence.", "";
                "%iterate-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%repeatedly-step" => core, 1..1, Pure, "A step of an endless sequence.", "";
                "%repeat*" => core, 1..1, Pure, "Takes over from `repeat`.", "";
                "%repeat-step" => core, 1..1, Pure, "A step of an endless sequence.", "";
                "%cycle-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%range*" => core, 0..3, Pure, "Takes over from `range`.", "";
                "%count-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%map-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%map-endless" => core, 2..2, Pure, "`map` where a collection has no end.", "";
                "%map-all-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%cut" => core, 1..1, Pure, "Endless collections cut to the shortest other.", "";
                "%map-indexed-step" => core, 3..3, Pure, "A step of an endless sequence.", "";
                "%filter-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%keep-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%keep-indexed-step" => core, 3..3, Pure, "A step of an endless sequence.", "";
                "%mapcat-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%distinct-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%dedupe-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%interpose-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%interleave-step" => core, 1..1, Pure, "A step of an endless sequence.", "";
                "%partition-step" => core, 3..3, Pure, "A step of an endless sequence.", "";
                "%take-nth-step" => core, 2..2, Pure, "A step of an endless sequence.", "";
                "%reductions-step" => core, 3..3, Pure, "A step of an endless sequence.", "";
                "%first*" => core, 1..1, Pure, "Takes over from `first`.", "";
                "%second*" => core, 1..1, Pure, "Takes over from `second`.", "";
                "%fnext*" => core, 1..1, Pure, "Takes over from `fnext`.", "";
                "%ffirst*" => core, 1..1, Pure, "Takes over from `ffirst`.", "";
                "%nfirst*" => core, 1..1, Pure, "Takes over from `nfirst`.", "";
                "%rest*" => core, 1..1, Pure, "Takes over from `rest`.", "";
                "%next*" => core, 1..1, Pure, "Takes over from `next`.", "";
                "%nnext*" => core, 1..1, Pure, "Takes over from `nnext`.", "";
                "%seq*" => core, 1..1, Pure, "Takes over from `seq`.", "";
                "%empty?*" => core, 1..1, Pure, "Takes over from `empty?`.", "";
                "%not-empty*" => core, 1..1, Pure, "Takes over from `not-empty`.", "";
                "%nth*" => core, 2..3, Pure, "Takes over from `nth`.", "";
                "%%nth*" => core, 2..3, Pure, "Takes over from `%nth`.", "";
                "%%drop*" => core, 2..2, Pure, "Takes over from `%drop`.", "";
                "%nthrest*" => core, 2..2, Pure, "Takes over from `nthrest`.", "";
                "%nthnext*" => core, 2..2, Pure, "Takes over from `nthnext`.", "";
                "%split-at*" => core, 2..2, Pure, "Takes over from `split-at`.", "";
                "%cons*" => core, 2..2, Pure, "Takes over from `cons`.", "";
                "%list**" => core, 0.., Pure, "Takes over from `list*`.", "";
                "%concat*" => core, 0.., Pure, "Takes over from `concat`.", "";
                "%concat-endless" => core, 1..1, Pure, "`concat` where a collection has no end.", "";
                "%interleave*" => core, 0.., Pure, "Takes over from `interleave`.", "";
                "%zipmap*" => core, 2..2, Pure, "Takes over from `zipmap`.", "";
                "%zip*" => core, 2..2, Pure, "Takes over from `zip`.", "";
                "%take*" => core, 1..2, Pure, "Takes over from `take`.", "";
                "%drop*" => core, 1..2, Pure, "Takes over from `drop`.", "";
                "%take-nth*" => core, 1..2, Pure, "Takes over from `take-nth`.", "";
                "%distinct*" => core, 0..1, Pure, "Takes over from `distinct`.", "";
                "%dedupe*" => core, 0..1, Pure, "Takes over from `dedupe`.", "";
                "%interpose*" => core, 1..2, Pure, "Takes over from `interpose`.", "";
                "%partition-all*" => core, 1..3, Pure, "Takes over from `partition-all`.", "";
                "%partition*" => core, 2..4, Pure, "Takes over from `partition`.", "";
                "%map-two" => core, 3..3, Pure, "`map` over two collections.", "";
                "%split-with" => core, 2..2, Pure, "`split-with` of a collection with an end.", "";
                "%reductions" => core, 2..2, Pure, "`reductions` without a first value.", "";
            }
        }
    };
}

/// The effects of a builtin besides computing its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// None: equal arguments give equal values.
    Pure,
    /// Makes, reads or writes a mutable place of the run.
    State,
    /// Adds to the printed output of the run.
    Prints,
    /// Reads the clock.
    Clock,
    /// Reads or writes the journal of tasks the host keeps between turns.
    Journal,
    /// Calls the host.
    Host,
}

/// The place of a builtin's body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// Rust, in `runtime/src/natives`.
    Native,
    /// PTC-Lisp, in `preludes/core`.
    Core,
}

/// The rule by which a call of a builtin pays for its work. The runtime binds a function to each rule and runs it before
/// the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Covered by the price of the call.
    Constant,
    /// By the sizes of the numbers and texts that are compared, hashed or computed with.
    Operands,
    /// By the bytes of all texts and large integers among the arguments.
    Bytes,
    /// By the number of elements walked or made, charged before the walk.
    Elements,
    /// By the size of a pattern and the steps of searching with it.
    Pattern,
    /// By a price of its own, such as for text written, names looked up or values sampled.
    Own,
    /// By the instructions of its body, which is PTC-Lisp.
    Code,
}

/// The treatment of arguments that are firewalled or contain firewalled values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Veil {
    /// Computes with clear values, and the whole result is firewalled. The default of a row.
    Clears,
    /// Gives a count, a kind or an order of its arguments, which is not firewalled.
    Measures,
    /// Moves elements without looking inside, so they stay firewalled one by one. The result as a whole is
    /// firewalled only if an argument that is no such element is.
    Keeps(Elements),
    /// Works as `Keeps`, for a collection and a key to look up, with values from the third argument on. A value
    /// found by a firewalled key is firewalled.
    Keyed,
}

/// The arguments that become elements as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // named after their places
pub enum Elements {
    None,
    All,
    First,
    AfterFirst,
    Third,
    Last,
    BeforeLast,
}

impl Elements {
    /// True if argument `at`, counted from 0, of `n` becomes an element.
    pub fn contain(self, at: usize, n: usize) -> bool {
        match self {
            Elements::None => false,
            Elements::All => true,
            Elements::First => at == 0,
            Elements::AfterFirst => at > 0,
            Elements::Third => at == 2,
            Elements::Last => at + 1 == n,
            Elements::BeforeLast => at + 1 < n,
        }
    }
}

/// The instruction that may replace a direct call; the compiler decides for which argument counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // named after their instructions
pub enum Inline {
    Add,
    Sub,
    Mul,
    Div,
    Quot,
    Rem,
    Mod,
    Inc,
    Dec,
    Eq,
    NotEq,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Not,
    IsNil,
    Count,
    First,
    Nth,
    Get,
    Assoc,
    Conj,
    NewBuilder,
    Push,
    BuildVector,
    BuildMap,
    BuildSet,
    Apply,
    ParallelMap,
    ParallelCalls,
}

/// One row of [`BUILTINS`].
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The name as a program writes it.
    pub name: &'static str,
    /// Fewest arguments.
    pub min: u32,
    /// Most arguments; None for any number.
    pub max: Option<u32>,
    /// Effect of a call.
    pub effect: Effect,
    /// Place of the body.
    pub body: Body,
    /// Rule by which a call pays besides its own price.
    pub cost: Cost,
    /// Treatment of firewalled arguments; functions in PTC-Lisp leave that to the natives they use.
    pub veil: Veil,
    /// Instruction that may replace a direct call.
    pub inline: Option<Inline>,
    /// Heading on the reference page.
    pub section: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// A call and its result, checked by the tests.
    pub example: &'static str,
}

impl Builtin {
    /// True if it takes `n` arguments.
    pub fn takes(&self, n: usize) -> bool {
        n >= self.min as usize && self.max.is_none_or(|max| n <= max as usize)
    }

    /// Formats the argument counts for messages: "1", "1 or 2", "2 to 4", "at least 1".
    pub fn arity_words(&self) -> String {
        match self.max {
            Some(max) if max == self.min => format!("{max}"),
            Some(max) if max == self.min + 1 => format!("{} or {max}", self.min),
            Some(max) => format!("{} to {max}", self.min),
            None => format!("at least {}", self.min),
        }
    }
}

macro_rules! define_builtins {
    ($(section $section:literal { $($name:literal => $kind:ident $(($path:path, $cost:ident $(, $veil:ident)?))?, $min:literal .. $($max:literal)?,
        $effect:ident, $(inline $inline:ident,)? $doc:literal, $example:literal;)* })*) => {
        /// Every builtin. A [`BuiltinId`](crate::BuiltinId) is an index here.
        pub const BUILTINS: &[Builtin] = &[
            $($(Builtin {
                name: $name,
                min: $min,
                max: optional!($($max)?),
                effect: Effect::$effect,
                body: body!($kind),
                cost: cost!($($cost)?),
                veil: veil!($($($veil)?)?),
                inline: inline!($($inline)?),
                section: $section,
                doc: $doc,
                example: $example,
            },)*)*
        ];
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($x:literal) => {
        Some($x)
    };
}
macro_rules! body {
    (native) => {
        Body::Native
    };
    (core) => {
        Body::Core
    };
}
macro_rules! cost {
    () => {
        Cost::Code
    };
    (constant) => {
        Cost::Constant
    };
    (operands) => {
        Cost::Operands
    };
    (bytes) => {
        Cost::Bytes
    };
    (elements) => {
        Cost::Elements
    };
    (pattern) => {
        Cost::Pattern
    };
    (own) => {
        Cost::Own
    };
}
macro_rules! veil {
    () => {
        Veil::Clears
    };
    (measures) => {
        Veil::Measures
    };
    (keyed) => {
        Veil::Keyed
    };
    (keeps) => {
        Veil::Keeps(Elements::None)
    };
    (keeps_all) => {
        Veil::Keeps(Elements::All)
    };
    (keeps_first) => {
        Veil::Keeps(Elements::First)
    };
    (keeps_after_first) => {
        Veil::Keeps(Elements::AfterFirst)
    };
    (keeps_third) => {
        Veil::Keeps(Elements::Third)
    };
    (keeps_last) => {
        Veil::Keeps(Elements::Last)
    };
    (keeps_before_last) => {
        Veil::Keeps(Elements::BeforeLast)
    };
}
macro_rules! inline {
    () => {
        None
    };
    ($x:ident) => {
        Some(Inline::$x)
    };
}

for_each_builtin!(define_builtins);

/// An index into [`BUILTINS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct BuiltinId(pub u32);

impl BuiltinId {
    /// Returns its row; None for an id that [`lookup`] did not return.
    pub fn row(self) -> Option<&'static Builtin> {
        BUILTINS.get(self.0 as usize)
    }
}

/// Looks up the builtin called `name`.
///
/// ```
/// let id = ptc_bytecode::lookup("count").unwrap();
/// assert_eq!(id.row().unwrap().arity_words(), "1");
/// ```
pub fn lookup(name: &str) -> Option<BuiltinId> {
    use std::collections::HashMap;
    use std::hash::BuildHasherDefault;
    use std::sync::LazyLock;
    type ByName = HashMap<&'static str, BuiltinId, BuildHasherDefault<crate::hashing::NameHasher>>;
    static BY_NAME: LazyLock<ByName> = LazyLock::new(|| {
        BUILTINS.iter().enumerate().map(|(i, row)| (row.name, BuiltinId(i as u32))).collect()
    });
    BY_NAME.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::{BUILTINS, lookup};

    #[test]
    fn names_are_unique_and_documented() {
        for (i, row) in BUILTINS.iter().enumerate() {
            assert_eq!(lookup(row.name).map(|id| id.0), Some(i as u32), "{} stands twice", row.name);
            assert!(!row.doc.is_empty() && row.doc.ends_with('.'), "{} lacks a doc line", row.name);
            assert_eq!(row.example.is_empty(), row.name.starts_with('%'), "{}: example", row.name);
        }
    }
}
