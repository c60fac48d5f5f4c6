//! Arguments of cells: small values, and values that are expensive to walk, compare, hash, print or parse.

/// An argument: the name of its definition, and the expression that makes it from earlier ones.
pub struct Argument {
    /// Name of the definition.
    pub name: &'static str,
    /// Expression of the value.
    pub source: &'static str,
}

const fn argument(name: &'static str, source: &'static str) -> Argument {
    Argument { name, source }
}

/// Values that contain no other arguments as elements, in the order they are defined.
pub const PLAIN: &[Argument] = &[
    argument("none", "nil"),
    argument("yes", "true"),
    argument("one", "1"),
    argument("minus", "-3"),
    argument("half", "2.5"),
    argument("tiny", "1e-300"),
    argument("huge", "9007199254740993000000"),
    argument("most", "9223372036854775807"),
    // Half a million bits, the maximum of an integer.
    argument("big", "(- (bit-shift-left 1 524287) 12345)"),
    argument("big-twin", "(- (bit-shift-left 1 524287) 12345)"),
    argument("negative-big", "(- big)"),
    argument("middling", "(- (bit-shift-left 1 20000) 1)"),
    argument("short", "\"ab\""),
    argument("empty-text", "\"\""),
    argument("long-text", "(.repeat \"abcdefghij\" 100000)"),
    argument("long-twin", "(.repeat \"abcdefghij\" 100000)"),
    argument("long-ending", "(str long-text \"!\")"),
    argument("letters", "(.repeat \"a\" 200000)"),
    argument("spaces", "(.repeat \" \" 500000)"),
    argument("lines", "(.repeat \"\\n\" 300000)"),
    argument("digits", "(.repeat \"7\" 500000)"),
    argument("marks", "(str \"a\" (.repeat \"\u{301}\" 300000))"),
    argument("wide-text", "(.repeat \"\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\" 20000)"),
    argument("json-text", "(str \"[\" (.repeat \"{\\\"a\\\":[1,2.5,\\\"x\\\"]},\" 20000) \"1]\")"),
    argument("json-deep", "(str (.repeat \"[\" 100000) (.repeat \"]\" 100000))"),
    argument("json-digits", "(str \"[\" digits \"]\")"),
    argument("formats", "(.repeat \"%1$s\" 3000)"),
    argument("float-formats", "(.repeat \"%1$e\" 3000)"),
    argument("padded", "\"%100000s\""),
    argument("groups", "(.repeat \"$0\" 100000)"),
    argument("date-pattern", "(.repeat \"yyyy-MM-dd \" 20000)"),
    argument("name-key", ":total"),
    argument("long-key", "(keyword letters)"),
    argument("adder", "+"),
    argument("same", "identity"),
    argument("twice", "(fn [& xs] xs)"),
    argument("always", "(fn [& xs] true)"),
    argument("day", "(LocalDate/of 2031 4 3)"),
    argument("moment", "(Instant/ofEpochMilli 1)"),
    argument("simple-pattern", "#\"a\""),
    argument("any-pattern", "#\".*\""),
    argument("greedy-pattern", "#\"(a|b|ab)*c\""),
    argument("counted-pattern", "#\"(?:[a-z]{1,50}){1,20}!\""),
    argument("looking-pattern", "#\"(?=(a+))\\\\1b\""),
    argument("words-pattern", "#\"\\\\p{L}+[0-9]*$\""),
];

/// Collections of other values.
pub const COLLECTIONS: &[Argument] = &[
    argument("empty-vector", "[]"),
    argument("pair", "[1 2]"),
    argument("small-map", "{:a 1 \"b\" {:c [1 2 3]}}"),
    argument("small-set", "#{1 2 3}"),
    argument("wide", "(vec (range 30000))"),
    argument("wide-map", "(zipmap (range 20000) (range 20000))"),
    argument("wide-set", "(set (range 20000))"),
    argument("sorted-wide", "(into (sorted-map) (zipmap (range 5000) (range 5000)))"),
    argument("records", "(mapv (fn [i] {:id i :name (str \"n\" i) :tags [i (inc i)]}) (range 3000))"),
    argument("text-keys", "(zipmap (map (fn [i] (str letters i)) (range 20)) (range 20))"),
    argument("long-keys", "(vec (repeat 300 text-keys))"),
    argument("nested-maps", "(mapv (fn [i] {:user {:id i}}) (range 5000))"),
    argument("deep", "(reduce (fn [inner _] [inner]) [] (range 20000))"),
    argument("deep-twin", "(reduce (fn [inner _] [inner]) [] (range 20000))"),
    argument("deep-maps", "(reduce (fn [inner _] {:a inner}) {} (range 20000))"),
    argument("deep-sets", "(reduce (fn [inner _] #{inner}) #{} (range 20000))"),
    // Small in memory, endless to walk.
    argument("unfolding", "(reduce (fn [inner _] [inner inner]) 1 (range 60))"),
    argument("unfolding-maps", "(reduce (fn [inner _] {:a inner :b inner}) 1 (range 60))"),
    argument("far", "(range 1000000000)"),
    argument("endless", "(iterate inc 0)"),
    argument("big-vector", "(vec (repeat 10000 big))"),
    argument("big-pairs", "(vec (mapcat (fn [_] [big big-twin]) (range 5000)))"),
    argument("big-keys", "(zipmap (map (fn [i] (+ big i)) (range 20)) (range 20))"),
    argument("text-vector", "(vec (repeat 10000 long-text))"),
    argument("text-pairs", "(vec (mapcat (fn [_] [long-text long-twin]) (range 5000)))"),
    argument("mark-vector", "(vec (repeat 10000 marks))"),
    argument("digit-vector", "(vec (repeat 10000 digits))"),
    argument("half-vector", "(mapv (fn [i] (/ i 7)) (range 10000))"),
    argument("short-texts", "(mapv (fn [i] (str \"text \" i)) (range 10000))"),
    argument("key-vector", "(mapv (fn [i] (keyword (str \"k\" i))) (range 5000))"),
    argument("long-key-vector", "(vec (repeat 10000 long-key))"),
    argument("day-vector", "(mapv (fn [i] (.plusDays day i)) (range 10000))"),
    argument("wide-vector", "(vec (repeat 10000 wide))"),
    argument("map-vector", "(vec (repeat 10000 wide-map))"),
    argument("set-vector", "(vec (repeat 10000 wide-set))"),
    argument("deep-vector", "(vec (repeat 10000 deep))"),
    argument("deep-pairs", "(vec (mapcat (fn [_] [deep deep-twin]) (range 5000)))"),
    argument("unfolding-vector", "(vec (repeat 10000 unfolding))"),
    argument("pairs", "(mapv (fn [i] [i (- i)]) (range 10000))"),
    argument("pattern-vector", "(vec (repeat 10000 counted-pattern))"),
    argument("function-vector", "(vec (repeat 10000 identity))"),
    argument("nil-vector", "(vec (repeat 10000 nil))"),
];

/// Returns all arguments, in the order they are defined.
pub fn arguments() -> impl Iterator<Item = &'static Argument> {
    PLAIN.iter().chain(COLLECTIONS)
}
