//! The database: customers, products, invoices, payments. Its own server makes it, from these statements.

use super::world::{TEAS, date};
use crate::dice::Dice;

/// A customer, an amount in cents, a day, and whether it is paid.
fn invoices() -> Vec<(usize, usize, usize, bool)> {
    let mut dice = Dice::new(700);
    let invoice = |n: usize| {
        (dice.between(1, 40), 100 * dice.between(9, 400) + 50 * dice.below(2), n * 180 / 160, dice.chance(80))
    };
    (0..160).map(invoice).collect()
}

/// Statements for `create_table` and `write_query`, which come in this order.
pub fn statements() -> (Vec<String>, Vec<String>) {
    let tables = [
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, code TEXT, name TEXT, country TEXT, city TEXT, mail TEXT, since TEXT)",
        "CREATE TABLE products (id INTEGER PRIMARY KEY, sku TEXT, name TEXT, category TEXT, cost_cents INTEGER)",
        "CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer_id INTEGER, amount_cents INTEGER, issued TEXT, due TEXT, status TEXT)",
        "CREATE TABLE payments (id INTEGER PRIMARY KEY, invoice_id INTEGER, amount_cents INTEGER, paid_on TEXT, method TEXT)",
        "CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT, country TEXT, lead_days INTEGER)",
        "CREATE TABLE supplies (product_id INTEGER, supplier_id INTEGER, price_cents INTEGER)",
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, customer_id INTEGER, written_on TEXT, body TEXT)",
    ];
    let mut dice = Dice::new(701);
    let first = ["Elm", "Oak", "Ash", "Birch", "Cedar", "Maple", "Rowan", "Alder"];
    let second = ["Cafe", "Books", "Hotel", "Market", "Kitchen"];
    let cities = ["Berlin", "Malmo", "Lyon", "Porto", "Kyoto", "Boston", "Pune", "Recife"];
    let customer = |n: usize| {
        // Some have moved, and the ledger has not heard of it.
        let country = super::world::country(n + 1 + usize::from(n % 9 == 4));
        let name = format!("{} {}", first[n % 8], second[n / 8 % 5]);
        let mail = format!("{}@{}.example", second[n / 8 % 5].to_lowercase(), first[n % 8].to_lowercase());
        format!(
            "({}, 'C{:03}', '{name}', '{}', '{}', '{mail}', '20{}-01-01')",
            n + 1,
            n + 1,
            country,
            dice.pick(&cities),
            20 + dice.below(11)
        )
    };
    let customers: Vec<String> = (0..40).map(customer).collect();
    let products = TEAS.iter().enumerate().map(|(n, (name, category, price))| {
        format!("({}, 'T{:03}', '{name}', '{category}', {})", n + 1, n + 1, price * 6 / 10)
    });
    let mut payments = Vec::new();
    let rows = invoices().into_iter().enumerate().map(|(n, (customer, cents, day, is_paid))| {
        if is_paid {
            let id = payments.len() + 1;
            payments.push(format!(
                "({id}, {}, {cents}, '{}', '{}')",
                n + 1,
                date(day + 12),
                ["card", "transfer"][n % 2]
            ));
        }
        let status = if is_paid { "paid" } else { "open" };
        format!("({}, {customer}, {cents}, '{}', '{}', '{status}')", n + 1, date(day), date(day + 30))
    });
    let rows: Vec<String> = rows.collect();
    let suppliers = ["Nordic Leaf", "Uji Farms", "Assam Estates", "Cape Herbs"];
    let suppliers = suppliers.iter().enumerate().map(|(n, name)| {
        format!("({}, '{name}', '{}', {})", n + 1, ["SE", "JP", "IN", "ZA"][n], 7 * (n + 1))
    });
    let mut dice = Dice::new(702);
    let supplies: Vec<String> = (0..TEAS.len())
        .map(|n| format!("({}, {}, {})", n + 1, dice.between(1, 4), TEAS[n].2 * dice.between(50, 66) / 100))
        .collect();
    let into = |table: &str, rows: Vec<String>| format!("INSERT INTO {table} VALUES {}", rows.join(", "));
    let inserts = vec![
        into("customers", customers),
        into("products", products.collect()),
        into("invoices", rows),
        into("payments", payments),
        into("suppliers", suppliers.collect()),
        into("supplies", supplies),
        into(
            "notes",
            NOTES
                .iter()
                .enumerate()
                .map(|(n, (customer, day, body))| {
                    format!("({}, {customer}, '{}', '{}')", n + 1, date(*day), body.replace('\'', "''"))
                })
                .collect(),
        ),
    ];
    (tables.map(str::to_string).to_vec(), inserts)
}

/// What the bank says about invoices: nearly what the database says.
pub fn bank() -> String {
    let mut dice = Dice::new(703);
    let mut text = "reference,amount,received\n".to_string();
    for (n, (_, cents, day, is_paid)) in invoices().into_iter().enumerate() {
        // A few payments never came, and a few came short.
        if !is_paid || dice.chance(3) {
            continue;
        }
        let short = if dice.chance(4) { 150 } else { 0 };
        let amount = cents - short;
        text.push_str(&format!("INV-{:04},{}.{:02},{}\n", n + 1, amount / 100, amount % 100, date(day + 13)));
    }
    text
}

const NOTES: &[(usize, usize, &str)] = &[
    (
        7,
        40,
        "Called about the March delivery. The boxes were wet; they kept the black teas and want the greens replaced. Friendly.",
    ),
    (
        7,
        61,
        "Replacement arrived. They asked for a smaller box size, because the shelf in the back room is only 30 cm deep.",
    ),
    (12, 75, "Wants to pay by transfer from now on; the card belongs to a manager who left."),
    (
        19,
        90,
        "Complained that invoices arrive as three separate mails. Would like one a month, on the first, to the owner's address.",
    ),
    (
        19,
        118,
        "Still three mails. Owner is annoyed and is talking to another roaster. Promised a call from Rosa before Friday.",
    ),
    (23, 130, "Opening a second place in autumn and will double the matcha order."),
];
