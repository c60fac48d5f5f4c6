//! Steel (Scheme). A program defines `main`, which is then called; records are
//! immutable hashes with symbol keys, as its own JSON reader makes them.

use crate::bench::{Bench, Share};
use crate::data;
use serde_json::{Map, Value, json};
use std::hint::black_box;
use steel::SteelVal;
use steel::gc::Gc;
use steel::steel_vm::engine::Engine;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/steel/", $n, ".scm"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "0.8.3".into()
}

fn to_steel(v: &Value) -> SteelVal {
    match v {
        Value::Null => SteelVal::Void,
        Value::Bool(b) => SteelVal::BoolV(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => SteelVal::IntV(i as isize),
            None => SteelVal::NumV(n.as_f64().unwrap()),
        },
        Value::String(s) => SteelVal::StringV(s.as_str().into()),
        Value::Array(a) => SteelVal::ListV(a.iter().map(to_steel).collect()),
        Value::Object(m) => {
            let mut hm = steel::HashMap::new();
            for (k, v) in m {
                hm.insert(SteelVal::SymbolV(k.as_str().into()), to_steel(v));
            }
            SteelVal::HashMapV(Gc::new(hm).into())
        }
    }
}

fn text(v: &SteelVal) -> String {
    match v {
        SteelVal::StringV(s) | SteelVal::SymbolV(s) => s.to_string(),
        other => panic!("{other}"),
    }
}

fn from_steel(v: &SteelVal) -> Value {
    match v {
        SteelVal::IntV(i) => json!(i),
        SteelVal::NumV(f) => json!(f),
        SteelVal::BoolV(b) => json!(b),
        SteelVal::StringV(_) | SteelVal::SymbolV(_) => Value::String(text(v)),
        SteelVal::ListV(l) => l.iter().map(from_steel).collect(),
        SteelVal::HashMapV(m) => {
            let mut out = Map::new();
            for (k, v) in m.iter() {
                out.insert(text(k), from_steel(v));
            }
            Value::Object(out)
        }
        _ => Value::Null,
    }
}

fn compile(e: &mut Engine, src: &'static str) -> SteelVal {
    e.run(src).unwrap();
    e.extract_value("main").unwrap()
}

fn call(e: &mut Engine, f: &SteelVal, arg: SteelVal) -> SteelVal {
    e.call_function_with_args(f.clone(), vec![arg]).unwrap()
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let mut e = Engine::new();
    let args = [
        ("W1", prog!("w1"), SteelVal::Void),
        ("W2", prog!("w2"), SteelVal::Void),
        ("W3", prog!("w3"), to_steel(&data::orders_json())),
        ("W4", prog!("w4"), SteelVal::StringV(data::text().into())),
        ("W5", prog!("w5"), SteelVal::Void),
    ];
    for (w, src, arg) in &args {
        let f = compile(&mut e, src);
        b.time(w, || from_steel(&call(&mut e, &f, arg.clone())));
        b.time(&format!("{w}.cold"), || {
            let f = compile(&mut e, black_box(src));
            from_steel(&call(&mut e, &f, arg.clone()))
        });
    }
    let src = data::orders_text();
    b.time_note("W3j", "serde_json::Value, then its values", || {
        let v: Value = serde_json::from_str(black_box(&src)).unwrap();
        match to_steel(&v) {
            SteelVal::ListV(l) => json!(l.len()),
            _ => unreachable!(),
        }
    });
    let cold = |e: &mut Engine, src: &'static str| from_steel(e.run(black_box(src)).unwrap().last().unwrap());
    b.time("W7.tiny", || cold(&mut e, prog!("tiny")));
    b.time("W7.prog", || cold(&mut e, prog!("prog")));
    b.time("W7.ctx", || {
        black_box(Engine::new());
        Value::Null
    });
    b.time("W7.fresh", || cold(&mut Engine::new(), prog!("prog")));

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let mut e = Engine::new();
            let f = compile(&mut e, prog!("w6"));
            share.run(|acc| {
                for r in part {
                    acc.add_json(&from_steel(&call(&mut e, &f, to_steel(r))));
                }
            })
        };
        b.records("W6", "", &recs, host);
        b.records(
            "W6.text",
            "parsed by serde_json",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let mut e = Engine::new();
                let f = compile(&mut e, prog!("w6"));
                share.run(|acc| {
                    for r in part {
                        let r = serde_json::from_str(r).unwrap();
                        acc.add_json(&from_steel(&call(&mut e, &f, to_steel(&r))));
                    }
                })
            },
        );
        b.passes("W6.own", "", &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let mut e = Engine::new();
            let f = compile(&mut e, prog!("w6"));
            let own: Vec<SteelVal> = part.iter().map(to_steel).collect();
            let key = |s: &str| SteelVal::SymbolV(s.into());
            let (id, score, label) = (key("id"), key("score"), key("label"));
            share.run(|acc| {
                for r in &own {
                    let SteelVal::HashMapV(m) = call(&mut e, &f, r.clone()) else { panic!() };
                    let (SteelVal::IntV(id), SteelVal::NumV(s), SteelVal::StringV(l)) =
                        (&m[&id], &m[&score], &m[&label])
                    else {
                        panic!()
                    };
                    acc.add(*id as i64, *s, l);
                }
            })
        });
        let one = to_steel(&recs[0]);
        b.time("W6.cold", || {
            let f = compile(&mut e, black_box(prog!("w6")));
            from_steel(&call(&mut e, &f, one.clone()))
        });
    }
}
