//! Tasks over the shop's own service. Lists go on from a cursor, so pages come one after the other.

use super::task::{Task, as_it_is, int, list, text};
use crate::direct::{Direct, call};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Result;

const SHOP: &[&str] = &["shop"];

pub fn all() -> Vec<Task> {
    vec![
        Task {
            id: "shop-price",
            question: "What does product P014 of the shop cost, in cents?",
            servers: SHOP,
            head: "nothing",
            direct: |model| {
                Ok(model.json("shop", "getProduct", json!({"id": "P014"}))?["price_cents"].clone())
            },
            tools: &["shop/get-product"],
            programs: &[r#"
(:price_cents (:value (tool/call {:server "shop" :tool "get-product" :args {:id "P014"}})))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "shop-matcha",
            question: "Which products of the shop have matcha in their name, and what do they cost? Give a map from the name to cents.",
            servers: SHOP,
            head: "nothing",
            direct: |model| {
                let found = model.json(
                    "shop",
                    "listProducts",
                    json!({"q": "matcha", "fields": "name,price_cents"}),
                )?;
                Ok(Value::Object(
                    list(&found["data"])
                        .iter()
                        .map(|one| (text(&one["name"]).to_string(), one["price_cents"].clone()))
                        .collect(),
                ))
            },
            tools: &["shop/list-products"],
            programs: &[r#"
(:data (:value (tool/call {:server "shop" :tool "list-products" :args {:q "matcha" :fields "name,price_cents"}})))
"#],
            read_out: |value| {
                Value::Object(
                    list(&value)
                        .iter()
                        .map(|one| (text(&one["name"]).to_string(), one["price_cents"].clone()))
                        .collect(),
                )
            },
        },
        Task {
            id: "shop-quarter",
            question: "What was the revenue of the shop per month (YYYY-MM) from January to March 2031, in cents (total_cents of orders that are not cancelled)?",
            servers: SHOP,
            head: "sums of about 150 numbers",
            direct: |model| {
                // A call for each month, because they can be made side by side and pages of one list cannot.
                let months = ["2031-01-01", "2031-02-01", "2031-03-01", "2031-04-01"];
                let orders = |of: &[&str]| {
                    let fields = "created_at,status,total_cents";
                    call(
                        "shop",
                        "listOrders",
                        json!({"created_from": of[0], "created_before": of[1], "limit": 100, "fields": fields}),
                    )
                };
                let mut cents: BTreeMap<String, i64> = BTreeMap::new();
                for page in model.jsons(months.windows(2).map(orders).collect())? {
                    assert!(page["next_cursor"].is_null());
                    for order in list(&page["data"]).iter().filter(|order| order["status"] != "cancelled") {
                        *cents.entry(text(&order["created_at"])[..7].to_string()).or_default() +=
                            int(&order["total_cents"]);
                    }
                }
                Ok(json!(cents))
            },
            tools: &["shop/list-orders"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn orders [cursor]
  (let [args {:created_from "2031-01-01" :created_before "2031-04-01" :limit 100}
        {:keys [data next_cursor]} (value (tool/call {:server "shop" :tool "list-orders" :args (if cursor (assoc args :cursor cursor) args)}))]
    (if next_cursor (into data (orders next_cursor)) data)))
(->> (orders nil)
     (remove #(= "cancelled" (:status %)))
     (group-by #(subs (:created_at %) 0 7))
     (map (fn [[month rows]] [month (sum-by :total_cents rows)]))
     (into {}))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "shop-categories",
            question: "How many pieces of each category did the shop sell in May 2031? Count the quantity of the lines of orders that are not cancelled.",
            servers: SHOP,
            head: "joins 130 lines with 64 products",
            direct: |model| {
                // The two lists do not depend on each other.
                let orders = json!({"created_from": "2031-05-01", "created_before": "2031-06-01", "limit": 100, "fields": "status,lines"});
                let products = json!({"limit": 100, "fields": "id,category"});
                let both = model.jsons(vec![
                    call("shop", "listOrders", orders),
                    call("shop", "listProducts", products),
                ])?;
                assert!(both.iter().all(|page| page["next_cursor"].is_null()));
                let product =
                    |one: &Value| (text(&one["id"]).to_string(), text(&one["category"]).to_string());
                let categories: BTreeMap<String, String> =
                    list(&both[1]["data"]).iter().map(product).collect();
                let mut pieces: BTreeMap<&str, i64> = BTreeMap::new();
                for order in list(&both[0]["data"]).iter().filter(|order| order["status"] != "cancelled") {
                    for line in list(&order["lines"]) {
                        *pieces.entry(&categories[text(&line["product_id"])]).or_default() +=
                            int(&line["quantity"]);
                    }
                }
                Ok(json!(pieces))
            },
            tools: &["shop/list-orders", "shop/list-products"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn all [tool args]
  (let [{:keys [data next_cursor]} (value (tool/call {:server "shop" :tool tool :args (assoc args :limit 100)}))]
    (if next_cursor (into data (all tool (assoc args :cursor next_cursor))) data)))
(def category (into {} (map (juxt :id :category) (all "list-products" {}))))
(->> (all "list-orders" {:created_from "2031-05-01" :created_before "2031-06-01"})
     (remove #(= "cancelled" (:status %)))
     (mapcat :lines)
     (group-by #(category (:product_id %)))
     (map (fn [[c lines]] [c (sum-by :quantity lines)]))
     (into {}))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "shop-stock",
            question: "Of which products of the category herbal does the shop have fewer than 60 pieces in all warehouses together (on_hand minus reserved)? Give their ids, sorted.",
            servers: SHOP,
            head: "16 sums",
            direct: |model| {
                let products = model.json(
                    "shop",
                    "listProducts",
                    json!({"category": "herbal", "fields": "id", "limit": 100}),
                )?;
                let stock = |one: &Value| call("shop", "getStock", json!({"id": one["id"]}));
                let answers = model.jsons(list(&products["data"]).iter().map(stock).collect())?;
                let free = |stock: &Value| {
                    list(&stock["warehouses"])
                        .iter()
                        .map(|one| int(&one["on_hand"]) - int(&one["reserved"]))
                        .sum::<i64>()
                };
                Ok(answers
                    .iter()
                    .filter(|stock| free(stock) < 60)
                    .map(|stock| stock["product_id"].clone())
                    .collect())
            },
            tools: &["shop/list-products", "shop/get-stock"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn shop [tool args] (value (tool/call {:server "shop" :tool tool :args args})))
(def page (shop "list-products" {:category "herbal" :limit 100}))
(assert (not (:next_cursor page)))
(->> (:data page)
     (pmap #(shop "get-stock" {:id (:id %)}))
     (filter (fn [s] (< (sum (map #(- (:on_hand %) (:reserved %)) (:warehouses s))) 60)))
     (map :product_id)
     sort)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "shop-gold",
            question: "Which customers of the tier gold have at least three orders in the shop, and how much did each spend on orders that are not cancelled? Give a map from the id to cents.",
            servers: SHOP,
            head: "sums for about 10 customers",
            direct: |model| {
                let gold = model.json(
                    "shop",
                    "listCustomers",
                    json!({"tier": "gold", "fields": "id", "limit": 100}),
                )?;
                let orders = |one: &Value| {
                    call(
                        "shop",
                        "listOrders",
                        json!({"customer_id": one["id"], "fields": "status,total_cents", "limit": 100}),
                    )
                };
                let answers = model.jsons(list(&gold["data"]).iter().map(orders).collect())?;
                let mut spent = BTreeMap::new();
                for (customer, orders) in list(&gold["data"]).iter().zip(&answers) {
                    let orders = list(&orders["data"]);
                    if orders.len() >= 3 {
                        let counted = orders.iter().filter(|order| order["status"] != "cancelled");
                        spent.insert(
                            text(&customer["id"]),
                            counted.map(|order| int(&order["total_cents"])).sum::<i64>(),
                        );
                    }
                }
                Ok(json!(spent))
            },
            tools: &["shop/list-customers", "shop/list-orders"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn shop [tool args]
  (let [page (value (tool/call {:server "shop" :tool tool :args (assoc args :limit 100)}))]
    (assert (not (:next_cursor page)))
    (:data page)))
(->> (shop "list-customers" {:tier "gold"})
     (pmap (fn [c] [(:id c) (shop "list-orders" {:customer_id (:id c)})]))
     (filter #(>= (count (second %)) 3))
     (map (fn [[id orders]] [id (sum-by :total_cents (remove #(= "cancelled" (:status %)) orders))]))
     (into {}))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "shop-returns",
            question: "Which three products have the most returns in the shop? Give pairs of the product's name and the number of returns; of products with equally many, the smallest id first.",
            servers: SHOP,
            head: "counts about 30 returns",
            direct: |model| {
                let returns = follow(model, "listReturns", json!({"limit": 100, "fields": "product_id"}))?;
                let mut counts: BTreeMap<String, i64> = BTreeMap::new();
                returns
                    .iter()
                    .for_each(|one| *counts.entry(text(&one["product_id"]).to_string()).or_default() += 1);
                let mut top: Vec<(String, i64)> = counts.into_iter().collect();
                top.sort_by_key(|(_, count)| -count);
                top.truncate(3);
                let get = |(id, _): &(String, i64)| call("shop", "getProduct", json!({"id": id}));
                let products = model.jsons(top.iter().map(get).collect())?;
                Ok(products
                    .iter()
                    .zip(&top)
                    .map(|(product, (_, count))| json!([product["name"], count]))
                    .collect())
            },
            tools: &["shop/list-returns", "shop/get-product"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn shop [tool args] (value (tool/call {:server "shop" :tool tool :args args})))
(def returns
  (loop [page (shop "list-returns" {:limit 100}) found []]
    (let [found (into found (:data page))]
      (if (:next_cursor page) (recur (shop "list-returns" {:limit 100 :cursor (:next_cursor page)}) found) found))))
(->> (frequencies (map :product_id returns))
     (sort-by (fn [[id n]] [(- n) id]))
     (take 3)
     (map (fn [[id n]] [(:name (shop "get-product" {:id id})) n])))
"#],
            read_out: as_it_is,
        },
    ]
}

/// All items of a list, page after page.
pub fn follow(model: &mut Direct, tool: &'static str, mut args: Value) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    loop {
        let page = model.json("shop", tool, args.clone())?;
        all.extend(list(&page["data"]).iter().cloned());
        match page["next_cursor"].as_str() {
            Some(cursor) => args["cursor"] = cursor.into(),
            None => return Ok(all),
        }
    }
}
