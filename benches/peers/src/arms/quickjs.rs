//! QuickJS (quickjs-ng), through rquickjs. Each program is a function expression; each call has fresh locals,
//! globals are shared.

use crate::bench::{Bench, Share};
use crate::data;
use rquickjs::{Array, Context, Ctx, Function, Object, Runtime, String as JsString, Value as J};
use serde_json::{Map, Value, json};
use std::hint::black_box;

/// Expands to the text of a program.
macro_rules! prog {
    ($n:literal) => {
        include_str!(concat!("../../progs/js/", $n, ".js"))
    };
}

/// Returns the version for reports.
pub fn version() -> String {
    "quickjs-ng (rquickjs 0.14.0)".into()
}

fn to_js<'js>(ctx: &Ctx<'js>, v: &Value) -> J<'js> {
    match v {
        Value::Null => J::new_null(ctx.clone()),
        Value::Bool(b) => J::new_bool(ctx.clone(), *b),
        Value::Number(n) => match n.as_i64().and_then(|i| i32::try_from(i).ok()) {
            Some(i) => J::new_int(ctx.clone(), i),
            None => J::new_float(ctx.clone(), n.as_f64().unwrap()),
        },
        Value::String(s) => JsString::from_str(ctx.clone(), s).unwrap().into_value(),
        Value::Array(a) => {
            let out = Array::new(ctx.clone()).unwrap();
            for (i, x) in a.iter().enumerate() {
                out.set(i, to_js(ctx, x)).unwrap();
            }
            out.into_value()
        }
        Value::Object(m) => {
            let out = Object::new(ctx.clone()).unwrap();
            for (k, x) in m {
                out.set(k.as_str(), to_js(ctx, x)).unwrap();
            }
            out.into_value()
        }
    }
}

fn from_js(v: &J) -> Value {
    if let Some(i) = v.as_int() {
        json!(i)
    } else if let Some(n) = v.as_number() {
        json!(n)
    } else if let Some(b) = v.as_bool() {
        json!(b)
    } else if let Some(s) = v.as_string() {
        Value::String(s.to_string().unwrap())
    } else if let Some(a) = v.as_array() {
        a.iter::<J>().map(|x| from_js(&x.unwrap())).collect()
    } else if let Some(o) = v.as_object() {
        let mut m = Map::new();
        for p in o.props::<std::string::String, J>() {
            let (k, v) = p.unwrap();
            m.insert(k, from_js(&v));
        }
        Value::Object(m)
    } else {
        Value::Null
    }
}

fn compile<'js>(ctx: &Ctx<'js>, src: &str) -> Function<'js> {
    ctx.eval(src).unwrap()
}

fn call<'js>(f: &Function<'js>, arg: J<'js>) -> Value {
    from_js(&f.call::<_, J>((arg,)).unwrap())
}

fn fresh() -> (Runtime, Context) {
    let rt = Runtime::new_with_alloc(rquickjs::allocator::RustAllocator).unwrap();
    rt.set_max_stack_size(1 << 20);
    let ctx = Context::full(&rt).unwrap();
    (rt, ctx)
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let (_rt, ctx) = fresh();
    ctx.with(|ctx| {
        let undef = J::new_undefined(ctx.clone());
        let orders = to_js(&ctx, &data::orders_json());
        let text = JsString::from_str(ctx.clone(), &data::text()).unwrap().into_value();
        let args: [(&str, &str, &J); 5] = [
            ("W1", prog!("w1"), &undef),
            ("W2", prog!("w2"), &undef),
            ("W3", prog!("w3"), &orders),
            ("W4", prog!("w4"), &text),
            ("W5", prog!("w5"), &undef),
        ];
        for (w, src, arg) in &args {
            let f = compile(&ctx, src);
            b.time(w, || call(&f, (*arg).clone()));
            b.time(&format!("{w}.cold"), || call(&compile(&ctx, black_box(src)), (*arg).clone()));
        }
        let src = data::orders_text();
        b.time_note("W3j", "its own JSON parser", || {
            let v = ctx.json_parse(black_box(src.as_str())).unwrap();
            json!(v.as_array().unwrap().len())
        });
        b.time("W7.ctx", || {
            black_box(fresh());
            Value::Null
        });
        b.time("W7.tiny", || from_js(&ctx.eval::<J, _>(black_box(prog!("tiny"))).unwrap()));
        b.time("W7.prog", || from_js(&ctx.eval::<J, _>(black_box(prog!("prog"))).unwrap()));
        b.time("W7.fresh", || {
            let (_rt, ctx) = fresh();
            ctx.with(|ctx| from_js(&ctx.eval::<J, _>(black_box(prog!("prog"))).unwrap()))
        });
    });
    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let host = |part: &[Value], share: &mut Share| {
            let (_rt, ctx) = fresh();
            ctx.with(|ctx| {
                let f = compile(&ctx, prog!("w6"));
                share.run(|acc| {
                    for r in part {
                        acc.add_json(&call(&f, to_js(&ctx, r)));
                    }
                })
            })
        };
        b.records("W6", "", &recs, host);
        b.records(
            "W6.text",
            "its own JSON parser",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                let (_rt, ctx) = fresh();
                ctx.with(|ctx| {
                    let f = compile(&ctx, prog!("w6"));
                    share.run(|acc| {
                        for r in part {
                            let r = ctx.json_parse(r.as_str()).unwrap();
                            acc.add_json(&call(&f, r));
                        }
                    })
                })
            },
        );
        b.passes("W6.own", "", &recs[..data::N_OWN], 100, |part: &[Value], share: &mut Share| {
            let (_rt, ctx) = fresh();
            ctx.with(|ctx| {
                let f = compile(&ctx, prog!("w6"));
                let own: Vec<J> = part.iter().map(|r| to_js(&ctx, r)).collect();
                share.run(|acc| {
                    for r in &own {
                        let o: Object = f.call((r.clone(),)).unwrap();
                        let label: JsString = o.get("label").unwrap();
                        acc.add(o.get("id").unwrap(), o.get("score").unwrap(), &label.to_string().unwrap());
                    }
                })
            })
        });
        ctx.with(|ctx| {
            let one = to_js(&ctx, &recs[0]);
            b.time("W6.cold", || call(&compile(&ctx, black_box(prog!("w6"))), one.clone()));
        });
    }
}
