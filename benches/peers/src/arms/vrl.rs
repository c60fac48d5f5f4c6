//! VRL. A program is a compiled expression tree resolved against a target
//! value, with a fresh `RuntimeState` (the variables) each time.

use crate::bench::{Bench, Share};
use crate::data;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::hint::black_box;
use vrl::compiler::{Context, Function, Program, TargetValue, TimeZone, state::RuntimeState};
use vrl::value::{KeyString, Secrets, Value as V};

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/vrl/", $n, ".vrl"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "0.38.0".into()
}

fn compile(fns: &[Box<dyn Function>], src: &str) -> Program {
    match vrl::compiler::compile(src, fns) {
        Ok(r) => r.program,
        Err(e) => panic!("{}", vrl::diagnostic::Formatter::new(src, e)),
    }
}

fn target(value: V) -> TargetValue {
    TargetValue { value, metadata: V::Object(BTreeMap::new()), secrets: Secrets::default() }
}

fn eval(p: &Program, t: &mut TargetValue) -> V {
    let mut state = RuntimeState::default();
    let tz = TimeZone::default();
    p.resolve(&mut Context::new(t, &mut state, &tz)).unwrap()
}

fn to_vrl(v: &Value) -> V {
    match v {
        Value::Null => V::Null,
        Value::Bool(b) => V::Boolean(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => V::Integer(i),
            None => V::from_f64_or_zero(n.as_f64().unwrap()),
        },
        Value::String(s) => V::from(s.as_str()),
        Value::Array(a) => V::Array(a.iter().map(to_vrl).collect()),
        Value::Object(m) => {
            V::Object(m.iter().map(|(k, v)| (KeyString::from(k.as_str()), to_vrl(v))).collect())
        }
    }
}

fn from_vrl(v: &V) -> Value {
    match v {
        V::Integer(i) => json!(i),
        V::Float(f) => json!(f.into_inner()),
        V::Boolean(b) => json!(b),
        V::Array(a) => a.iter().map(from_vrl).collect(),
        V::Object(o) => {
            Value::Object(o.iter().map(|(k, v)| (k.to_string(), from_vrl(v))).collect::<Map<_, _>>())
        }
        V::Null => Value::Null,
        s => Value::String(s.to_string_lossy().into_owned()),
    }
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let fns = vrl::stdlib::all();
    b.unable("W1", "no user-defined functions");
    b.unable("W3", "no assignment to a computed key, no sort");
    b.unable("W4", "no sort");
    for (w, src, note) in [
        ("W2", prog!("w2"), "two nested for_each: a range has at most 100 000 elements"),
        ("W5", prog!("w5"), ""),
    ] {
        let p = compile(&fns, src);
        b.time_note(w, note, || from_vrl(&eval(&p, &mut target(V::Null))));
        b.time(&format!("{w}.cold"), || {
            from_vrl(&eval(&compile(&fns, black_box(src)), &mut target(V::Null)))
        });
    }
    let src = data::orders_text();
    b.time_note("W3j", "serde_json straight into Value", || {
        let v: V = serde_json::from_str(black_box(&src)).unwrap();
        json!(v.as_array().unwrap().len())
    });
    b.time_note("W7.ctx", "the list of standard functions", || {
        black_box(vrl::stdlib::all());
        Value::Null
    });
    b.time("W7.tiny", || from_vrl(&eval(&compile(&fns, black_box(prog!("tiny"))), &mut target(V::Null))));
    b.time("W7.prog", || from_vrl(&eval(&compile(&fns, black_box(prog!("prog"))), &mut target(V::Null))));
    b.time("W7.fresh", || {
        let fns = vrl::stdlib::all();
        from_vrl(&eval(&compile(&fns, black_box(prog!("prog"))), &mut target(V::Null)))
    });

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let p = compile(&vrl::stdlib::all(), prog!("w6"));
            share.run(|acc| {
                for r in part {
                    acc.add_json(&from_vrl(&eval(&p, &mut target(to_vrl(r)))));
                }
            })
        };
        b.records("W6", "", &recs, host);
        b.records(
            "W6.text",
            "serde_json straight into Value",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let p = compile(&vrl::stdlib::all(), prog!("w6"));
                share.run(|acc| {
                    for r in part {
                        let r: V = serde_json::from_str(r).unwrap();
                        acc.add_json(&from_vrl(&eval(&p, &mut target(r))));
                    }
                })
            },
        );
        b.passes("W6.own", "", &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let p = compile(&vrl::stdlib::all(), prog!("w6"));
            let mut own: Vec<TargetValue> = part.iter().map(|r| target(to_vrl(r))).collect();
            share.run(|acc| {
                for r in &mut own {
                    let V::Object(o) = eval(&p, r) else { panic!() };
                    let (V::Integer(id), V::Float(s)) = (&o["id"], &o["score"]) else { panic!() };
                    acc.add(*id, s.into_inner(), &o["label"].to_str_lossy().unwrap());
                }
            })
        });
        let mut one = target(to_vrl(&recs[0]));
        b.time("W6.cold", || from_vrl(&eval(&compile(&fns, black_box(prog!("w6"))), &mut one)));
    }
}
