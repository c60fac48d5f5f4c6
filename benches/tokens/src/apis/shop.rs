//! The shop's own service: products, stock, customers, orders, returns. Lists go on from a cursor, and `fields` leaves
//! out what nobody needs.

use super::Request;
use crate::data::world::{COUNTRIES, TEAS, country, moment};
use crate::dice::Dice;
use serde_json::{Value, json};

pub const DOCUMENT: &str = include_str!("../../apis/shop.json");

pub struct Shop {
    products: Vec<Value>,
    customers: Vec<Value>,
    orders: Vec<Value>,
    returns: Vec<Value>,
    stock: Vec<Value>,
}

const PACKS: &[(&str, usize)] = &[("tin", 100), ("bag", 60), ("box", 180), ("gift", 260)];

impl Shop {
    pub fn new() -> Shop {
        let mut dice = Dice::new(900);
        let (mut products, mut stock) = (Vec::new(), Vec::new());
        for (tea, category, price) in TEAS {
            for (pack, percent) in PACKS {
                let id = format!("P{:03}", products.len() + 1);
                let is_active = dice.chance(92);
                products.push(json!({
                    "id": id, "name": format!("{} {pack}", capital(tea)), "sku": format!("{tea}-{pack}"), "category": category,
                    "price_cents": price * percent / 100, "currency": "EUR", "active": is_active,
                    "weight_g": 50 * dice.between(1, 8), "rating": 30 + dice.below(21),
                    "description": format!("{} from this year's harvest, packed in a {pack} by hand. Store it dry and away from light.", capital(tea)),
                }));
                let warehouses: Vec<Value> = ["MAL", "HAM", "POR"]
                    .iter()
                    .map(|code| json!({"code": code, "on_hand": dice.below(60), "reserved": dice.below(12)}))
                    .collect();
                stock.push(json!({"product_id": id, "warehouses": warehouses}));
            }
        }
        let mut dice = Dice::new(901);
        let customers = (1..=40)
            .map(|n| {
                json!({"id": format!("C{n:03}"), "name": format!("Customer {n}"), "country": country(n),
                    "tier": dice.pick(&["basic", "basic", "silver", "gold"]), "created_at": moment(dice.below(90), 600),
                    "marketing": dice.chance(50)})
            })
            .collect();
        let mut dice = Dice::new(902);
        let (mut orders, mut returns) = (Vec::new(), Vec::new());
        for n in 1..=320 {
            let day = n * 180 / 320;
            let lines: Vec<Value> = (0..dice.between(1, 4))
                .map(|_| {
                    let product = &products[dice.below(products.len())];
                    json!({"product_id": product["id"], "quantity": dice.between(1, 5), "unit_price_cents": product["price_cents"]})
                })
                .collect();
            let total: u64 = lines
                .iter()
                .map(|line| {
                    line["quantity"].as_u64().unwrap_or(0) * line["unit_price_cents"].as_u64().unwrap_or(0)
                })
                .sum();
            let status = match day {
                150.. => *dice.pick(&["pending", "paid", "shipped"]),
                _ => *dice.pick(&["shipped", "delivered", "delivered", "delivered", "cancelled"]),
            };
            let id = format!("O{n:04}");
            if status == "delivered" && dice.chance(15) {
                returns.push(json!({"id": format!("R{:03}", returns.len() + 1), "order_id": id, "product_id": lines[0]["product_id"],
                    "reason": dice.pick(&["damaged", "wrong item", "late", "taste"]), "refund_cents": lines[0]["unit_price_cents"],
                    "created_at": moment(day + 9, 600)}));
            }
            orders.push(json!({
                "id": id, "customer_id": format!("C{:03}", dice.between(1, 40)), "status": status, "created_at": moment(day, dice.below(1440)),
                "currency": "EUR", "total_cents": total, "lines": lines,
                "ship_to": {"country": dice.pick(COUNTRIES), "postcode": format!("{:05}", dice.below(99_999))},
                "note": if dice.chance(20) { "Leave it with the neighbours." } else { "" },
            }));
        }
        Shop { products, customers, orders, returns, stock }
    }

    pub fn answer(&self, request: &Request) -> (u16, Value) {
        self.find(request).unwrap_or_else(|error| error)
    }

    fn find(&self, request: &Request) -> Result<(u16, Value), (u16, Value)> {
        let is =
            |one: &Value, name: &str, key: &str| request.text(name).is_none_or(|wanted| one[key] == wanted);
        let one = |all: &[Value], id: &str| all.iter().find(|one| one["id"] == id).cloned();
        let found = match &request.path[..] {
            ["products"] => {
                let fits = |one: &Value| {
                    let name = one["name"].as_str().unwrap_or_default().to_lowercase();
                    is(one, "category", "category")
                        && request.text("q").is_none_or(|q| name.contains(&q.to_lowercase()))
                };
                Some(list(&self.products, fits, request)?)
            }
            ["products", id] => one(&self.products, id),
            ["products", id, "stock"] => self.stock.iter().find(|one| one["product_id"] == *id).cloned(),
            ["customers"] => Some(list(
                &self.customers,
                |one| is(one, "tier", "tier") && is(one, "country", "country"),
                request,
            )?),
            ["customers", id] => one(&self.customers, id),
            ["orders"] => {
                request.word("status", "paid", &["pending", "paid", "shipped", "delivered", "cancelled"])?;
                let fits = |one: &Value| {
                    let created = one["created_at"].as_str();
                    is(one, "status", "status")
                        && is(one, "customer_id", "customer_id")
                        && request.text("created_from").is_none_or(|from| created >= Some(from))
                        && request.text("created_before").is_none_or(|before| created < Some(before))
                };
                Some(list(&self.orders, fits, request)?)
            }
            ["orders", id] => one(&self.orders, id),
            ["returns"] => Some(list(&self.returns, |one| is(one, "reason", "reason"), request)?),
            _ => None,
        };
        let unknown = || json!({"error": {"code": "not_found", "message": "there is nothing with this id"}});
        Ok(found.map_or_else(|| (404, unknown()), |body| (200, body)))
    }
}

fn list(all: &[Value], fits: impl Fn(&Value) -> bool, request: &Request) -> Result<Value, (u16, Value)> {
    let limit = request.number("limit", 20, 100)?;
    let start = match request.text("cursor") {
        None => 0,
        Some(cursor) => {
            let wrong = || {
                (400, json!({"error": {"code": "bad_cursor", "message": "the cursor is not one of ours"}}))
            };
            cursor.strip_prefix("c_").and_then(|at| usize::from_str_radix(at, 16).ok()).ok_or_else(wrong)?
        }
    };
    let fields: Option<Vec<&str>> = request.text("fields").map(|fields| fields.split(',').collect());
    let found: Vec<&Value> = all.iter().filter(|one| fits(one)).collect();
    let narrow = |one: &&Value| match (&fields, one.as_object()) {
        (Some(fields), Some(all)) => {
            let kept = all.iter().filter(|(key, _)| fields.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        _ => (*one).clone(),
    };
    let data: Vec<Value> = found.iter().skip(start).take(limit).map(narrow).collect();
    let next = start + data.len();
    let cursor = (next < found.len()).then(|| format!("c_{next:x}"));
    Ok(json!({"data": data, "next_cursor": cursor}))
}

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}
