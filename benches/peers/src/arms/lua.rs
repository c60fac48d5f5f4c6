//! Lua 5.4 or LuaJIT, through mlua, vendored. A chunk is a function; each call has fresh locals. Globals are
//! shared between calls, as is usual in Lua.

use crate::accumulators::programs;
use crate::bench::{Bench, Share};
use crate::data;
use mlua::{Function, Lua, Table, Value as L};
use serde_json::{Map, Value, json};
use std::hint::black_box;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/lua/", $n, ".lua"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    let v: String = Lua::new().load("return jit and jit.version or _VERSION").eval().unwrap();
    format!("{v} (mlua 0.12.2)")
}

fn to_lua(lua: &Lua, v: &Value) -> L {
    match v {
        Value::Null => L::Nil,
        Value::Bool(b) => L::Boolean(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => L::Integer(i as _),
            None => L::Number(n.as_f64().unwrap()),
        },
        Value::String(s) => L::String(lua.create_string(s).unwrap()),
        Value::Array(a) => {
            let t = lua.create_table_with_capacity(a.len(), 0).unwrap();
            for (i, x) in a.iter().enumerate() {
                t.raw_set(i + 1, to_lua(lua, x)).unwrap();
            }
            L::Table(t)
        }
        Value::Object(m) => {
            let t = lua.create_table_with_capacity(0, m.len()).unwrap();
            for (k, x) in m {
                if !x.is_null() {
                    t.raw_set(k.as_str(), to_lua(lua, x)).unwrap();
                }
            }
            L::Table(t)
        }
    }
}

fn from_lua(v: &L) -> Value {
    match v {
        L::Nil => Value::Null,
        L::Boolean(b) => json!(b),
        L::Integer(i) => json!(i),
        L::Number(n) => json!(n),
        L::String(s) => Value::String(s.to_str().unwrap().to_string()),
        L::Table(t) => {
            let n = t.raw_len();
            if n > 0 {
                (1..=n).map(|i| from_lua(&t.raw_get(i).unwrap())).collect()
            } else {
                let mut m = Map::new();
                for p in t.pairs::<mlua::LuaString, L>() {
                    let (k, v) = p.unwrap();
                    m.insert(k.to_str().unwrap().to_string(), from_lua(&v));
                }
                Value::Object(m)
            }
        }
        other => panic!("{other:?}"),
    }
}

fn compile(lua: &Lua, src: &str) -> Function {
    lua.load(src).into_function().unwrap()
}

fn call(f: &Function, args: impl mlua::IntoLuaMulti) -> Value {
    from_lua(&f.call::<L>(args).unwrap())
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let lua = Lua::new();
    let orders = to_lua(&lua, &data::orders_json());
    let text = L::String(lua.create_string(data::text()).unwrap());
    let args: [(&str, &str, L); 5] = [
        ("W1", prog!("w1"), L::Nil),
        ("W2", prog!("w2"), L::Nil),
        ("W3", prog!("w3"), orders),
        ("W4", prog!("w4"), text),
        ("W5", prog!("w5"), L::Nil),
    ];
    for (w, src, arg) in &args {
        let f = compile(&lua, src);
        b.time(w, || call(&f, arg.clone()));
        b.time(&format!("{w}.cold"), || call(&compile(&lua, black_box(src)), arg.clone()));
    }
    for (name, src) in programs!(sources "lua", ".lua") {
        let f = compile(&lua, src);
        b.time(name, || call(&f, ()));
    }
    let src = data::orders_text();
    b.time_note("W3j", "serde_json::Value, then tables", || {
        let v: Value = serde_json::from_str(black_box(&src)).unwrap();
        match to_lua(&lua, &v) {
            L::Table(t) => json!(t.raw_len()),
            _ => unreachable!(),
        }
    });
    b.time("W7.ctx", || {
        black_box(Lua::new());
        Value::Null
    });
    b.time("W7.tiny", || call(&compile(&lua, black_box(prog!("tiny"))), ()));
    b.time("W7.prog", || call(&compile(&lua, black_box(prog!("prog"))), ()));
    b.time("W7.fresh", || call(&compile(&Lua::new(), black_box(prog!("prog"))), ()));

    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let lua = Lua::new();
            let f = compile(&lua, prog!("w6"));
            share.run(|acc| {
                for r in part {
                    acc.add_json(&call(&f, to_lua(&lua, r)));
                }
            })
        };
        b.records("W6", "", &recs, host);
        b.records(
            "W6.text",
            "parsed by serde_json",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let lua = Lua::new();
                let f = compile(&lua, prog!("w6"));
                share.run(|acc| {
                    for r in part {
                        let r = serde_json::from_str(r).unwrap();
                        acc.add_json(&call(&f, to_lua(&lua, &r)));
                    }
                })
            },
        );
        b.passes("W6.own", "", &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let lua = Lua::new();
            let f = compile(&lua, prog!("w6"));
            let own: Vec<L> = part.iter().map(|r| to_lua(&lua, r)).collect();
            share.run(|acc| {
                for r in &own {
                    let t: Table = f.call(r).unwrap();
                    let label: mlua::LuaString = t.raw_get("label").unwrap();
                    acc.add(t.raw_get("id").unwrap(), t.raw_get("score").unwrap(), &label.to_str().unwrap());
                }
            })
        });
        let one = to_lua(&lua, &recs[0]);
        b.time("W6.cold", || call(&compile(&lua, black_box(prog!("w6"))), one.clone()));
    }
}
