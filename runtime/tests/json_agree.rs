//! Random documents and random bytes, compared with serde_json; and data of maximum depth.

use proptest::prelude::*;
use ptc_runtime::json::{ReadOptions, WriteOptions, parse_json, parse_json_bytes, write_json};
use ptc_vm::{Heap, Value};
use serde_json::Value as Json;

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        (-1000i64..1000).prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| format!("{x:?}")),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][-+]?[0-9]{1,2})?",
    ]
}

/// Generates a string literal, with escapes a writer would not need.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z0-9 ]{0,12}",
        1 => any::<char>().prop_map(|c| serde_json::to_string(&c).unwrap().trim_matches('"').to_string())
            .prop_filter("a quote", |s| !s.is_empty() && s != "\\"),
        1 => any::<char>().prop_map(|c| {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().map(|u| format!("\\u{u:04X}")).collect::<String>()
        }),
        1 => Just("\\/".to_string()),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Generates few different keys, so that they repeat and shapes are shared.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![8 => "\"[a-d]{1,2}\"", 1 => string()]
}

fn blank() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_string()),
        Just("true".to_string()),
        Just("false".to_string()),
        number(),
        string()
    ];
    leaf.prop_recursive(6, 200, 24, |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..24), blank())
                .prop_map(|(items, b)| format!("[{b}{}{b}]", items.join(&format!("{b},{b}")))),
            (prop::collection::vec((key(), inner), 0..24), blank()).prop_map(|(entries, b)| {
                let entries: Vec<String> = entries.iter().map(|(k, v)| format!("{k}{b}:{b}{v}")).collect();
                format!("{{{b}{}{b}}}", entries.join(&format!("{b},{b}")))
            }),
        ]
    })
}

fn parse(heap: &mut Heap, text: &str) -> Value {
    parse_json(heap, text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn written(text: &str) -> String {
    let mut heap = Heap::unbounded();
    let value = parse(&mut heap, text);
    let mut out = String::new();
    write_json(&heap, value, &mut out, &WriteOptions::default()).unwrap();
    out
}

/// Compares leniently: serde_json reads integers beyond 64 bits as floats, and floats only to within a few bits of
/// the nearest, both in its input and in our output (unit tests compare ours with Rust's own).
fn same(ours: &Json, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Json::Number(a), Json::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(x), Some(y)) => a == b || (x - y).abs() <= x.abs() * 2e-15,
            _ => false,
        },
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => ours == theirs,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn we_read_what_serde_json_reads(text in document()) {
        let theirs: Json = serde_json::from_str(&text).unwrap();
        let ours: Json = serde_json::from_str(&written(&text)).unwrap();
        prop_assert!(same(&ours, &theirs), "{text}\n{ours}\n{theirs}");
    }

    #[test]
    fn what_is_written_reads_the_same(text in document()) {
        let once = written(&text);
        prop_assert_eq!(&written(&once), &once);
    }

    #[test]
    fn random_bytes_never_panic_and_agree(bytes: Vec<u8>) {
        let mut heap = Heap::unbounded();
        let ours = parse_json_bytes(&mut heap, &bytes, &ReadOptions::default());
        let theirs = serde_json::from_slice::<Json>(&bytes);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok());
    }

    #[test]
    fn damaged_documents_never_panic_and_agree(text in document(), at: prop::sample::Index, byte in 0u8..128) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let mut heap = Heap::unbounded();
        let ours = parse_json_bytes(&mut heap, &bytes, &ReadOptions::default());
        let theirs = serde_json::from_slice::<Json>(&bytes);
        // serde_json refuses half surrogate pairs and infinite numbers on purpose.
        let lenient = theirs.as_ref().err().is_some_and(|error| {
            let message = error.to_string();
            message.contains("surrogate") || message.contains("hex escape") || message.contains("out of range")
        });
        prop_assert!(ours.is_ok() == theirs.is_ok() || lenient, "{:?} {theirs:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn depth_costs_no_stack() {
    const DEPTH: usize = 300_000;
    let work = || {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"k\":[", "]}]")] {
            let text = format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
            assert_eq!(written(&text), text);
            let mut heap = Heap::unbounded();
            assert!(parse_json(&mut heap, &open.repeat(DEPTH), &ReadOptions::default()).is_err());
        }
    };
    std::thread::Builder::new().stack_size(64 * 1024).spawn(work).unwrap().join().unwrap();
}
