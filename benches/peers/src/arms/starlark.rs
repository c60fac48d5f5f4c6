//! Starlark (facebook's). A program is a frozen module with a function `main`;
//! each call has a new module, heap and evaluator, since its heap is freed only
//! as a whole. The crate turns on serde_json/arbitrary_precision, which makes
//! every `serde_json` number a string: any host that links it pays for that.

use crate::accumulators::programs;
use crate::bench::{Bench, Share};
use crate::data;
use ::starlark::environment::{FrozenModule, Globals, Module};
use ::starlark::eval::Evaluator;
use ::starlark::syntax::{AstModule, Dialect};
use ::starlark::values::dict::DictRef;
use ::starlark::values::float::StarlarkFloat;
use ::starlark::values::list::ListRef;
use ::starlark::values::{OwnedFrozenValue, Value as S, ValueLike};
use serde_json::{Map, Value, json};
use std::hint::black_box;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/python/", $n, ".py"))
    };
}

/// Expands to the name and the text of a program of Starlark's own.
macro_rules! own {
    ($n:literal) => {
        ($n, include_str!(concat!("../../progs/starlark/accumulators/", $n, ".star")))
    };
}

/// Accumulator programs that cannot be shared with Python: Starlark has no `while`, sets or `isinstance`, and does
/// not iterate over strings.
const OWN: [(&str, &str); 6] = [
    own!("bfs_grid"),
    own!("collatz"),
    own!("grid_paths"),
    own!("json_rewrite"),
    own!("tokenizer"),
    own!("union_find"),
];

/// Returns the version for reports.
pub fn version() -> String {
    "0.14.2".into()
}

fn from_star(v: S) -> Value {
    if let Some(i) = v.unpack_i32() {
        json!(i)
    } else if let Some(f) = v.downcast_ref::<StarlarkFloat>() {
        json!(f.0)
    } else if let Some(s) = v.unpack_str() {
        json!(s)
    } else if let Some(b) = v.unpack_bool() {
        json!(b)
    } else if let Some(l) = ListRef::from_value(v) {
        l.iter().map(from_star).collect()
    } else if let Some(d) = DictRef::from_value(v) {
        let mut m = Map::new();
        for (k, v) in d.iter() {
            m.insert(k.unpack_str().unwrap().to_string(), from_star(v));
        }
        Value::Object(m)
    } else {
        Value::Null
    }
}

fn parse(src: &str) -> AstModule {
    AstModule::parse("main.star", src.to_string(), &Dialect::Extended).unwrap()
}

/// Compiles a program to a frozen module.
fn compile(globals: &Globals, src: &str) -> FrozenModule {
    Module::with_temp_heap(|m| {
        Evaluator::new(&m).eval_module(parse(src), globals).unwrap();
        m.freeze().unwrap()
    })
}

/// Puts data into a frozen heap of its own.
fn freeze(v: &Value) -> OwnedFrozenValue {
    Module::with_temp_heap(|m| {
        m.set("data", m.heap().alloc(v));
        m.freeze().unwrap()
    })
    .get("data")
    .unwrap()
}

fn call<R>(f: &OwnedFrozenValue, arg: Option<&OwnedFrozenValue>, out: impl FnOnce(S) -> R) -> R {
    Module::with_temp_heap(|m| {
        let f = m.heap().access_owned_frozen_value(f);
        let arg = arg.map(|a| m.heap().access_owned_frozen_value(a));
        let mut ev = Evaluator::new(&m);
        out(ev.eval_function(f, arg.as_slice(), &[]).unwrap())
    })
}

fn call_host<R>(f: &OwnedFrozenValue, arg: &Value, out: impl FnOnce(S) -> R) -> R {
    Module::with_temp_heap(|m| {
        let f = m.heap().access_owned_frozen_value(f);
        let arg = m.heap().alloc(arg);
        let mut ev = Evaluator::new(&m);
        out(ev.eval_function(f, &[arg], &[]).unwrap())
    })
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let globals = Globals::standard();
    let text = data::text();
    let args = [
        ("W1", prog!("w1"), None),
        ("W2", prog!("w2"), None),
        ("W3", prog!("w3"), Some(freeze(&data::orders_json()))),
        ("W4", prog!("w4"), Some(freeze(&Value::String(text)))),
        ("W5", prog!("w5"), None),
    ];
    for (w, src, arg) in &args {
        let m = compile(&globals, src);
        let f = m.get("main").unwrap();
        b.time(w, || call(&f, arg.as_ref(), from_star));
        b.time(&format!("{w}.cold"), || {
            let m = compile(&globals, black_box(src));
            call(&m.get("main").unwrap(), arg.as_ref(), from_star)
        });
    }
    for (name, python) in programs!(sources "python", ".py") {
        let src = OWN.iter().find(|(own, _)| *own == name).map_or(python, |(_, src)| *src);
        let m = compile(&globals, src);
        let f = m.get("main").unwrap();
        b.time(name, || call(&f, None, from_star));
    }
    let src = data::orders_text();
    b.time_note("W3j", "serde_json::Value (numbers as strings), then its heap", || {
        let v: Value = serde_json::from_str(black_box(&src)).unwrap();
        Module::with_temp_heap(|m| json!(ListRef::from_value(m.heap().alloc(&v)).unwrap().len()))
    });
    let cold = |globals: &Globals, src: &str| {
        Module::with_temp_heap(|m| from_star(Evaluator::new(&m).eval_module(parse(src), globals).unwrap()))
    };
    b.time_note("W7.ctx", "the standard globals; usually made once for a process", || {
        black_box(Globals::standard());
        Value::Null
    });
    b.time("W7.tiny", || cold(&globals, black_box(prog!("tiny"))));
    b.time("W7.prog", || cold(&globals, black_box(prog!("prog"))));
    b.time("W7.fresh", || cold(&Globals::standard(), black_box(prog!("prog"))));

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let m = compile(&Globals::standard(), prog!("w6"));
            let f = m.get("main").unwrap();
            share.run(|acc| {
                for r in part {
                    acc.add_json(&call_host(&f, r, from_star));
                }
            })
        };
        let note = "serde_json numbers are strings here (arbitrary_precision)";
        b.records("W6", note, &recs, host);
        b.records(
            "W6.text",
            "parsed by serde_json",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let m = compile(&Globals::standard(), prog!("w6"));
                let f = m.get("main").unwrap();
                share.run(|acc| {
                    for r in part {
                        let r = serde_json::from_str(r).unwrap();
                        acc.add_json(&call_host(&f, &r, from_star));
                    }
                })
            },
        );
        b.passes("W6.own", "", &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let m = compile(&Globals::standard(), prog!("w6"));
            let f = m.get("main").unwrap();
            let own: Vec<OwnedFrozenValue> = part.iter().map(freeze).collect();
            share.run(|acc| {
                for r in &own {
                    call(&f, Some(r), |v| {
                        let d = DictRef::from_value(v).unwrap();
                        acc.add(
                            d.get_str("id").unwrap().unpack_i32().unwrap() as i64,
                            d.get_str("score").unwrap().downcast_ref::<StarlarkFloat>().unwrap().0,
                            d.get_str("label").unwrap().unpack_str().unwrap(),
                        );
                    })
                }
            })
        });
        let one = freeze(&recs[0]);
        b.time("W6.cold", || {
            let m = compile(&globals, black_box(prog!("w6")));
            call(&m.get("main").unwrap(), Some(&one), from_star)
        });
    }
}
