//! Tasks over a database. A query does the counting, so direct calls do well here.

use super::task::{Task, between, int, text};
use crate::direct::Direct;
use serde_json::{Value, json};
use std::io::Result;

const SQLITE: &[&str] = &["sqlite"];

pub fn all() -> Vec<Task> {
    vec![
        Task {
            id: "sqlite-count",
            question: "How many rows of the table invoices have the status 'open'?",
            servers: SQLITE,
            head: "nothing",
            direct: |model| {
                Ok(query(model, "SELECT count(*) AS n FROM invoices WHERE status = 'open'")?[0]["n"].clone())
            },
            tools: &["sqlite/read_query"],
            programs: &[r#"
(:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT count(*) AS n FROM invoices WHERE status = 'open'"}}))
"#],
            read_out: |value| rows(text(&value))[0]["n"].clone(),
        },
        Task {
            id: "sqlite-top",
            question: "Which five customers were invoiced the most? The table invoices has customer_id and amount_cents, customers has id and name. Give pairs of the name and the sum.",
            servers: SQLITE,
            head: "nothing",
            direct: |model| Ok(pairs(&query(model, TOP)?)),
            tools: &["sqlite/read_query"],
            programs: &[r#"
(:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT c.name, sum(i.amount_cents) AS total FROM invoices i JOIN customers c ON c.id = i.customer_id GROUP BY c.id ORDER BY total DESC LIMIT 5"}}))
"#],
            read_out: |value| pairs(&rows(text(&value))),
        },
        Task {
            id: "sqlite-columns",
            question: "Which tables have a column customer_id? Sort the names.",
            servers: SQLITE,
            head: "nothing",
            direct: |model| {
                // The schema is a table as well: one query, where `describe_table` would be seven calls.
                let found = query(
                    model,
                    "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table' AND p.name = 'customer_id' ORDER BY m.name",
                )?;
                Ok(found.iter().map(|row| row["name"].clone()).collect())
            },
            tools: &["sqlite/read_query"],
            programs: &[r#"
(:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT m.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table' AND p.name = 'customer_id' ORDER BY m.name"}}))
"#],
            read_out: |value| rows(text(&value)).iter().map(|row| row["name"].clone()).collect(),
        },
        Task {
            id: "sqlite-notes",
            question: "The table notes (customer_id, written_on, body) has what customers said. What does customer 19 want to receive once a month? Answer with the words of the note.",
            servers: SQLITE,
            head: "reads prose",
            direct: |model| {
                let found = model.one(
                    "sqlite",
                    "read_query",
                    json!({"query": "SELECT written_on, body FROM notes WHERE customer_id = 19"}),
                )?;
                Ok(monthly(&found.text))
            },
            tools: &["sqlite/read_query"],
            programs: &[r#"
(:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT written_on, body FROM notes WHERE customer_id = 19"}}))
"#],
            read_out: |value| monthly(text(&value)),
        },
        Task {
            id: "sqlite-supplier",
            question: "Customers want faster delivery of teas of the category green. Look at the tables of the database (products, suppliers, supplies; see what columns they have) and tell me which supplier delivers which of these teas, as a map from the tea to the supplier.",
            servers: SQLITE,
            head: "nothing",
            direct: |model| {
                // One query, where `describe_table` would be three calls with longer answers.
                query(
                    model,
                    "SELECT sql FROM sqlite_master WHERE name IN ('products', 'suppliers', 'supplies')",
                )?;
                let found = query(model, SUPPLIERS)?;
                Ok(Value::Object(
                    found
                        .iter()
                        .map(|row| (text(&row["tea"]).to_string(), row["supplier"].clone()))
                        .collect(),
                ))
            },
            tools: &["sqlite/read_query"],
            programs: &[
                r#"
(:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT sql FROM sqlite_master WHERE name IN ('products', 'suppliers', 'supplies')"}}))
"#,
                r#"
(:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT p.name AS tea, s.name AS supplier FROM products p JOIN supplies x ON x.product_id = p.id JOIN suppliers s ON s.id = x.supplier_id WHERE p.category = 'green' ORDER BY p.name"}}))
"#,
            ],
            read_out: |value| {
                let found = rows(text(&value));
                Value::Object(
                    found
                        .iter()
                        .map(|row| (text(&row["tea"]).to_string(), row["supplier"].clone()))
                        .collect(),
                )
            },
        },
        Task {
            id: "sqlite-remind",
            question: "For every customer with at least three open invoices (table invoices: customer_id, status 'open'), insert one row into notes (customer_id, written_on '2031-07-01', body 'Remind'). Tell me how many rows were inserted.",
            servers: SQLITE,
            head: "nothing",
            direct: |model| {
                let done = model.one("sqlite", "write_query", json!({"query": REMIND}))?.text;
                Ok(between(&done, "affected_rows': ", "}").parse::<i64>().expect("a number").into())
            },
            tools: &["sqlite/write_query"],
            programs: &[r#"
(:value (tool/call {:server "sqlite" :tool "write_query" :args {:query "INSERT INTO notes (customer_id, written_on, body) SELECT customer_id, '2031-07-01', 'Remind' FROM invoices WHERE status = 'open' GROUP BY customer_id HAVING count(*) >= 3"}}))
"#],
            read_out: |value| {
                between(text(&value), "affected_rows': ", "}").parse::<i64>().expect("a number").into()
            },
        },
    ]
}

const TOP: &str = "SELECT c.name, sum(i.amount_cents) AS total FROM invoices i JOIN customers c ON c.id = i.customer_id GROUP BY c.id ORDER BY total DESC LIMIT 5";
const SUPPLIERS: &str = "SELECT p.name AS tea, s.name AS supplier FROM products p JOIN supplies x ON x.product_id = p.id JOIN suppliers s ON s.id = x.supplier_id WHERE p.category = 'green' ORDER BY p.name";
const REMIND: &str = "INSERT INTO notes (customer_id, written_on, body) SELECT customer_id, '2031-07-01', 'Remind' FROM invoices WHERE status = 'open' GROUP BY customer_id HAVING count(*) >= 3";

pub fn query(model: &mut Direct, query: &str) -> Result<Vec<Value>> {
    Ok(rows(&model.one("sqlite", "read_query", json!({"query": query}))?.text))
}

/// What the server answers, which is a list as Python prints it.
pub fn rows(text: &str) -> Vec<Value> {
    let json = text.replace('\'', "\"").replace("None", "null");
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn pairs(rows: &[Value]) -> Value {
    rows.iter().map(|row| json!([row["name"], int(&row["total"])])).collect()
}

fn monthly(found: &str) -> Value {
    assert!(found.contains("Would like one a month"), "{found}");
    "Would like one a month, on the first, to the owner's address.".into()
}
