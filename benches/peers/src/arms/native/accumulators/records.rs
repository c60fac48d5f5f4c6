//! Programs over records: maps in maps and vectors.

use super::random::{checksum, next_random, randoms};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

fn build(depth: u32, id: i64) -> Value {
    let x = next_random(id);
    let mut node = json!({
        "id": id,
        "name": format!("item-{x}"),
        "secret": x % 9973,
        "size": {"width": x % 97, "height": x % 89},
        "tags": ["json", format!("tag-{}", x % 7)],
    });
    if depth > 0 {
        node["children"] = (1..=4).map(|n| build(depth - 1, id * 4 + n)).collect();
    }
    node
}

fn rewrite(node: &Value) -> Value {
    match node {
        Value::Object(fields) => {
            let mut result = Map::new();
            for (key, value) in fields.iter().filter(|(key, _)| *key != "secret") {
                let key = if key == "name" { "title" } else { key };
                result.insert(key.to_string(), rewrite(value));
            }
            Value::Object(result)
        }
        Value::Array(items) => items.iter().map(rewrite).collect(),
        Value::String(text) => json!(text.to_uppercase()),
        other => json!(other.as_i64().expect("a number") + 1),
    }
}

fn weight(node: &Value) -> i64 {
    match node {
        Value::Object(fields) => fields.values().map(weight).sum(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::String(text) => text.len() as i64,
        other => other.as_i64().expect("a number"),
    }
}

pub fn json_rewrite() -> Value {
    let tree = rewrite(&build(5, 0));
    json!({"title": tree["title"], "weight": weight(&tree)})
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Word,
    Number,
    Symbol,
    Space,
}

fn kind_of(ch: char) -> Kind {
    match ch {
        ch if ch.is_alphabetic() => Kind::Word,
        ch if ch.is_numeric() => Kind::Number,
        ch if ch.is_whitespace() => Kind::Space,
        _ => Kind::Symbol,
    }
}

fn tokenize(text: &str) -> Vec<(Kind, String)> {
    let mut tokens = Vec::new();
    let mut current: Option<(Kind, String)> = None;
    for ch in text.chars() {
        let kind = kind_of(ch);
        if let Some((_, token)) = current.as_mut().filter(|(current, _)| *current == kind) {
            token.push(ch);
            continue;
        }
        tokens.extend(current.take());
        match kind {
            Kind::Space => {}
            Kind::Symbol => tokens.push((kind, ch.to_string())),
            Kind::Word | Kind::Number => current = Some((kind, ch.to_string())),
        }
    }
    tokens.extend(current);
    tokens
}

pub fn tokenizer() -> Value {
    const NAMES: [&str; 7] = ["price", "amount", "tax", "rate", "total", "discount", "x"];
    let statement = |x: i64| {
        let (one, other) = (NAMES[x as usize % 7], NAMES[x as usize % 6]);
        format!("{one} = {} + {other} * ({} - y);", x % 1009, x % 17)
    };
    let text = randoms(1).take(1000).map(statement).collect::<Vec<_>>().join("\n");
    let tokens = tokenize(&text);
    let count = |wanted| tokens.iter().filter(|(kind, _)| *kind == wanted).count();
    json!({
        "word": count(Kind::Word),
        "number": count(Kind::Number),
        "symbol": count(Kind::Symbol),
        "check": checksum(tokens.iter().map(|(_, text)| text.len() as i64)),
    })
}

struct Entry {
    value: i64,
    used: usize,
}

pub fn lru_cache() -> Value {
    const CAPACITY: usize = 32;
    const REQUESTS: usize = 20_000;
    let mut entries: HashMap<i64, Entry> = HashMap::new();
    let (mut hits, mut misses) = (0, 0);
    // Three of four requests are for few keys, so that most of them hit.
    let keys = randoms(1).map(|x| if x % 4 == 0 { x % 1009 } else { x % 23 });
    for (tick, key) in keys.take(REQUESTS).enumerate() {
        if let Some(entry) = entries.get_mut(&key) {
            hits += 1;
            entry.used = tick;
            continue;
        }
        misses += 1;
        if entries.len() >= CAPACITY {
            let oldest = entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            oldest.and_then(|key| entries.remove(&key));
        }
        entries.insert(key, Entry { value: key * key, used: tick });
    }
    let kept: i64 = entries.values().map(|entry| entry.value).sum();
    json!({"hits": hits, "misses": misses, "kept": kept})
}
