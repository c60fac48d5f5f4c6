//! Random documents and random bytes, compared with serde_json; and data of maximum depth.

use proptest::prelude::*;
use ptc_runtime::json::{JsonReader, ReadOptions, WriteOptions, parse_json, parse_json_bytes, write_json};
use ptc_runtime::{Key, Projection};
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

/// Generates parts of documents that a program may observe.
fn projection() -> impl Strategy<Value = Projection> {
    Just(Projection::whole()).prop_recursive(4, 12, 3, |inner| {
        prop::collection::vec(("[a-d]{1,2}", inner), 0..4).prop_map(|members| {
            members.into_iter().fold(Projection::default(), |all, (name, part)| {
                all.with(Key { name: name.into(), is_keyword: true }, part)
            })
        })
    })
}

/// Puts null in place of the members that a projection leaves out.
fn projected(value: Json, projection: &Projection) -> Json {
    let Json::Object(members) = value else { return value };
    let member = |(name, value): (String, Json)| {
        let part = projection.member(&name).map_or(Json::Null, |part| projected(value, &part));
        (name, part)
    };
    Json::Object(members.into_iter().map(member).collect())
}

fn shown(heap: &Heap, value: Value) -> String {
    let mut out = String::new();
    write_json(heap, value, &mut out, &WriteOptions::default()).unwrap();
    out
}

/// Compares reading in full with reading a part, by a reader that has read other texts before.
fn reads_the_same(
    texts: &[Vec<u8>],
    projection: &Projection,
    options: ReadOptions,
) -> Result<(), TestCaseError> {
    let mut reader = JsonReader::projecting(projection);
    let mut heap = Heap::unbounded();
    let mut session = reader.session(&mut heap, options);
    for text in texts {
        let mut full_heap = Heap::unbounded();
        let full = parse_json_bytes(&mut full_heap, text, &options);
        let part = session.parse_bytes(text);
        match (full, part) {
            (Ok(full), Ok(part)) => {
                let expected: Json = serde_json::from_str(&shown(&full_heap, full)).unwrap();
                let found: Json = serde_json::from_str(&shown(session.heap(), part)).unwrap();
                prop_assert_eq!(found, projected(expected, projection));
            }
            (Err(full), Err(part)) => {
                prop_assert_eq!(full.to_string(), part.to_string());
                prop_assert_eq!(full.offset(), part.offset());
            }
            (full, part) => {
                let text = String::from_utf8_lossy(text);
                prop_assert!(false, "{text}: {:?} but in part {:?}", full.is_ok(), part.is_ok());
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_part_of_a_text_is_read_as_with_the_rest(
        texts in prop::collection::vec(document(), 1..6),
        projection in projection(),
        max_depth in prop_oneof![Just(1_000_000_usize), 1_usize..6],
        max_digits in prop_oneof![Just(10_000_usize), Just(18)],
    ) {
        let texts: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
        let options = ReadOptions { max_depth, max_digits, ..ReadOptions::default() };
        reads_the_same(&texts, &projection, options)?;
    }

    #[test]
    fn damage_in_any_part_is_the_same_error(
        texts in prop::collection::vec((document(), any::<prop::sample::Index>(), damage()), 1..6),
        projection in projection(),
    ) {
        let damaged = |(text, at, damage): (String, prop::sample::Index, Damage)| {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            match damage {
                Damage::Byte(byte) => bytes[at] = byte,
                Damage::Cut => bytes.truncate(at),
                Damage::Text(more) => drop(bytes.splice(at..at, more.bytes())),
                Damage::Gap => drop(bytes.remove(at)),
            }
            bytes
        };
        let texts: Vec<Vec<u8>> = texts.into_iter().map(damaged).collect();
        reads_the_same(&texts, &projection, ReadOptions::default())?;
    }
}

#[derive(Clone, Debug)]
enum Damage {
    Byte(u8),
    Cut,
    Gap,
    Text(&'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        2 => any::<u8>().prop_map(Damage::Byte),
        1 => Just(Damage::Cut),
        1 => Just(Damage::Gap),
        2 => prop::sample::select(vec!["\\ud800", "\\udc00x", "\\u12", "\u{1}", ",", "{", "[", "]", "}", "\"", ":", "01", "1.", "1e",
            "123456789012345678901234567890", "tru", "null", "\\x"]).prop_map(Damage::Text),
    ]
}

#[test]
fn parts_that_are_skipped_have_the_same_limits() {
    let id = Key { name: "id".into(), is_keyword: true };
    let projection = Projection::default().with(id, Projection::whole());
    let long = "9".repeat(10_001);
    let texts = [
        format!("{{\"id\":1,\"n\":{long}}}"),
        format!("{{\"id\":1,\"n\":[{{\"x\":-{long}}}]}}"),
        "{\"n\":\"\\ud83d\\ude00 \\ud83d\",\"id\":\"\\ud83d\"}".to_string(),
        "{\"n\":{\"a\":1,\"a\":2},\"id\":1,\"id\":{\"a\":2,\"a\":3},\"n\":7}".to_string(),
        "{\"n\":[],\"m\":{},\"o\":[[]],\"id\":[{\"a\":null}]}".to_string(),
        "[{\"n\":1}]".to_string(),
        "{\"id\":1,\"n\":1e999}".to_string(),
    ];
    let bytes: Vec<Vec<u8>> = texts.iter().map(|text| text.clone().into_bytes()).collect();
    reads_the_same(&bytes, &projection, ReadOptions::default()).unwrap();

    // Depth needs no stack, and a skipped part no memory of the data.
    let work = move || {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let (open, close) = (open.repeat(300_000), close.repeat(300_000));
            let text = format!("{{\"n\":{open}1{close},\"id\":7}}");
            let mut heap = Heap::unbounded();
            let mut reader = JsonReader::projecting(&projection);
            let options = ReadOptions { limit_bytes: 10_000, ..ReadOptions::default() };
            let value = reader.session(&mut heap, options).parse(&text).unwrap();
            assert_eq!(shown(&heap, value), "{\"n\":null,\"id\":7}");
            assert!(parse_json(&mut Heap::unbounded(), &text, &options).is_err());
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
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
