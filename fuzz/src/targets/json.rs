//! JSON bytes → granted data → JSON.

use crate::kit::{LIMITS, RUNTIME, files, told};
use ptc_runtime::json::{
    ReadOptions, WriteOptions, freeze_json, freeze_json_lines, parse_json_bytes, write_json,
};
use ptc_runtime::{Frozen, Grants};
use ptc_vm::Heap;
use serde_json::Value;

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    // The bytes read as JSON lines.
    let _ = freeze_json_lines(bytes, LIMITS.granted_bytes);
    // Every limit is kept.
    for limit in [0, 100, 1_000] {
        if let Ok(frozen) = freeze_json(bytes, limit) {
            assert!(frozen.bytes() as u64 <= limit, "{} bytes of {limit}", frozen.bytes());
        }
    }
    let keywords = ReadOptions { keyword_keys: true, ..ReadOptions::default() };
    let _ = parse_json_bytes(&mut Heap::unbounded(), bytes, &keywords);
    let theirs = serde_json::from_slice::<Value>(bytes);
    match freeze_json(bytes, LIMITS.granted_bytes) {
        Ok(ours) => check(bytes, &ours, theirs.ok().as_ref()),
        Err(error) => {
            assert!(error.to_string().len() < 2_000, "{error}");
            // PTC reports a syntax error only for text that serde_json refuses too.
            assert!(theirs.is_err() || !error.is_syntax(), "{error}: {:?}", String::from_utf8_lossy(bytes));
        }
    }
}

fn check(bytes: &[u8], frozen: &Frozen, theirs: Option<&Value>) {
    let text = written(frozen);
    let again = freeze_json(&text, LIMITS.granted_bytes * 4).expect("what is written can be read");
    assert_eq!(written(&again), text, "{:?}", String::from_utf8_lossy(bytes));
    let ours: Value = match serde_json::from_str(&text) {
        Ok(ours) => ours,
        // serde_json limits nesting and has no integers beyond its floats; PTC has neither limit.
        Err(error) => {
            let known = ["recursion limit", "number out of range"];
            return assert!(known.iter().any(|known| error.to_string().contains(known)), "{error}: {text}");
        }
    };
    if let Some(theirs) = theirs {
        assert!(is_same(&ours, theirs), "{ours}\n{theirs}");
    }
    let grants = Grants::new().frozen("x", frozen.clone());
    let outcome = RUNTIME.eval("data/x", &grants);
    let printed = told(&outcome);
    if let Ok(outcome) = outcome {
        match outcome.json() {
            Ok(json) => assert_eq!(json, text),
            // JSON reads numbers beyond a float as infinite, and has no word for them.
            Err(_) => assert!(
                text.len() as u64 > LIMITS.result_bytes
                    || printed.as_ref().is_ok_and(|printed| printed.contains("##"))
            ),
        }
        assert!(printed.is_ok());
        if let Ok(json) = outcome.get::<Value>() {
            assert!(is_same(&json, &ours), "{json}\n{ours}");
        }
    }
}

fn written(frozen: &Frozen) -> String {
    frozen.read(|heap, value| {
        let mut text = String::new();
        write_json(heap, value, &mut text, &WriteOptions::default())
            .expect("read from JSON, it has a JSON form");
        text
    })
}

/// Compares with serde_json, which reads integers beyond 64 bits as floats and rounds floats to within a few
/// bits. JSON has no infinite numbers.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(x), Some(y)) => a == b || (x - y).abs() <= x.abs() * 2e-15,
            _ => false,
        },
        (Value::Null, Value::Number(_)) | (Value::Number(_), Value::Null) => true,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => ours == theirs,
    }
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = files("examples", ".json");
    seeds.extend(
        files("examples", ".jsonl").iter().flat_map(|file| {
            file.split(|byte| *byte == b'\n').take(4).map(<[u8]>::to_vec).collect::<Vec<_>>()
        }),
    );
    seeds.extend(crate::kit::texts(&[
        r#"{"a":[1,-0.0,1e-7,123456789012345678901234567890,1E400],"b":{"":null,"a":true},"a":"\u00e9\ud83d\ude00\ud800"}"#,
        r#"[[[[[[[[[[[[{"k":[{"k":[]}]}]]]]]]]]]]]]"#,
        "\u{FEFF} [ ]\n",
        "0.1",
        r#"[{"id":1,"n":"x"},{"id":2,"n":"y"},{"id":3,"n":"z","m":1},{"n":1,"id":4}]"#,
    ]));
    seeds
}
