//! Comparison of every arm's answers with those of the native arm.

use crate::row::Row;
use serde_json::{Value, json};

/// Returns the rows with a wrong answer, each with the expected one.
pub fn wrong(rows: &[Row]) -> Vec<(&Row, Value)> {
    let compared = rows.iter().filter_map(|row| Some((row, expected(rows, row)?)));
    compared.filter(|(row, expected)| !same(expected, &row.answer)).collect()
}

/// Returns the number of rows with an answer to compare.
pub fn compared(rows: &[Row]) -> usize {
    rows.iter().filter(|row| expected(rows, row).is_some()).count()
}

fn expected(rows: &[Row], row: &Row) -> Option<Value> {
    row.timing.as_ref()?;
    let workload = match row.workload.as_str() {
        "W7.tiny" => return Some(json!(3)),
        "W7.prog" | "W7.fresh" => {
            return Some(json!(
                "1:ann=55(medium); 2:bob=50(medium); 3:cat=132(medium); 4:dan=270(big) #5480"
            ));
        }
        "W7.ctx" => return None,
        "W8" => return Some(json!("3")),
        // The first record of W6.
        "W6.cold" => return Some(crate::arms::native::score(&crate::data::records(1)[0])),
        "W6.x2" | "W6.text" | "W6.text.x2" | "W6.lines" | "W6.lines.x2" => "W6",
        other => other.strip_suffix(".cold").unwrap_or(other),
    };
    let native = |workload: &str| rows.iter().find(|row| row.arm == "native" && row.workload == workload);
    native(&row.workload).or_else(|| native(workload)).map(|row| row.answer.clone())
}

/// Compares values; 3 equals 3.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}
