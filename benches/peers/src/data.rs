//! Test data from a generator with a fixed seed, so that every arm has equal data. All floats are multiples of
//! 1/32: sums are exact, and arms agree to the last bit.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Number of orders of W3.
pub const N_ORDERS: usize = 10_000;
/// Number of records of W6.
pub const N_RECORDS: usize = 200_000;
/// Number of prepared records of W6.own, which runs over them repeatedly, so that no collector has to walk 200
/// 000 live records.
pub const N_OWN: usize = 2_000;
/// Length of the text of W4, in bytes.
pub const TEXT_BYTES: usize = 200 * 1024;

/// A linear congruential generator with Knuth's MMIX constants; the top 32 bits are used.
struct Lcg(u64);
impl Lcg {
    fn new(seed: u64) -> Self {
        Lcg(seed)
    }
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }
    fn below(&mut self, n: u32) -> u32 {
        ((self.next() as u64 * n as u64) >> 32) as u32
    }
}

/// An order of W3.
#[derive(Clone, Serialize, Deserialize)]
pub struct Order {
    pub id: i64,
    pub amount: f64,
    pub status: String,
    pub customer: String,
}

/// Generates the orders. Amounts are multiples of 0.25, so every sum is exact in an f64 and all arms must agree
/// to the last bit, in whatever order they add.
pub fn orders() -> Vec<Order> {
    let mut r = Lcg::new(1);
    (0..N_ORDERS)
        .map(|i| Order {
            id: i as i64,
            amount: r.below(2000) as f64 * 0.25,
            status: ["paid", "pending", "refunded"][r.below(3) as usize].to_string(),
            customer: format!("customer_{:02}", r.below(100)),
        })
        .collect()
}

/// Returns the orders as a JSON value.
#[allow(dead_code)] // not used in a build without peers
pub fn orders_json() -> Value {
    serde_json::from_str(&orders_text()).unwrap()
}

/// Returns the orders as JSON text.
pub fn orders_text() -> String {
    serde_json::to_string(&orders()).unwrap()
}

/// Generates one record of W6: three objects and a short array, about 13 leaves, of which the expression reads
/// seven. `user` may be null, `user.tier` absent, `user.age` null, `discount` absent.
fn record(r: &mut Lcg, i: usize) -> Value {
    let mut m = Map::new();
    m.insert("id".into(), json!(i));
    let name = format!("user_{}", r.below(5000));
    if r.below(10) == 0 {
        m.insert("user".into(), Value::Null);
    } else {
        let mut u = Map::new();
        u.insert("email".into(), json!(format!("{name}@example.com")));
        u.insert("name".into(), json!(name));
        if r.below(5) != 0 {
            u.insert("tier".into(), json!(["gold", "silver", "free"][r.below(3) as usize]));
        }
        let age = 18 + r.below(72);
        u.insert("age".into(), if r.below(4) == 0 { Value::Null } else { json!(age) });
        m.insert("user".into(), Value::Object(u));
    }
    let amount = r.below(1000) as f64 * 0.25;
    let items = 1 + r.below(9);
    let country = ["DE", "FR", "US", "GB"][r.below(4) as usize];
    m.insert(
        "order".into(),
        json!({"amount": amount, "items": items, "country": country, "currency": "EUR"}),
    );
    if r.below(2) == 0 {
        m.insert("discount".into(), json!(r.below(5) as f64 * 0.125));
    }
    let tags: Vec<Value> =
        (0..r.below(4)).map(|_| json!(["new", "web", "gift", "bulk"][r.below(4) as usize])).collect();
    m.insert("tags".into(), Value::Array(tags));
    m.insert("ts".into(), json!(1_700_000_000 + i));
    Value::Object(m)
}

/// Returns the first `count` records of W6.
pub fn records(count: usize) -> Vec<Value> {
    let mut r = Lcg::new(2);
    (0..count).map(|i| record(&mut r, i)).collect()
}

/// Returns records as JSON texts.
pub fn texts(records: &[Value]) -> Vec<String> {
    records.iter().map(Value::to_string).collect()
}

/// Generates Zipf-like words from a vocabulary of 2 000.
pub fn text() -> String {
    let mut r = Lcg::new(3);
    let vocab: Vec<String> = (0..2000)
        .map(|_| (0..2 + r.below(7)).map(|_| (b'a' + r.below(26) as u8) as char).collect())
        .collect();
    let mut s = String::with_capacity(TEXT_BYTES + 16);
    let mut n = 0;
    while s.len() < TEXT_BYTES {
        // Cubing the draw skews it towards the head of the vocabulary.
        let x = r.next() as f64 / 4294967296.0;
        let i = (x * x * x * vocab.len() as f64) as usize;
        s.push_str(&vocab[i]);
        n += 1;
        s.push(if n % 12 == 0 { '\n' } else { ' ' });
    }
    s
}

/// Writes the data for other programs, unless it exists.
pub fn ensure(dir: &Path) -> std::io::Result<()> {
    if dir.join("records.jsonl").exists() {
        return Ok(());
    }
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join("orders.json"), orders_text())?;
    std::fs::write(dir.join("text.txt"), text())?;
    let mut lines = texts(&records(N_RECORDS)).join("\n");
    lines.push('\n');
    std::fs::write(dir.join("records.jsonl"), lines)
}
