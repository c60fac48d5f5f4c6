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
    let nulls = statistics.null_count_opt()?;
    // Nil is not equal to a literal, and has no order: there, it is an error.
    let is_equality = condition.order == Order::Equal;
    if is_equality && i64::try_from(nulls) == Ok(group.num_rows()) {
        return Some(Holds::Never);
    }
    // Old writers put bytes and unsigned integers in the wrong order.
    if (nulls > 0 && !is_equality) || statistics.is_min_max_deprecated() {
        return None;
    }
    let is_never = match (&condition.literal, range(statistics, field.data_type())) {
        (Literal::Int(n), Some(Range::Int(min, max))) => {
            is_outside(i128::from(*n), min, max, condition.order)
        }
        (Literal::Text(text), Some(Range::Text(min, max))) => {
            is_equality && (text.as_bytes() < min || text.as_bytes() > max)
        }
        _ => return None,
    };
    Some(if is_never { Holds::Never } else { Holds::Perhaps })
}

/// The smallest and largest value of a column, or bounds of them.
enum Range<'s> {
    Int(i128, i128),
    Text(&'s [u8], &'s [u8]),
}

/// Returns the range of integers and texts. Floats have none: NaN is in no statistics, and is nil in a record.
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
        (Statistics::ByteArray(known), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
            Some(Range::Text(known.min_opt()?.data(), known.max_opt()?.data()))
        }
        _ => None,
    }
}

/// True if nothing from `min` to `max` is in this order with `n`.
fn is_outside(n: i128, min: i128, max: i128, order: Order) -> bool {
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
        Literal::Text(text) => format!("{name} {order} {text:?}"),
    }
}
