//! Natives that test one value. None of them faults.

use super::args::arg;
use num_integer::Integer;
use ptc_vm::{Call, Stop, Value};

/// Defines predicates that depend on the value alone.
macro_rules! predicates {
    ($($(#[doc = $doc:literal])* $name:ident |$x:ident| $test:expr;)*) => {
        $($(#[doc = $doc])*
        pub fn $name(call: &mut Call<'_>) -> Result<Value, Stop> {
            let $x = arg(call, 1);
            Ok(Value::bool($test))
        })*
    };
}

predicates! {
    /// `(nil? x)`
    nil_p |x| matches!(x, Value::Nil);
    /// `(some? x)`
    some_p |x| !matches!(x, Value::Nil);
    /// `(true? x)`
    true_p |x| matches!(x, Value::True);
    /// `(false? x)`
    false_p |x| matches!(x, Value::False);
    /// `(boolean? x)`
    boolean_p |x| matches!(x, Value::True | Value::False);
    /// `(number? x)`
    number_p |x| x.is_number();
    /// `(int? x)`
    int_p |x| matches!(x, Value::Int(_) | Value::Big(_));
    /// `(float? x)`
    float_p |x| matches!(x, Value::Float(_));
    /// `(infinite? x)`
    infinite_p |x| matches!(x, Value::Float(f) if f.get().is_infinite());
    /// `(NaN? x)`
    nan_p |x| matches!(x, Value::Float(f) if f.get().is_nan());
    /// `(string? x)`
    string_p |x| matches!(x, Value::Str(_));
    /// `(keyword? x)`
    keyword_p |x| matches!(x, Value::Keyword(_));
    /// `(symbol? x)`
    symbol_p |x| matches!(x, Value::Symbol(_));
    /// `(vector? x)`
    vector_p |x| matches!(x, Value::Vector(_) | Value::Range(_));
    /// `(seq? x)`, `(sequential? x)`
    seq_p |x| matches!(x, Value::Vector(_) | Value::Range(_) | Value::Endless(_));
    /// `(map? x)`
    map_p |x| matches!(x, Value::Map(_));
    /// `(set? x)`
    set_p |x| matches!(x, Value::Set(_));
    /// `(coll? x)`
    coll_p |x| matches!(
        x,
        Value::Vector(_) | Value::Range(_) | Value::Endless(_) | Value::Map(_) | Value::Set(_)
    );
    /// `(counted? x)`
    counted_p |x| matches!(x, Value::Vector(_) | Value::Range(_) | Value::Map(_) | Value::Set(_));
    /// `(associative? x)`
    associative_p |x| matches!(x, Value::Vector(_) | Value::Range(_) | Value::Map(_));
    /// `(fn? x)`
    fn_p |x| is_fn(x);
    /// `(ifn? x)`
    ifn_p |x| is_fn(x)
        || matches!(
            x,
            Value::Keyword(_) | Value::Map(_) | Value::Set(_) | Value::Vector(_) | Value::Range(_)
        );
    /// `(inst? x)`
    inst_p |x| matches!(x, Value::Instant(_));
    /// `(regex? x)`
    regex_p |x| matches!(x, Value::Regex(_));
    /// `(seqable? x)`
    seqable_p |x| matches!(
        x,
        Value::Nil
            | Value::Str(_)
            | Value::Vector(_)
            | Value::Range(_)
            | Value::Endless(_)
            | Value::Map(_)
            | Value::Set(_)
    );
}

/// `(any? x)`
pub fn any_p(_call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::True)
}

/// Returns false, for kinds of values this language does not have.
pub fn never_p(_call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::False)
}

fn is_fn(x: Value) -> bool {
    matches!(x, Value::Closure(_) | Value::Builtin(_) | Value::Tool(_))
}

/// True if argument 1 is a number with this sign: -1, 0 or 1. NaN has none.
fn has_sign(call: &Call<'_>, sign: i32) -> bool {
    let (x, zero) = (arg(call, 1), Value::Int(0));
    match sign {
        0 => matches!(x, Value::Int(0)) || matches!(x, Value::Float(f) if f.get() == 0.0),
        1 => x.is_number() && call.heap.less(zero, x),
        _ => x.is_number() && call.heap.less(x, zero),
    }
}

fn is_int(call: &Call<'_>) -> bool {
    matches!(arg(call, 1), Value::Int(_) | Value::Big(_))
}

/// `(zero? x)`
pub fn zero_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(has_sign(call, 0)))
}

/// `(pos? x)`
pub fn pos_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(has_sign(call, 1)))
}

/// `(neg? x)`
pub fn neg_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(has_sign(call, -1)))
}

/// `(nat-int? x)`
pub fn nat_int_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(is_int(call) && !has_sign(call, -1)))
}

/// `(pos-int? x)`
pub fn pos_int_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(is_int(call) && has_sign(call, 1)))
}

/// `(neg-int? x)`
pub fn neg_int_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(is_int(call) && has_sign(call, -1)))
}

/// Returns true for an even and false for an odd argument 1; None unless it is whole.
fn evenness(call: &Call<'_>) -> Option<bool> {
    match arg(call, 1) {
        Value::Int(n) => Some(n & 1 == 0),
        x @ Value::Big(_) => call.heap.to_bigint(x).map(|n| n.is_even()),
        Value::Float(x) if x.get().is_finite() && x.get().fract() == 0.0 => Some(x.get() % 2.0 == 0.0),
        _ => None,
    }
}

/// `(even? x)`
pub fn even_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(evenness(call) == Some(true)))
}

/// `(odd? x)`
pub fn odd_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(evenness(call) == Some(false)))
}

/// `(char? x)`
pub fn char_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    // A grapheme of more bytes than this was not typed by a person; the bound keeps the test cheap.
    const LONGEST: usize = 256;
    Ok(Value::bool(match arg(call, 1) {
        Value::Str(r) => call.heap.str(r).len() <= LONGEST && call.heap.text_len(r) == 1,
        _ => false,
    }))
}

fn keyword_is_qualified(call: &Call<'_>) -> Option<bool> {
    match arg(call, 1) {
        Value::Keyword(r) => Some(call.heap.str(r).contains('/')),
        _ => None,
    }
}

/// `(simple-keyword? x)`
pub fn simple_keyword_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(keyword_is_qualified(call) == Some(false)))
}

/// `(qualified-keyword? x)`
pub fn qualified_keyword_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(keyword_is_qualified(call) == Some(true)))
}

/// `(type x)`
pub fn type_of(call: &mut Call<'_>) -> Result<Value, Stop> {
    let word = match arg(call, 1) {
        Value::Nil => return Ok(Value::Nil),
        Value::Vector(_) | Value::Range(_) | Value::Endless(_) => "vector",
        Value::State(r) => call.heap.state_kind(r).word(),
        x => x.type_word(),
    };
    call.heap.new_keyword(word)
}
