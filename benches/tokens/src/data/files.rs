//! Files: orders as CSV, logs, settings of services, decisions in prose, and source code.

use super::world::{COUNTRIES, PEOPLE, SERVICES, TEAS};
use crate::dice::Dice;
use serde_json::{Value, json};
use std::fmt::Write;
use std::io::Result;
use std::path::Path;

pub fn create(folder: &Path) -> Result<()> {
    for name in ["orders", "logs", "services", "decisions", "src"] {
        std::fs::create_dir_all(folder.join(name))?;
    }
    for month in 1..=6 {
        std::fs::write(folder.join(format!("orders/2031-{month:02}.csv")), orders(month))?;
    }
    for (n, (service, _)) in SERVICES.iter().take(8).enumerate() {
        std::fs::write(folder.join(format!("logs/{service}.log")), log(service, n))?;
    }
    for (n, (service, team)) in SERVICES.iter().enumerate() {
        let text = serde_json::to_string_pretty(&settings(service, team, n)).expect("JSON");
        std::fs::write(folder.join(format!("services/{service}.json")), text)?;
    }
    std::fs::write(folder.join("services/production.json"), pretty(&environment("production")))?;
    std::fs::write(folder.join("services/staging.json"), pretty(&environment("staging")))?;
    for (name, text) in DECISIONS {
        std::fs::write(folder.join("decisions").join(name), text)?;
    }
    for n in 0..12 {
        let (name, text) = source(n);
        std::fs::write(folder.join("src").join(name), text)?;
    }
    std::fs::write(folder.join("invoices-from-bank.csv"), super::ledger::bank())
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON")
}

fn orders(month: usize) -> String {
    let mut dice = Dice::new(100 + month as u64);
    let mut text = "id,date,customer,country,product,quantity,unit_price\n".to_string();
    for n in 0..70 {
        let (tea, _, price) = dice.pick(TEAS);
        let day = 1 + n * 28 / 70;
        let (customer, country) = (dice.between(1, 40), dice.pick(COUNTRIES));
        let quantity = dice.between(1, 12);
        let _ = writeln!(
            text,
            "{month}{n:03},2031-{month:02}-{day:02},C{customer:03},{country},{tea},{quantity},{}.{:02}",
            price / 100,
            price % 100
        );
    }
    text
}

fn log(service: &str, n: usize) -> String {
    let mut dice = Dice::new(200 + n as u64);
    let codes = ["TIMEOUT", "CONN_RESET", "BAD_GATEWAY", "DISK_FULL", "LOCKED"];
    let mut text = String::new();
    for line in 0..110 {
        let (hour, minute, second) = (line * 24 / 110, dice.below(60), dice.below(60));
        let request = format!("{:06x}", dice.below(1 << 24));
        let millis = dice.between(3, 900);
        let _ = match dice.below(100) {
            0..=8 => writeln!(
                text,
                "2031-04-02T{hour:02}:{minute:02}:{second:02}Z ERROR {service} request={request} code={} ms={}",
                dice.pick(&codes),
                millis * 7
            ),
            9..=20 => writeln!(
                text,
                "2031-04-02T{hour:02}:{minute:02}:{second:02}Z WARN {service} request={request} slow ms={}",
                millis * 3
            ),
            _ => writeln!(
                text,
                "2031-04-02T{hour:02}:{minute:02}:{second:02}Z INFO {service} request={request} ok ms={millis}"
            ),
        };
    }
    text
}

fn settings(service: &str, team: &str, n: usize) -> Value {
    let mut dice = Dice::new(300 + n as u64);
    let needs: Vec<&str> =
        (0..dice.between(1, 3)).map(|_| dice.pick(SERVICES).0).filter(|name| *name != service).collect();
    json!({
        "name": service,
        "owner": team,
        "port": 8000 + n * 7,
        "replicas": dice.between(1, 6),
        "memory_mb": 256 * dice.between(1, 8),
        "timeout_ms": 1000 * dice.between(1, 60),
        "retries": dice.below(4),
        "log_level": dice.pick(&["info", "warn", "debug"]),
        "depends_on": needs,
        "image": format!("registry.example/{service}:1.{}.{}", dice.below(20), dice.below(9)),
    })
}

fn environment(name: &str) -> Value {
    let is_production = name == "production";
    json!({
        "region": "eu-north-1",
        "database_url": format!("postgres://db.{name}.example/shop"),
        "pool_size": if is_production { 40 } else { 5 },
        "cache_ttl_s": 300,
        "feature_gift_cards": !is_production,
        "feature_loyalty": true,
        "sample_rate": if is_production { 0.01 } else { 1.0 },
        "support_mail": "help@tea.example",
        "max_upload_mb": 20,
        "currency": "EUR",
    })
}

fn source(n: usize) -> (String, String) {
    let mut dice = Dice::new(400 + n as u64);
    let (service, _) = SERVICES[n];
    let mut text =
        format!("\"\"\"Handlers of the {service} service.\"\"\"\n\nfrom shop import db, queue\n\n");
    let verbs = ["load", "store", "list", "merge", "cancel", "retry", "expire", "count"];
    let work = [
        "handle empty batches",
        "use the new client",
        "remove after the migration",
        "cache this",
        "add a timeout",
        "check permissions",
    ];
    for (k, verb) in verbs.iter().enumerate().take(dice.between(4, 8)) {
        let _ = writeln!(text, "def {verb}_{service}(request):");
        let _ = writeln!(
            text,
            "    \"\"\"{}s what the request names.\"\"\"",
            verb[..1].to_uppercase() + &verb[1..]
        );
        if dice.chance(45) {
            let (login, ..) = dice.pick(PEOPLE);
            let _ = writeln!(text, "    # TODO({login}): {}", dice.pick(&work));
        }
        let _ = writeln!(text, "    rows = db.query(\"{service}\", request.id, limit={})", 10 * (k + 1));
        let _ = writeln!(text, "    for row in rows:");
        let _ = writeln!(text, "        queue.push(\"{service}.{verb}\", row)");
        let _ = writeln!(text, "    return len(rows)\n");
    }
    (format!("{service}.py"), text)
}

const DECISIONS: &[(&str, &str)] = &[
    (
        "0007-message-queue.md",
        "# 7. Message queue\n\nDate: 2030-09-14. Status: accepted.\n\nWe need a queue between checkout and billing, because billing is \
        down for minutes whenever the bank changes its certificates, and every such minute costs orders.\n\nWe looked at Kafka, \
        RabbitMQ and a table in Postgres. Kafka would have been the obvious choice for the events team, who already know it, but \
        nobody is on call for it at night, and in the trial two people spent a week on partition rebalancing. RabbitMQ was fine in \
        the trial; its clustering worried us after we read the post mortem of the spring outage. A table with SKIP LOCKED handles \
        four hundred messages a second on the database that we already run, back up and monitor, and our peak is thirty.\n\nWe use \
        the table. If the peak ever reaches two hundred messages a second, we look again.\n",
    ),
    (
        "0011-prices.md",
        "# 11. Prices in cents\n\nDate: 2030-11-02. Status: accepted.\n\nPrices were floats in the catalogue, decimals in billing and \
        strings in the mobile clients. After the third rounding complaint we agreed on integers of the smallest unit, with the \
        currency beside them, everywhere between services. The web pages format them. The migration took the search team nine days, \
        which is more than the four that had been estimated, because the old index could not change the type of a field in place.\n",
    ),
    (
        "0012-feature-flags.md",
        "# 12. Feature flags\n\nDate: 2030-12-01. Status: superseded by 19.\n\nFlags are environment variables that start with FEATURE_. \
        A flag lives for at most two releases; whoever adds one opens an issue for its removal on the same day. We accept that \
        changing a flag takes a deployment of about six minutes.\n",
    ),
    (
        "0015-time-zones.md",
        "# 15. Time zones\n\nDate: 2031-01-20. Status: accepted.\n\nStored times are UTC. Reports for the warehouse are cut at midnight \
        in Stockholm, because that is when the trucks leave, and not at midnight UTC. The finance export stays at UTC: the auditors \
        asked for it in writing. Anyone who compares the two should expect small differences at the end of every month.\n",
    ),
    (
        "0019-flag-service.md",
        "# 19. Flag service\n\nDate: 2031-03-11. Status: accepted.\n\nSix minutes turned out to be too long twice this winter, when gift \
        cards had to be switched off during fraud waves. Flags move to the identity service, which all clients already ask at start, \
        and which keeps the last answer for thirty seconds. Kaia owns the move. Flags of decision 12 are read until June, then the \
        code that reads them goes.\n",
    ),
    (
        "0021-search-engine.md",
        "# 21. Search engine\n\nDate: 2031-04-29. Status: proposed.\n\nThe index of the catalogue is rebuilt every night and is stale by \
        noon. Gita proposes an engine that indexes changes as they come; Hiro would rather rebuild every hour, which needs no new \
        software and two more machines. Measurements are due in May. Until then nothing changes, except that the rebuild also runs \
        at eleven.\n",
    ),
];
