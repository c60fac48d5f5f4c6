//! The knowledge graph: people, teams, services, projects, and what is known of them.

use super::world::{PEOPLE, SERVICES};
use crate::dice::Dice;
use serde_json::{Value, json};
use std::io::Result;
use std::path::Path;

/// Name, leader, services.
const PROJECTS: &[(&str, &str, &[&str])] = &[
    ("Gift Cards", "dana", &["checkout", "billing", "identity"]),
    ("Currencies", "ada", &["checkout", "billing", "gateway"]),
    ("Fresh Index", "gita", &["catalog", "indexer"]),
    ("Offline Basket", "mei", &["sync", "push"]),
    ("Audit Trail", "ines", &["audit", "gateway", "identity"]),
    ("Demand Forecast", "rosa", &["forecast", "warehouse"]),
];

pub fn create(file: &Path) -> Result<()> {
    let mut dice = Dice::new(600);
    let mut lines: Vec<Value> = Vec::new();
    let mut entity = |name: &str, kind: &str, observations: Vec<String>| {
        lines.push(json!({"type": "entity", "name": name, "entityType": kind, "observations": observations}));
    };
    for (login, name, team, zone) in PEOPLE {
        let since = dice.between(2022, 2030);
        let mut known =
            vec![format!("Login: {login}"), format!("Time zone: {zone}"), format!("Joined in {since}")];
        if dice.chance(50) {
            known.push(format!(
                "Speaks {}",
                dice.pick(&["Swedish", "Hindi", "Japanese", "French", "Portuguese"])
            ));
        }
        if dice.chance(30) {
            known.push(format!("On call in the {team} rotation"));
        }
        entity(name, "person", known);
    }
    for team in ["payments", "search", "platform", "mobile", "data"] {
        entity(&format!("Team {team}"), "team", vec![format!("Chat channel: #{team}")]);
    }
    for (n, (service, _)) in SERVICES.iter().enumerate() {
        let tier = dice.between(1, 3);
        // Some ports have moved since somebody wrote them down.
        let moved = usize::from(n % 7 == 3);
        entity(
            service,
            "service",
            vec![format!("Tier {tier}"), format!("Runs on port {}", 8000 + n * 7 + moved)],
        );
    }
    for (project, ..) in PROJECTS {
        entity(project, "project", vec![format!("Budget: {} days", 10 * dice.between(3, 20))]);
    }
    let mut relation = |from: &str, kind: &str, to: &str| {
        lines.push(json!({"type": "relation", "from": from, "to": to, "relationType": kind}));
    };
    let named = |login: &str| PEOPLE.iter().find(|person| person.0 == login).expect("a person").1;
    for (n, (_, name, team, _)) in PEOPLE.iter().enumerate() {
        relation(name, "is member of", &format!("Team {team}"));
        if n % 4 != 0 {
            relation(name, "reports to", PEOPLE[n - n % 4].1);
        }
    }
    for (service, team) in SERVICES {
        relation(&format!("Team {team}"), "owns", service);
    }
    for (project, leader, services) in PROJECTS {
        relation(named(leader), "leads", project);
        for service in *services {
            relation(project, "changes", service);
        }
        for _ in 0..3 {
            let (_, name, ..) = dice.pick(PEOPLE);
            relation(name, "works on", project);
        }
    }
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(file, text.join("\n"))
}
