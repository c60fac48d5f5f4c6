//! Monty (pydantic's sandboxed Python). A run creates a heap of its own and copies its inputs into it, so every
//! record has a fresh world. W3 and W4 keep their data in a REPL session, to pass it in only once.

use crate::accumulators::programs;
use crate::bench::{Bench, Share};
use crate::data;
use ::monty::{MontyRepl, MontyRun};
use monty_types::{CompileOptions, MontyObject, ObjectRef, PrintWriter, ResourceTracker};
use serde_json::{Map, Value, json};
use std::hint::black_box;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/python/", $n, ".py"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "1.4.0".into()
}

fn to_monty(v: &Value) -> MontyObject {
    match v {
        Value::Null => MontyObject::none(),
        Value::Bool(b) => MontyObject::bool(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => MontyObject::int(i),
            None => MontyObject::float(n.as_f64().unwrap()),
        },
        Value::String(s) => MontyObject::string(s.as_str()),
        Value::Array(a) => MontyObject::list(a.iter().map(to_monty)),
        Value::Object(m) => {
            MontyObject::dict(m.iter().map(|(k, v)| (MontyObject::string(k.as_str()), to_monty(v))))
        }
    }
}

fn from_monty(v: ObjectRef) -> Value {
    if let Some(i) = v.as_int() {
        json!(i)
    } else if let Some(f) = v.as_float() {
        json!(f)
    } else if let Some(s) = v.as_str() {
        Value::String(s.to_string())
    } else if let Some(b) = v.as_bool() {
        json!(b)
    } else if let Some(p) = v.pairs() {
        let mut m = Map::new();
        for (k, v) in p {
            m.insert(k.as_str().unwrap().to_string(), from_monty(v));
        }
        Value::Object(m)
    } else if let Some(a) = v.items() {
        a.into_iter().map(from_monty).collect()
    } else {
        Value::Null
    }
}

fn compile(src: &str, inputs: &[&str]) -> MontyRun {
    let inputs = inputs.iter().map(|s| s.to_string()).collect();
    MontyRun::new(src.to_string(), "main.py", inputs, CompileOptions::default()).unwrap()
}

fn exec(run: &mut MontyRun, inputs: Vec<MontyObject>) -> MontyObject {
    run.run(inputs, ResourceTracker::default(), PrintWriter::Disabled).unwrap()
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    for (w, src) in [
        ("W1", concat!(prog!("w1"), "\nmain()")),
        ("W2", concat!(prog!("w2"), "\nmain()")),
        ("W5", concat!(prog!("w5"), "\nmain()")),
    ] {
        let mut f = compile(src, &[]);
        b.time(w, || from_monty(exec(&mut f, vec![]).as_ref()));
        b.time(&format!("{w}.cold"), || from_monty(exec(&mut compile(black_box(src), &[]), vec![]).as_ref()));
    }
    for (w, def, arg) in [
        ("W3", prog!("w3"), to_monty(&data::orders_json())),
        ("W4", prog!("w4"), MontyObject::string(data::text())),
    ] {
        if !b.wants_any(w) {
            continue;
        }
        let session = || {
            let mut repl = MontyRepl::new("main.py", ResourceTracker::default(), CompileOptions::default());
            repl.feed_run("None", vec![("arg".to_string(), arg.clone())], PrintWriter::Disabled).unwrap();
            repl
        };
        let mut repl = session();
        repl.feed_run(def, vec![], PrintWriter::Disabled).unwrap();
        b.time_note(w, "data held in a session; each run also compiles `main(arg)`", || {
            from_monty(repl.feed_run("main(arg)", vec![], PrintWriter::Disabled).unwrap().as_ref())
        });
        let whole = format!("{def}\nmain(arg)");
        let mut repl = session();
        b.time(&format!("{w}.cold"), || {
            from_monty(repl.feed_run(black_box(&whole), vec![], PrintWriter::Disabled).unwrap().as_ref())
        });
    }
    for (name, src) in programs!(sources "python", ".py") {
        let mut f = compile(&format!("{src}\nmain()"), &[]);
        b.time(name, || from_monty(exec(&mut f, vec![]).as_ref()));
    }
    let src = data::orders_text();
    b.time_note("W3j", "serde_json::Value, then MontyObject; not yet in a heap", || {
        let v: Value = serde_json::from_str(black_box(&src)).unwrap();
        json!(to_monty(&v).as_ref().items().unwrap().len())
    });
    b.time_note("W7.ctx", "an empty session", || {
        black_box(MontyRepl::new("main.py", ResourceTracker::default(), CompileOptions::default()));
        Value::Null
    });
    b.time_note("W7.tiny", "a run makes its own context: the same as W7.fresh", || {
        from_monty(exec(&mut compile(black_box(prog!("tiny")), &[]), vec![]).as_ref())
    });
    b.time("W7.prog", || from_monty(exec(&mut compile(black_box(prog!("prog")), &[]), vec![]).as_ref()));
    b.time("W7.fresh", || from_monty(exec(&mut compile(black_box(prog!("prog")), &[]), vec![]).as_ref()));

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        const SRC: &str = concat!(prog!("w6"), "\nmain(r)");
        let host = |part: &[Value], share: &mut Share| {
            let mut f = compile(SRC, &["r"]);
            share.run(|acc| {
                for r in part {
                    acc.add_json(&from_monty(exec(&mut f, vec![to_monty(r)]).as_ref()));
                }
            })
        };
        b.records("W6", "", &recs, host);
        b.records(
            "W6.text",
            "parsed by serde_json",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let mut f = compile(SRC, &["r"]);
                share.run(|acc| {
                    for r in part {
                        let r = serde_json::from_str(r).unwrap();
                        acc.add_json(&from_monty(exec(&mut f, vec![to_monty(&r)]).as_ref()));
                    }
                })
            },
        );
        let note = "MontyObjects; each run copies its input into a new heap";
        b.passes("W6.own", note, &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let mut f = compile(SRC, &["r"]);
            let own: Vec<MontyObject> = part.iter().map(to_monty).collect();
            share.run(|acc| {
                for r in &own {
                    let out = exec(&mut f, vec![r.clone()]);
                    let p = out.as_ref().pairs().unwrap();
                    acc.add(p[0].1.as_int().unwrap(), p[1].1.as_float().unwrap(), p[2].1.as_str().unwrap());
                }
            })
        });
        let one = to_monty(&recs[0]);
        b.time("W6.cold", || {
            from_monty(exec(&mut compile(black_box(SRC), &["r"]), vec![one.clone()]).as_ref())
        });
    }
}
