//! Names that stand for numbers, such as static fields of Java classes. They are values, not functions, so they have no
//! row in the builtin table; the compiler inserts the value.

/// The value of a constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A keyword, for members of an enumeration.
    Keyword(&'static str),
}

/// One row of [`CONSTANTS`].
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// The name as a program writes it.
    pub name: &'static str,
    /// The value.
    pub value: Literal,
    /// Description in one line.
    pub doc: &'static str,
    /// An expression and its value, checked by the tests.
    pub example: &'static str,
}

macro_rules! constants {
    ($($name:literal => $kind:ident($value:expr), $doc:literal, $example:literal;)*) => {
        /// Every constant.
        pub const CONSTANTS: &[Constant] =
            &[$(Constant { name: $name, value: Literal::$kind($value), doc: $doc, example: $example },)*];
    };
}

constants! {
    "POSITIVE_INFINITY" => Float(f64::INFINITY), "Above all numbers.", "(< 1 POSITIVE_INFINITY) ;=> true";
    "NEGATIVE_INFINITY" => Float(f64::NEG_INFINITY), "Below all numbers.", "(< NEGATIVE_INFINITY 1) ;=> true";
    "NaN" => Float(f64::NAN), "Not a number.", "(NaN? NaN) ;=> true";
    "Double/POSITIVE_INFINITY" => Float(f64::INFINITY), "Above all numbers.", "(max 1 Double/POSITIVE_INFINITY) ;=> ##Inf";
    "Double/NEGATIVE_INFINITY" => Float(f64::NEG_INFINITY), "Below all numbers.", "(min 1 Double/NEGATIVE_INFINITY) ;=> ##-Inf";
    "Double/NaN" => Float(f64::NAN), "Not a number.", "(NaN? Double/NaN) ;=> true";
    "Double/MAX_VALUE" => Float(f64::MAX), "The greatest float.", "Double/MAX_VALUE ;=> 1.7976931348623157E308";
    "Double/MIN_VALUE" => Float(5e-324), "The least float above zero.", "(pos? Double/MIN_VALUE) ;=> true";
    "Float/MAX_VALUE" => Float(f32::MAX as f64), "The greatest float of 32 bits.", "Float/MAX_VALUE ;=> 3.4028234663852886E38";
    "Integer/MAX_VALUE" => Int(i32::MAX as i64), "The greatest integer of 32 bits.", "Integer/MAX_VALUE ;=> 2147483647";
    "Integer/MIN_VALUE" => Int(i32::MIN as i64), "The least integer of 32 bits.", "Integer/MIN_VALUE ;=> -2147483648";
    "Long/MAX_VALUE" => Int(i64::MAX), "The greatest integer of 64 bits.", "Long/MAX_VALUE ;=> 9223372036854775807";
    "Long/MIN_VALUE" => Int(i64::MIN), "The least integer of 64 bits.", "Long/MIN_VALUE ;=> -9223372036854775808";
    "Math/PI" => Float(std::f64::consts::PI), "The ratio of a circle's circumference to its diameter.", "Math/PI ;=> 3.141592653589793";
    "Math/E" => Float(std::f64::consts::E), "The base of natural logarithms.", "Math/E ;=> 2.718281828459045";
    "ChronoUnit/DAYS" => Keyword("days"), "For `.between`.", "ChronoUnit/DAYS ;=> :days";
    "ChronoUnit/WEEKS" => Keyword("weeks"), "For `.between`.", "ChronoUnit/WEEKS ;=> :weeks";
    "ChronoUnit/MONTHS" => Keyword("months"), "For `.between`.", "ChronoUnit/MONTHS ;=> :months";
    "ChronoUnit/YEARS" => Keyword("years"), "For `.between`.", "ChronoUnit/YEARS ;=> :years";
    "ChronoUnit/HOURS" => Keyword("hours"), "For `.between`.", "ChronoUnit/HOURS ;=> :hours";
    "ChronoUnit/MINUTES" => Keyword("minutes"), "For `.between`.", "ChronoUnit/MINUTES ;=> :minutes";
    "ChronoUnit/SECONDS" => Keyword("seconds"), "For `.between`.", "ChronoUnit/SECONDS ;=> :seconds";
    "ChronoUnit/MILLIS" => Keyword("millis"), "For `.between`.", "ChronoUnit/MILLIS ;=> :millis";
    "DateTimeFormatter/ISO_LOCAL_DATE" => Keyword("iso-date"), "For `.format`.", "DateTimeFormatter/ISO_LOCAL_DATE ;=> :iso-date";
    "DateTimeFormatter/ISO_DATE" => Keyword("iso-date"), "For `.format`.", "DateTimeFormatter/ISO_DATE ;=> :iso-date";
    "DateTimeFormatter/BASIC_ISO_DATE" => Keyword("basic-iso-date"), "For `.format`.", "DateTimeFormatter/BASIC_ISO_DATE ;=> :basic-iso-date";
    "DateTimeFormatter/ISO_LOCAL_DATE_TIME" => Keyword("iso-date-time"), "For `.format`.", "DateTimeFormatter/ISO_LOCAL_DATE_TIME ;=> :iso-date-time";
    "DateTimeFormatter/ISO_INSTANT" => Keyword("iso-instant"), "For `.format`.", "DateTimeFormatter/ISO_INSTANT ;=> :iso-instant";
}

/// Looks up the value of the constant called `name`.
///
/// ```
/// use ptc_bytecode::{Literal, constant};
/// assert_eq!(constant("Integer/MAX_VALUE"), Some(Literal::Int(2_147_483_647)));
/// assert_eq!(constant("Integer/MAX"), None);
/// ```
pub fn constant(name: &str) -> Option<Literal> {
    // All constants have a capital letter; most names that are looked up do not.
    if !name.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    CONSTANTS.iter().find(|row| row.name == name).map(|row| row.value)
}

#[cfg(test)]
mod tests {
    use super::{CONSTANTS, constant};

    #[test]
    fn names_are_unique_and_not_builtins() {
        for row in CONSTANTS {
            assert!(constant(row.name).is_some(), "{}", row.name);
            assert_eq!(CONSTANTS.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
            assert!(crate::lookup(row.name).is_none(), "{} is a builtin too", row.name);
        }
    }
}
