//! Row groups that hold nothing a filter lets through, as their statistics say.

use arrow_schema::{DataType, Schema};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use ptc_bytecode::Key;
use ptc_runtime::{Condition, Literal, Order, Projection};

/// True if no row of the group gives anything but nil: one of the conditions never holds, and those before it never fail.
pub(super) fn is_excluded(group: &RowGroupMetaData, schema: &Schema, conditions: &[Condition]) -> bool {
    for condition in conditions {
        match holds(group, schema, condition) {
            Some(Holds::Never) => return true,
            Some(Holds::Perhaps) => {}
            None => return false,
        }
    }
    false
}

/// Rows of a group for which a condition holds.
enum Holds {
    Never,
    Perhaps,
}

/// Returns whether a condition may hold; None if it may fail, or nothing is known about the column.
fn holds(group: &RowGroupMetaData, schema: &Schema, condition: &Condition) -> Option<Holds> {
    // A key may find two columns, of which the program reads one.
    let key = Projection::default().with(condition.member.clone(), Projection::whole());
    let mut found = schema.fields().iter().filter(|field| key.member(field.name()).is_some());
    let (Some(field), None) = (found.next(), found.next()) else { return None };
    let mut columns = group.columns().iter();
    let column =
        columns.find(|column| matches!(column.column_path().parts(), [name] if name == field.name()))?;
    let statistics = column.statistics()?;
    // Nil is neither equal to a literal nor less or greater.
    if statistics.null_count_opt().and_then(|nulls| i64::try_from(nulls).ok()) == Some(group.num_rows()) {
        return Some(Holds::Never);
    }
    // Old writers put bytes and unsigned integers in the wrong order.
    if statistics.is_min_max_deprecated() {
        return None;
    }
    let is_never = match (&condition.literal, range(statistics, field.data_type())?) {
        (Literal::Int(n), Range::Int(min, max)) => is_outside(&i128::from(*n), &min, &max, condition.order),
        (Literal::Int(n), Range::Float(min, max)) if n.unsigned_abs() <= MAX_EXACT => {
            is_outside(&(*n as f64), &min, &max, condition.order)
        }
        (Literal::Float(x), Range::Float(min, max)) => is_outside(x, &min, &max, condition.order),
        (Literal::Text(text), Range::Text(min, max)) if condition.order == Order::Equal => {
            is_outside(text.as_bytes(), min, max, Order::Equal)
        }
        _ => return None,
    };
    Some(if is_never { Holds::Never } else { Holds::Perhaps })
}

/// Largest integers that floats hold exactly.
const MAX_EXACT: u64 = 1 << 53;

/// The smallest and largest value of a column, or bounds of them.
enum Range<'s> {
    Int(i128, i128),
    Float(f64, f64),
    Text(&'s [u8], &'s [u8]),
}

/// Returns the range of integers, floats and texts. NaN is in no statistics, and nil in a record; infinities are nil, too.
fn range<'s>(statistics: &'s Statistics, kind: &DataType) -> Option<Range<'s>> {
    let is_unsigned = kind.is_unsigned_integer();
    match (statistics, kind) {
        (Statistics::Int32(known), kind) if kind.is_integer() => {
            let of = |n: i32| if is_unsigned { i128::from(n as u32) } else { i128::from(n) };
            Some(Range::Int(of(*known.min_opt()?), of(*known.max_opt()?)))
        }
        (Statistics::Int64(known), kind) if kind.is_integer() => {
            let of = |n: i64| if is_unsigned { i128::from(n as u64) } else { i128::from(n) };
            Some(Range::Int(of(*known.min_opt()?), of(*known.max_opt()?)))
        }
        (Statistics::Double(known), DataType::Float64) => {
            let (min, max) = (*known.min_opt()?, *known.max_opt()?);
            (!min.is_nan() && !max.is_nan()).then_some(Range::Float(min, max))
        }
        (Statistics::ByteArray(known), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
            Some(Range::Text(known.min_opt()?.data(), known.max_opt()?.data()))
        }
        _ => None,
    }
}

/// True if nothing from `min` to `max` is in this order with `n`.
fn is_outside<T: PartialOrd + ?Sized>(n: &T, min: &T, max: &T, order: Order) -> bool {
    match order {
        Order::Less => min >= n,
        Order::LessOrEqual => min > n,
        Order::Equal => n < min || n > max,
        Order::GreaterOrEqual => max < n,
        Order::Greater => max <= n,
    }
}

/// Returns a condition as text, for `--explain`.
pub(super) fn shown(condition: &Condition) -> String {
    let Key { name, .. } = &condition.member;
    let order = match condition.order {
        Order::Less => "<",
        Order::LessOrEqual => "<=",
        Order::Equal => "=",
        Order::GreaterOrEqual => ">=",
        Order::Greater => ">",
    };
    match &condition.literal {
        Literal::Int(n) => format!("{name} {order} {n}"),
        Literal::Float(x) => format!("{name} {order} {x:?}"),
        Literal::Text(text) => format!("{name} {order} {text:?}"),
    }
}
