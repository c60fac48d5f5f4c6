//! Rhai. A program is an AST evaluated in a fresh `Scope` each time.

use crate::bench::{Bench, Share};
use crate::data;
use rhai::{AST, Dynamic, Engine, Map as RMap, Scope};
use serde_json::{Map, Value, json};
use std::hint::black_box;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/rhai/", $n, ".rhai"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "1.27.0".into()
}

fn to_rhai(v: &Value) -> Dynamic {
    match v {
        Value::Null => Dynamic::UNIT,
        Value::Bool(b) => (*b).into(),
        Value::Number(n) => match n.as_i64() {
            Some(i) => i.into(),
            None => n.as_f64().unwrap().into(),
        },
        Value::String(s) => s.as_str().into(),
        Value::Array(a) => Dynamic::from_array(a.iter().map(to_rhai).collect()),
        Value::Object(m) => {
            Dynamic::from_map(m.iter().map(|(k, v)| (k.as_str().into(), to_rhai(v))).collect::<RMap>())
        }
    }
}

fn from_rhai(v: Dynamic) -> Value {
    if v.is_int() {
        json!(v.as_int().unwrap())
    } else if v.is_float() {
        json!(v.as_float().unwrap())
    } else if v.is_string() {
        Value::String(v.into_string().unwrap())
    } else if v.is_array() {
        v.into_array().unwrap().into_iter().map(from_rhai).collect()
    } else if v.is_map() {
        let m = v.cast::<RMap>();
        Value::Object(m.into_iter().map(|(k, v)| (k.to_string(), from_rhai(v))).collect::<Map<_, _>>())
    } else if v.is_bool() {
        json!(v.as_bool().unwrap())
    } else {
        Value::Null
    }
}

fn eval(engine: &Engine, ast: &AST, name: &str, arg: Dynamic) -> Dynamic {
    let mut scope = Scope::new();
    scope.push_dynamic(name.to_string(), arg);
    engine.eval_ast_with_scope(&mut scope, ast).unwrap()
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let engine = Engine::new();
    // Shared, so that passing it in only copies a pointer.
    let orders = to_rhai(&data::orders_json()).into_shared();
    let text: Dynamic = data::text().into();
    let args = [
        ("W1", prog!("w1"), Dynamic::UNIT),
        ("W2", prog!("w2"), Dynamic::UNIT),
        ("W3", prog!("w3"), orders),
        ("W4", prog!("w4"), text),
        ("W5", prog!("w5"), Dynamic::UNIT),
    ];
    for (w, src, arg) in &args {
        let ast = engine.compile(src).unwrap();
        b.time(w, || from_rhai(eval(&engine, &ast, "arg", arg.clone())));
        b.time(&format!("{w}.cold"), || {
            let ast = engine.compile(black_box(src)).unwrap();
            from_rhai(eval(&engine, &ast, "arg", arg.clone()))
        });
    }
    let src = data::orders_text();
    b.time_note("W3j", "serde_json straight into Dynamic", || {
        let v: Dynamic = serde_json::from_str(black_box(&src)).unwrap();
        json!(v.read_lock::<rhai::Array>().unwrap().len())
    });
    let cold = |engine: &Engine, src: &str| {
        let ast = engine.compile(black_box(src)).unwrap();
        from_rhai(engine.eval_ast_with_scope(&mut Scope::new(), &ast).unwrap())
    };
    b.time("W7.ctx", || {
        black_box(Engine::new());
        Value::Null
    });
    b.time("W7.tiny", || cold(&engine, prog!("tiny")));
    b.time("W7.prog", || cold(&engine, prog!("prog")));
    b.time("W7.fresh", || cold(&Engine::new(), prog!("prog")));

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let engine = Engine::new();
            let ast = engine.compile(prog!("w6")).unwrap();
            share.run(|acc| {
                for r in part {
                    acc.add_json(&from_rhai(eval(&engine, &ast, "r", to_rhai(r))));
                }
            })
        };
        b.records("W6", "", &recs, host);
        b.records(
            "W6.text",
            "serde_json straight into Dynamic",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let engine = Engine::new();
                let ast = engine.compile(prog!("w6")).unwrap();
                share.run(|acc| {
                    for r in part {
                        let r: Dynamic = serde_json::from_str(r).unwrap();
                        acc.add_json(&from_rhai(eval(&engine, &ast, "r", r)));
                    }
                })
            },
        );
        b.passes(
            "W6.own",
            "shared Dynamics",
            &recs[..data::N_OWN],
            100,
            |part: &[Value], share: &mut Share| {
                let engine = Engine::new();
                let ast = engine.compile(prog!("w6")).unwrap();
                let own: Vec<Dynamic> = part.iter().map(|r| to_rhai(r).into_shared()).collect();
                share.run(|acc| {
                    for r in &own {
                        let out = eval(&engine, &ast, "r", r.clone());
                        let m = out.read_lock::<RMap>().unwrap();
                        let label = m["label"].read_lock::<rhai::ImmutableString>().unwrap();
                        acc.add(m["id"].as_int().unwrap(), m["score"].as_float().unwrap(), &label);
                    }
                })
            },
        );
        let one = to_rhai(&recs[0]).into_shared();
        b.time("W6.cold", || {
            let ast = engine.compile(black_box(prog!("w6"))).unwrap();
            from_rhai(eval(&engine, &ast, "r", one.clone()))
        });
    }
}
