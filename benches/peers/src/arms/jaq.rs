//! jaq. A program is a compiled filter; its input is the value.

use crate::bench::{Bench, Share};
use crate::data;
use jaq_core::data::JustLut;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Vars, unwrap_valr};
use jaq_json::{Num, Val, read};
use serde_json::{Map, Value, json};
use std::hint::black_box;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/jaq/", $n, ".jq"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "jaq-core 3.1.2".into()
}

type Filter = jaq_core::Filter<JustLut<Val>>;

/// Parses the prelude, which is all the context jaq has.
fn defs() -> Vec<jaq_core::load::parse::Def<&'static str>> {
    jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).collect()
}

fn compile(defs: &[jaq_core::load::parse::Def<&'static str>], src: &str) -> Filter {
    let loader = Loader::new(defs.iter().cloned());
    let arena = Arena::default();
    let modules = loader.load(&arena, File { code: src, path: () }).ok().expect("parses");
    let funs = jaq_core::funs::<JustLut<Val>>()
        .chain(jaq_std::funs::<JustLut<Val>>())
        .chain(jaq_json::funs::<JustLut<Val>>());
    Compiler::default().with_funs(funs).compile(modules).ok().expect("compiles")
}

fn eval(f: &Filter, input: Val) -> Val {
    let ctx = Ctx::<JustLut<Val>>::new(&f.lut, Vars::new([]));
    f.id.run((ctx, input)).map(unwrap_valr).next().unwrap().unwrap()
}

fn to_val(v: &Value) -> Val {
    match v {
        Value::Null => Val::Null,
        Value::Bool(b) => Val::Bool(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => Val::Num(Num::Int(i as isize)),
            None => Val::Num(Num::Float(n.as_f64().unwrap())),
        },
        Value::String(s) => Val::utf8_str(s.as_bytes().to_vec()),
        Value::Array(a) => a.iter().map(to_val).collect(),
        Value::Object(m) => {
            Val::obj(m.iter().map(|(k, v)| (Val::utf8_str(k.as_bytes().to_vec()), to_val(v))).collect())
        }
    }
}

fn text(v: &Val) -> String {
    match v {
        Val::TStr(s) | Val::BStr(s) => String::from_utf8(s.to_vec()).unwrap(),
        other => panic!("{other}"),
    }
}

fn float(n: &Num) -> f64 {
    match n {
        Num::Int(i) => *i as f64,
        Num::Float(f) => *f,
        other => other.to_string().parse().unwrap(),
    }
}

fn from_val(v: &Val) -> Value {
    match v {
        Val::Null => Value::Null,
        Val::Bool(b) => json!(b),
        Val::Num(Num::Int(i)) => json!(i),
        Val::Num(n) => json!(float(n)),
        Val::TStr(_) | Val::BStr(_) => Value::String(text(v)),
        Val::Arr(a) => a.iter().map(from_val).collect(),
        Val::Obj(o) => {
            let mut m = Map::new();
            for (k, v) in o.iter() {
                m.insert(text(k), from_val(v));
            }
            Value::Object(m)
        }
    }
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let defs = defs();
    let args = [
        ("W1", prog!("w1"), Val::Null),
        ("W2", prog!("w2"), Val::Null),
        ("W3", prog!("w3"), to_val(&data::orders_json())),
        ("W4", prog!("w4"), Val::utf8_str(data::text().into_bytes())),
        ("W5", prog!("w5"), Val::Null),
    ];
    for (w, src, arg) in &args {
        let f = compile(&defs, src);
        b.time(w, || from_val(&eval(&f, arg.clone())));
        b.time(&format!("{w}.cold"), || from_val(&eval(&compile(&defs, black_box(src)), arg.clone())));
    }
    let src = data::orders_text();
    b.time_note("W3j", "its own reader; it keeps decimals as text until they are used", || {
        match read::parse_single(black_box(src.as_bytes())).unwrap() {
            Val::Arr(a) => json!(a.len()),
            _ => unreachable!(),
        }
    });
    b.time_note("W7.ctx", "parsing the prelude", || {
        black_box(self::defs());
        Value::Null
    });
    b.time("W7.tiny", || from_val(&eval(&compile(&defs, black_box(prog!("tiny"))), Val::Null)));
    b.time("W7.prog", || from_val(&eval(&compile(&defs, black_box(prog!("prog"))), Val::Null)));
    b.time("W7.fresh", || from_val(&eval(&compile(&self::defs(), black_box(prog!("prog"))), Val::Null)));

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let f = compile(&self::defs(), prog!("w6"));
            share.run(|acc| {
                for r in part {
                    acc.add_json(&from_val(&eval(&f, to_val(r))));
                }
            })
        };
        b.records("W6", "", &recs, host);
        b.records("W6.text", "its own reader", &data::texts(&recs), |part: &[String], share: &mut Share| {
            let f = compile(&self::defs(), prog!("w6"));
            share.run(|acc| {
                for r in part {
                    let r = read::parse_single(r.as_bytes()).unwrap();
                    acc.add_json(&from_val(&eval(&f, r)));
                }
            })
        });
        b.passes("W6.own", "", &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let f = compile(&self::defs(), prog!("w6"));
            let own: Vec<Val> = part.iter().map(to_val).collect();
            let key = |s: &str| Val::utf8_str(s.as_bytes().to_vec());
            let (id, score, label) = (key("id"), key("score"), key("label"));
            share.run(|acc| {
                for r in &own {
                    let Val::Obj(o) = eval(&f, r.clone()) else { panic!() };
                    let (Val::Num(id), Val::Num(s), Val::TStr(l)) = (&o[&id], &o[&score], &o[&label]) else {
                        panic!()
                    };
                    acc.add(id.as_isize().unwrap() as i64, float(s), std::str::from_utf8(l).unwrap());
                }
            })
        });
        let one = to_val(&recs[0]);
        b.time("W6.cold", || from_val(&eval(&compile(&defs, black_box(prog!("w6"))), one.clone())));
    }
}
