//! Choices → data of every kind → all ways to show data.

use crate::kit::{LIMITS, RUNTIME, choices, is_too_much, told};
use crate::take::Take;
use ptc_agent::native_preview;
use ptc_agent::prompt::{inventory, type_label};
use ptc_agent::tools::NativePreview;
use ptc_contract::data::PromptLimit;
use ptc_contract::data::{Shown, Tree, show, show_public, to_json};
use ptc_contract::firewall::{is_firewalled, redact};
use ptc_runtime::bridge::{datum_to_json, datum_to_json_text};
use ptc_runtime::{Code, Datum, Frozen, Grants, Node};

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let mut take = Take::new(bytes);
    let limits =
        Shown { items: take.pick(12), string: take.pick(60), chars: take.pick(400), depth: take.pick(20) };
    let limit = PromptLimit { list: take.pick(8), string: take.pick(50), max_chars: None };
    let value = datum(&mut take);
    check_shown(&value, limits, limit);
    check_json(&value);
    let Ok(frozen) = Frozen::from_datum(&value) else { return };
    check_printed(&frozen, limits.chars);
    check_previews(&value, &frozen, limits.items);
    check_round(&value, &frozen);
}

/// Checks that data are shown within their limits, without firewalled values.
fn check_shown(value: &Datum, limits: Shown, limit: PromptLimit) {
    let tree = Tree::new(value);
    for shown in [show(tree.root(), limits), show_public(tree.root(), limits)] {
        assert!(
            shown.chars().count() <= limits.chars + 1,
            "{} of {limits:?}: {shown}",
            shown.chars().count()
        );
    }
    let _ = (inventory(tree.root(), None, limit), type_label(tree.root()));
    let public = show_public(tree.root(), Shown::default());
    let firewalled = value.nodes().iter().any(|node| match node {
        Node::Str(text) | Node::Keyword(text) => is_firewalled(text),
        _ => false,
    });
    if firewalled {
        let redacted = redact(value);
        let again = show_public(Tree::new(&redacted).root(), Shown::default());
        assert_eq!(public, again, "what is taken away was not shown before");
    }
    let cut = limit.cut(&public);
    assert!(cut.len() <= limit.string + 80 || cut.len() <= public.len());
}

fn check_json(value: &Datum) {
    let json = to_json(value);
    if let Ok(json) = &json {
        assert_eq!(datum_to_json(value).as_ref().ok(), Some(json));
    }
    for most in [10, 1_000, 1_000_000] {
        if let Ok(text) = datum_to_json_text(value, most) {
            assert!(text.len() <= most, "{} of {most}", text.len());
        }
    }
}

/// Checks that data print within the limit, or give a fault that says so.
fn check_printed(frozen: &Frozen, most: usize) {
    frozen.read(|heap, value| {
        let mut text = String::new();
        match heap.print(value, &mut text, most) {
            Ok(()) => assert!(text.len() <= most, "{} of {most}", text.len()),
            Err(fault) => assert_eq!(fault.code(), Code::OutputExceeded),
        }
    });
}

fn check_previews(value: &Datum, frozen: &Frozen, rows: usize) {
    for kind in [NativePreview::Metadata, NativePreview::Rows { limit: rows }] {
        let preview = native_preview::build("tool", value, frozen, &kind);
        assert_eq!(preview.json["status"], "ok");
        let size = serde_json::Value::Object(preview.json).to_string().len();
        // The preview has the arguments, and as much of the rows as a row may have.
        assert!(size < 200_000 + 8 * value.bytes(), "{size}");
    }
}

/// Checks that granted data which a program prints read back as the same data.
fn check_round(value: &Datum, frozen: &Frozen) {
    let grants = Grants::new().frozen("x", frozen.clone());
    let outcome = RUNTIME.eval("[(pr-str data/x) (str data/x) (count (print-str data/x)) data/x]", &grants);
    let _ = told(&outcome);
    let is_readable = value.nodes().iter().all(|node| match node {
        Node::Float(x) => !x.is_nan(),
        Node::Nil | Node::Bool(_) | Node::Int(_) | Node::Big(_) | Node::Str(_) => true,
        Node::Vector(_) | Node::Map(_) | Node::Set(_) => true,
        _ => false,
    });
    let Ok(outcome) = RUNTIME.eval("data/x", &grants) else { return };
    let Ok(printed) = outcome.print() else { return };
    if !is_readable || printed.len() as u64 > LIMITS.source_bytes {
        return;
    }
    let again = RUNTIME.eval(&printed, &Grants::new());
    match again {
        Ok(again) => assert_eq!(again.print().as_deref().ok(), Some(&*printed)),
        Err(failure) => assert!(is_too_much(&failure), "{failure}\n{printed}"),
    }
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "_key",
    "two words",
    "\"quoted\" \\ \n\t\r",
    "\u{0}\u{1b}[31m\u{7f}\u{2028}",
    "e\u{301}\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
    "…(+3 items)",
    "<Firewalled>",
    ":a",
    "##NaN",
    "2024-02-30",
    "id",
    "name",
];

/// Generates data of every kind, from the leaves up.
fn datum(take: &mut Take<'_>) -> Datum {
    let mut nodes = Vec::new();
    // Number of values side by side so far.
    let mut open: usize = 0;
    for _ in 0..300 {
        if take.is_empty() {
            break;
        }
        let node = match take.pick(20) {
            0 => Node::Nil,
            1 => Node::Bool(take.pick(2) == 1),
            2 => Node::Int(take.number()),
            3 => Node::Int(take.pick(10) as i64 - 5),
            4 => Node::Float(f64::from_bits(take.number() as u64)),
            5 => Node::Float([0.0, -0.0, f64::NAN, f64::INFINITY, 1e21, 0.1][take.pick(6)]),
            6 => Node::Big(format!("{}{}", take.number(), u64::MAX).into()),
            7 | 8 => Node::Str(take.one_of(TEXTS).into()),
            9 => Node::Str(take.one_of(TEXTS).repeat(take.pick(200)).into()),
            10 => Node::Keyword(take.one_of(TEXTS).into()),
            11 => Node::Symbol(take.one_of(TEXTS).into()),
            12 => Node::Regex(take.one_of(&["a+", "(", "[", "\\d", ""]).into()),
            13 => Node::Day(take.number() as i32),
            14 => Node::Instant(take.number()),
            15 => Node::Duration(take.number()),
            16 => Node::Opaque(take.one_of(&["#fn", "#'x", ""]).into()),
            17 => Node::Vector(take.pick(5).min(open) as u32),
            18 => Node::Map((take.pick(4).min(open / 2)) as u32),
            _ => Node::Set(take.pick(5).min(open) as u32),
        };
        open = 1 + match node {
            Node::Vector(n) | Node::Set(n) => open - n as usize,
            Node::Map(n) => open - 2 * n as usize,
            _ => open,
        };
        nodes.push(node);
    }
    if open != 1 {
        nodes.push(Node::Vector(open as u32));
    }
    Datum::new(nodes).expect("one value")
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    choices(200)
}
