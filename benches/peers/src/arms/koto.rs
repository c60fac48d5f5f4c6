//! Koto (single-threaded `rc` build). A program is a function; each call has fresh locals.

use crate::bench::{Bench, Share};
use crate::data;
use koto::prelude::*;
use koto::runtime::{ValueKey, ValueVec};
use serde_json::{Map, Value, json};
use std::hint::black_box;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/koto/", $n, ".koto"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "0.16.1".into()
}

fn to_koto(v: &Value) -> KValue {
    match v {
        Value::Null => KValue::Null,
        Value::Bool(b) => KValue::Bool(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => KValue::Number(i.into()),
            None => KValue::Number(n.as_f64().unwrap().into()),
        },
        Value::String(s) => KValue::Str(s.as_str().into()),
        Value::Array(a) => KValue::List(KList::with_data(a.iter().map(to_koto).collect::<ValueVec>())),
        Value::Object(m) => {
            let mut out = ValueMap::with_capacity(m.len());
            for (k, v) in m {
                out.insert(ValueKey::from(k.as_str()), to_koto(v));
            }
            KValue::Map(KMap::with_data(out))
        }
    }
}

fn from_koto(v: &KValue) -> Value {
    match v {
        KValue::Null => Value::Null,
        KValue::Bool(b) => json!(b),
        KValue::Number(n) if n.is_i64() => json!(i64::from(n)),
        KValue::Number(n) => json!(f64::from(n)),
        KValue::Str(s) => Value::String(s.to_string()),
        KValue::List(l) => l.data().iter().map(from_koto).collect(),
        KValue::Tuple(t) => t.iter().map(from_koto).collect(),
        KValue::Map(m) => {
            let mut out = Map::new();
            for (k, v) in m.data().iter() {
                out.insert(k.to_string(), from_koto(v));
            }
            Value::Object(out)
        }
        other => panic!("{}", other.type_as_string()),
    }
}

fn compile(koto: &mut Koto, src: &str) -> KValue {
    koto.compile_and_run(src).unwrap()
}

fn call(koto: &mut Koto, f: &KValue, arg: KValue) -> KValue {
    koto.call_function(f.clone(), arg).unwrap()
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let mut koto = Koto::default();
    let args = [
        ("W1", prog!("w1"), KValue::Null),
        ("W2", prog!("w2"), KValue::Null),
        ("W3", prog!("w3"), to_koto(&data::orders_json())),
        ("W4", prog!("w4"), KValue::Str(data::text().into())),
        ("W5", prog!("w5"), KValue::Null),
    ];
    for (w, src, arg) in &args {
        let f = compile(&mut koto, src);
        b.time(w, || from_koto(&call(&mut koto, &f, arg.clone())));
        b.time(&format!("{w}.cold"), || {
            let f = compile(&mut koto, black_box(src));
            from_koto(&call(&mut koto, &f, arg.clone()))
        });
    }
    let src = data::orders_text();
    b.time_note("W3j", "serde_json straight into KValue (koto_serde)", || {
        let v: koto::serde::DeserializableKValue = serde_json::from_str(black_box(&src)).unwrap();
        match v.0 {
            KValue::List(l) => json!(l.len()),
            KValue::Tuple(t) => json!(t.len()),
            _ => unreachable!(),
        }
    });
    b.time("W7.ctx", || {
        black_box(Koto::default());
        Value::Null
    });
    b.time("W7.tiny", || from_koto(&compile(&mut koto, black_box(prog!("tiny")))));
    b.time("W7.prog", || from_koto(&compile(&mut koto, black_box(prog!("prog")))));
    b.time("W7.fresh", || from_koto(&compile(&mut Koto::default(), black_box(prog!("prog")))));

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let mut koto = Koto::default();
            let f = compile(&mut koto, prog!("w6"));
            share.run(|acc| {
                for r in part {
                    acc.add_json(&from_koto(&call(&mut koto, &f, to_koto(r))));
                }
            })
        };
        b.records("W6", "", &recs, host);
        b.records(
            "W6.text",
            "serde_json straight into KValue",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let mut koto = Koto::default();
                let f = compile(&mut koto, prog!("w6"));
                share.run(|acc| {
                    for r in part {
                        let r: koto::serde::DeserializableKValue = serde_json::from_str(r).unwrap();
                        acc.add_json(&from_koto(&call(&mut koto, &f, r.0)));
                    }
                })
            },
        );
        b.passes("W6.own", "", &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let mut koto = Koto::default();
            let f = compile(&mut koto, prog!("w6"));
            let own: Vec<KValue> = part.iter().map(to_koto).collect();
            share.run(|acc| {
                for r in &own {
                    let KValue::Map(m) = call(&mut koto, &f, r.clone()) else { panic!() };
                    let (Some(KValue::Number(id)), Some(KValue::Number(s)), Some(KValue::Str(l))) =
                        (m.get("id"), m.get("score"), m.get("label"))
                    else {
                        panic!()
                    };
                    acc.add(i64::from(id), f64::from(s), &l);
                }
            })
        });
        let one = to_koto(&recs[0]);
        b.time("W6.cold", || {
            let f = compile(&mut koto, black_box(prog!("w6")));
            from_koto(&call(&mut koto, &f, one.clone()))
        });
    }
}
