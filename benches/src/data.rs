//! Data for the programs, identical on every machine.

use std::fmt::Write;

/// A linear congruential generator with Knuth's constants.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Generates `n` orders as JSON text.
pub fn orders_json(n: usize) -> String {
    let mut numbers = Numbers(42);
    let mut text = String::from("[");
    for id in 0..n {
        let status = numbers.pick(&["paid", "open", "void"]);
        let comma = if id > 0 { "," } else { "" };
        let (customer, amount) = (numbers.below(100), numbers.below(500));
        let _ = write!(
            text,
            r#"{comma}{{"id":{id},"customer":"c{customer}","amount":{amount}.5,"status":"{status}"}}"#
        );
    }
    text.push(']');
    text
}

/// Generates `n` orders with their items as JSON text, as `report.clj` reads them; some 145 bytes each.
pub fn baskets_json(n: usize) -> String {
    let mut numbers = Numbers(11);
    let mut order = |id: usize| {
        let (customer, tier) = (numbers.below(5000), numbers.pick(&["gold", "silver", "free"]));
        let country = numbers.pick(&["DE", "FR", "US"]);
        let items: Vec<String> = (0..1 + numbers.below(4))
            .map(|_| format!(r#"{{"qty":{},"price":{}}}"#, 1 + numbers.below(9), numbers.below(200)))
            .collect();
        let items = items.join(",");
        format!(
            r#"{{"id":{id},"customer":"c{customer}","tier":"{tier}","country":"{country}","items":[{items}]}}"#
        )
    };
    format!("[{}]", (0..n).map(&mut order).collect::<Vec<_>>().join(","))
}

/// Generates `n` nested records as JSON texts, of which `row.clj` reads about half.
pub fn records_json(n: usize) -> Vec<String> {
    let mut numbers = Numbers(7);
    let record = |id| {
        let (name, tier) = (numbers.below(5000), numbers.pick(&["gold", "silver", "free"]));
        let age =
            if numbers.below(4) == 0 { "null".to_string() } else { (18 + numbers.below(70)).to_string() };
        let (amount, items) = (numbers.below(1000), 1 + numbers.below(9));
        let country = numbers.pick(&["DE", "FR", "US", "GB"]);
        let discount = if numbers.below(2) == 0 { r#","discount":0.125"# } else { "" };
        format!(
            r#"{{"id":{id},"user":{{"name":"user_{name}","email":"user_{name}@example.com","tier":"{tier}","age":{age}}},"order":{{"amount":{amount}.25,"items":{items},"country":"{country}","currency":"EUR"}}{discount},"tags":["new","web"],"ts":{}}}"#,
            1_700_000_000 + id
        )
    };
    (0..n).map(record).collect()
}

/// Generates `n` words from a small vocabulary, twelve per line.
pub fn words(n: usize) -> String {
    let mut numbers = Numbers(3);
    let letters: Vec<&str> = "a b c d e f g h i j k l m n o p q r s t u v w x y z".split(' ').collect();
    let vocabulary: Vec<String> = (0..2000)
        .map(|_| {
            let length = 2 + numbers.below(7);
            (0..length).map(|_| numbers.pick(&letters)).collect()
        })
        .collect();
    let mut text = String::new();
    for at in 1..=n {
        // The smaller of two draws, so that some words are common and most are rare.
        let word = numbers.below(2000).min(numbers.below(2000)) as usize;
        text.push_str(&vocabulary[word]);
        text.push(if at % 12 == 0 { '\n' } else { ' ' });
    }
    text
}

/// Returns a program of about 400 lines: the report with its functions eleven times.
pub fn long_program() -> String {
    let (functions, last) =
        crate::programs::REPORT.rsplit_once("\n(let ").expect("the report ends with a let");
    let mut text = String::new();
    for copy in 0..10 {
        let mut part = functions.to_string();
        for name in ["orders", "subtotal", "discount", "shipping", "process", "line"] {
            part = part
                .replace(&format!("(def {name}"), &format!("(def {name}-{copy}"))
                .replace(&format!("(defn {name}"), &format!("(defn {name}-{copy}"))
                .replace(&format!("({name} "), &format!("({name}-{copy} "));
        }
        text.push_str(&part);
        text.push('\n');
    }
    format!("{text}{functions}\n(let {last}")
}
