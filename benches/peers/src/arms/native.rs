//! The workloads by hand in plain Rust: the practical lower limit.

mod accumulators;

use crate::bench::{Bench, Share};
use crate::data::{self, Order};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::hint::black_box;

/// Returns the version for reports.
pub fn version() -> String {
    "Rust".into()
}

// Only the argument is made opaque, at the call: LLVM's optimisations of these functions are part of native
// code's speed.
#[inline(never)]
fn fib(n: i64) -> i64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

#[inline(never)]
fn squares(n: i64) -> i64 {
    let mut total = 0;
    for i in 0..n {
        total += i * i % 7;
    }
    total
}

fn pipeline(orders: &[Order]) -> Value {
    let mut sums: HashMap<&str, f64> = HashMap::new();
    for o in orders {
        if o.amount > 100.0 && o.status == "paid" {
            *sums.entry(&o.customer).or_default() += o.amount;
        }
    }
    let mut v: Vec<_> = sums.into_iter().collect();
    v.sort_by(|a, b| b.1.total_cmp(&a.1));
    v.truncate(5);
    json!(v)
}

fn words(text: &str) -> Value {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for w in text.split_whitespace() {
        *counts.entry(w).or_default() += 1;
    }
    let mut v: Vec<_> = counts.into_iter().collect();
    v.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    v.truncate(10);
    json!(v)
}

fn strings(n: i64) -> i64 {
    let s = (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    black_box(&s).split(',').map(|p| p.parse::<i64>().unwrap()).sum()
}

#[inline]
fn rules(
    tier: Option<&str>,
    age: Option<i64>,
    amount: f64,
    items: i64,
    country: &str,
    discount: f64,
) -> (f64, &'static str) {
    let mut s = amount * (1.0 - discount) + items as f64 * 2.0;
    s += match tier {
        Some("gold") => 50.0,
        Some("silver") => 20.0,
        _ => 0.0,
    };
    if age.is_some_and(|a| a >= 65) {
        s += 10.0;
    }
    let label = if s >= 200.0 {
        "high"
    } else if s >= 100.0 {
        if country == "DE" { "mid-de" } else { "mid" }
    } else {
        "low"
    };
    (s, label)
}

/// Runs the program of W6.
pub fn score(r: &Value) -> Value {
    let user = &r["user"];
    let order = &r["order"];
    let (score, label) = rules(
        user["tier"].as_str(),
        user["age"].as_i64(),
        order["amount"].as_f64().unwrap(),
        order["items"].as_i64().unwrap(),
        order["country"].as_str().unwrap(),
        r["discount"].as_f64().unwrap_or(0.0),
    );
    let mut m = Map::new();
    m.insert("id".to_string(), r["id"].clone());
    m.insert("score".to_string(), Value::from(score));
    m.insert("label".to_string(), Value::from(label));
    Value::Object(m)
}

/// Fields of a record that the program of W6 reads.
#[derive(Deserialize)]
struct Rec {
    id: i64,
    user: Option<User>,
    order: Ord,
    discount: Option<f64>,
}
#[derive(Deserialize)]
struct User {
    tier: Option<String>,
    age: Option<i64>,
}
#[derive(Deserialize)]
struct Ord {
    amount: f64,
    items: i64,
    country: String,
}

/// Measures this arm.
pub fn run(b: &mut Bench) {
    let orders = data::orders();
    let text = data::text();
    b.time("W1", || json!(fib(black_box(25))));
    b.time("W2", || json!(squares(black_box(1_000_000))));
    b.time("W3", || pipeline(black_box(&orders)));
    b.time("W4", || words(black_box(&text)));
    b.time("W5", || json!(strings(black_box(10_000))));
    let src = data::orders_text();
    b.time_note("W3j", "into Vec<Order>", || {
        json!(serde_json::from_str::<Vec<Order>>(black_box(&src)).unwrap().len())
    });
    accumulators::run(b);
    b.unable("W7.ctx", "nothing to create");
    if b.wants_any("W6") {
        let recs = data::records(data::N_RECORDS);
        let worker = |part: &[Value], share: &mut Share| {
            share.run(|acc| {
                for r in part {
                    acc.add_json(&black_box(score(black_box(r))));
                }
            })
        };
        b.records("W6", "", &recs, worker);
        b.records(
            "W6.text",
            "into a serde_json::Value",
            &data::texts(&recs),
            |part: &[String], share: &mut Share| {
                share.run(|acc| {
                    for r in part {
                        let r: Value = serde_json::from_str(black_box(r)).unwrap();
                        acc.add_json(&black_box(score(&r)));
                    }
                })
            },
        );
        b.passes(
            "W6.own",
            "typed struct in, (f64, &str) out",
            &recs[..data::N_OWN],
            100,
            |part: &[Value], share: &mut Share| {
                let own: Vec<Rec> = part.iter().map(|r| Rec::deserialize(r).unwrap()).collect();
                share.run(|acc| {
                    for r in &own {
                        let u = black_box(r).user.as_ref();
                        let (s, l) = rules(
                            u.and_then(|u| u.tier.as_deref()),
                            u.and_then(|u| u.age),
                            r.order.amount,
                            r.order.items,
                            &r.order.country,
                            r.discount.unwrap_or(0.0),
                        );
                        acc.add(r.id, s, l);
                    }
                })
            },
        );
    }
}
