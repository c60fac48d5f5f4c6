//! CEL (cel-rust). An expression language: no loops, functions or sums, so it only does W6 and the small cold
//! program. The record is a variable of a fresh inner scope.

use crate::bench::{Bench, Share};
use crate::data;
use cel::objects::{Key, Map as CMap};
use cel::{Context, Program, Value as C};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/cel/", $n, ".cel"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "0.15.0".into()
}

fn to_cel(v: &Value) -> C {
    match v {
        Value::Null => C::Null,
        Value::Bool(b) => C::Bool(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => C::Int(i),
            None => C::Float(n.as_f64().unwrap()),
        },
        Value::String(s) => C::String(Arc::new(s.clone())),
        Value::Array(a) => C::List(Arc::new(a.iter().map(to_cel).collect())),
        Value::Object(m) => {
            let map: HashMap<Key, C> =
                m.iter().map(|(k, v)| (Key::String(Arc::new(k.clone())), to_cel(v))).collect();
            C::Map(CMap { map: Arc::new(map) })
        }
    }
}

fn from_cel(v: &C) -> Value {
    match v {
        C::Int(i) => json!(i),
        C::UInt(i) => json!(i),
        C::Float(f) => json!(f),
        C::Bool(b) => json!(b),
        C::String(s) => Value::String(s.to_string()),
        C::List(l) => l.iter().map(from_cel).collect(),
        C::Map(m) => {
            let mut out = Map::new();
            for (k, v) in m.map.iter() {
                out.insert(k.to_string(), from_cel(v));
            }
            Value::Object(out)
        }
        _ => Value::Null,
    }
}

fn eval(p: &Program, root: &Context, r: C) -> C {
    let mut ctx = root.new_inner_scope();
    ctx.add_variable_from_value("r", r);
    p.execute(&ctx).unwrap()
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    for w in ["W1", "W2", "W3", "W4", "W5", "W7.prog", "W7.fresh"] {
        b.unable(w, "an expression language: no functions, no folds");
    }
    let root = Context::default();
    let src = data::orders_text();
    b.time_note("W3j", "serde_json::Value, then its values", || {
        let v: Value = serde_json::from_str(black_box(&src)).unwrap();
        match to_cel(&v) {
            C::List(l) => json!(l.len()),
            _ => unreachable!(),
        }
    });
    b.time("W7.ctx", || {
        black_box(Context::default());
        Value::Null
    });
    b.time("W7.tiny", || {
        from_cel(&Program::compile(black_box(prog!("tiny"))).unwrap().execute(&root).unwrap())
    });

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let root = Context::default();
            let p = Program::compile(prog!("w6")).unwrap();
            share.run(|acc| {
                for r in part {
                    acc.add_json(&from_cel(&eval(&p, &root, to_cel(r))));
                }
            })
        };
        b.records("W6", "", &recs, host);
        b.records(
            "W6.text",
            "parsed by serde_json",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let root = Context::default();
                let p = Program::compile(prog!("w6")).unwrap();
                share.run(|acc| {
                    for r in part {
                        let r = serde_json::from_str(r).unwrap();
                        acc.add_json(&from_cel(&eval(&p, &root, to_cel(&r))));
                    }
                })
            },
        );
        b.passes("W6.own", "", &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let root = Context::default();
            let p = Program::compile(prog!("w6")).unwrap();
            let own: Vec<C> = part.iter().map(to_cel).collect();
            let key = |s: &str| Key::String(Arc::new(s.to_string()));
            let (id, score, label) = (key("id"), key("score"), key("label"));
            share.run(|acc| {
                for r in &own {
                    let C::Map(m) = eval(&p, &root, r.clone()) else { panic!() };
                    let (C::Int(id), C::Float(s), C::String(l)) =
                        (&m.map[&id], &m.map[&score], &m.map[&label])
                    else {
                        panic!()
                    };
                    acc.add(*id, *s, l);
                }
            })
        });
        let one = to_cel(&recs[0]);
        b.time("W6.cold", || {
            from_cel(&eval(&Program::compile(black_box(prog!("w6"))).unwrap(), &root, one.clone()))
        });
    }
}
