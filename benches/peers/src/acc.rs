//! Sums over the results of W6. Every field is read, so that no arm can leave one uncomputed.

use serde_json::{Value, json};

/// Sums over results. They are exact, because scores are multiples of 1/32.
#[derive(Clone, Default)]
pub struct Acc {
    count: u64,
    ids: f64,
    score: f64,
    labels: [u64; 4],
}

impl Acc {
    /// Adds the fields of one result.
    #[inline]
    pub fn add(&mut self, id: i64, score: f64, label: &str) {
        self.count += 1;
        self.ids += id as f64;
        self.score += score;
        let at = match label {
            "high" => 0,
            "mid-de" => 1,
            "mid" => 2,
            "low" => 3,
            other => panic!("unknown label {other}"),
        };
        self.labels[at] += 1;
    }

    /// Adds one result given as JSON.
    #[inline]
    pub fn add_json(&mut self, result: &Value) {
        let number = |name: &str| result[name].as_f64().expect("a number");
        let id = result["id"].as_i64().unwrap_or_else(|| number("id") as i64);
        self.add(id, number("score"), result["label"].as_str().expect("a label"));
    }

    /// Adds the sums of another thread.
    pub fn merge(&mut self, other: &Acc) {
        self.count += other.count;
        self.ids += other.ids;
        self.score += other.score;
        for (mine, more) in self.labels.iter_mut().zip(other.labels) {
            *mine += more;
        }
    }

    /// Returns `[records, sum of ids, sum of scores, [high, mid-de, mid, low]]`.
    pub fn answer(&self) -> Value {
        json!([self.count, self.ids, self.score, self.labels])
    }
}
