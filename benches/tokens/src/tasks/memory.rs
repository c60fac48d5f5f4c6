//! Tasks over a knowledge graph.

use super::task::{Task, as_it_is, list, text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const MEMORY: &[&str] = &["memory"];

pub fn all() -> Vec<Task> {
    vec![
        Task {
            id: "memory-zone",
            question: "In which time zone does Kaia Nilsen live, according to the knowledge graph?",
            servers: MEMORY,
            head: "nothing",
            direct: |model| {
                let found = model.json("memory", "open_nodes", json!({"names": ["Kaia Nilsen"]}))?;
                Ok(zone(&found["entities"][0]).into())
            },
            tools: &["memory/open_nodes"],
            programs: &[r#"
(:observations (first (:entities (:value (tool/call {:server "memory" :tool "open_nodes" :args {:names ["Kaia Nilsen"]}})))))
"#],
            read_out: |value| zone(&json!({"observations": value})).into(),
        },
        Task {
            id: "memory-managers",
            question: "In the knowledge graph, people work on projects (\"works on\", \"leads\") and report to others (\"reports to\"). To whom do those report who work on or lead Gift Cards? Leave out people who report to nobody; sort the names.",
            servers: MEMORY,
            head: "follows 4 edges",
            direct: |model| {
                // A node comes with its relations on either side.
                let project = model.json("memory", "open_nodes", json!({"names": ["Gift Cards"]}))?;
                let people = sources(&project, "Gift Cards", &["works on", "leads"]);
                let nodes = model.json("memory", "open_nodes", json!({"names": people}))?;
                Ok(json!(managers(&nodes, &people)))
            },
            tools: &["memory/open_nodes"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn relations [names] (:relations (value (tool/call {:server "memory" :tool "open_nodes" :args {:names names}}))))
(def people
  (set (map :from (filter #(and (= "Gift Cards" (:to %)) (#{"works on" "leads"} (:relationType %))) (relations ["Gift Cards"])))))
(->> (relations (vec people))
     (filter #(and (people (:from %)) (= "reports to" (:relationType %))))
     (map :to) distinct sort)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "memory-tier",
            question: "In the knowledge graph, projects change services (\"changes\"), and services have an observation \"Tier 1\", \"Tier 2\" or \"Tier 3\". Which projects change a service of tier 1? Sort the names.",
            servers: MEMORY,
            head: "joins 20 services and 14 edges",
            direct: |model| {
                // The search finds services by what is known of them, with their relations.
                let found = model.json("memory", "search_nodes", json!({"query": "Tier 1"}))?;
                Ok(json!(projects(&found)))
            },
            tools: &["memory/search_nodes"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(let [found (value (tool/call {:server "memory" :tool "search_nodes" :args {:query "Tier 1"}}))
      services (set (map :name (:entities found)))]
  (->> (:relations found)
       (filter #(and (= "changes" (:relationType %)) (services (:to %))))
       (map :from) distinct sort))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "memory-busy",
            question: "How many relations does each team of the knowledge graph (entities of the type team) have, counting both directions? Give a map from name to count.",
            servers: MEMORY,
            head: "counts 40 of 90 edges",
            direct: |model| {
                // A search gives what it finds with its relations, and is a third of the graph.
                let graph = model.json("memory", "search_nodes", json!({"query": "team"}))?;
                Ok(json!(teams(&graph)))
            },
            tools: &["memory/search_nodes"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(let [graph (value (tool/call {:server "memory" :tool "search_nodes" :args {:query "team"}}))
      teams (map :name (filter #(= "team" (:entityType %)) (:entities graph)))
      ends (frequencies (mapcat (juxt :from :to) (:relations graph)))]
  (select-keys ends teams))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "memory-note",
            question: "Add the observation \"Invited to the summer party\" to every member of Team search in the knowledge graph (\"is member of\"), and tell me their names, sorted.",
            servers: MEMORY,
            head: "picks 4 of 8 edges",
            direct: |model| {
                let team = model.json("memory", "open_nodes", json!({"names": ["Team search"]}))?;
                let people = sources(&team, "Team search", &["is member of"]);
                let add =
                    |name: &String| json!({"entityName": name, "contents": ["Invited to the summer party"]});
                let args = json!({"observations": people.iter().map(add).collect::<Vec<_>>()});
                model.json("memory", "add_observations", args)?;
                Ok(json!(people))
            },
            tools: &["memory/open_nodes", "memory/add_observations"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn memory [tool args] (value (tool/call {:server "memory" :tool tool :args args})))
(def people
  (->> (:relations (memory "open_nodes" {:names ["Team search"]}))
       (filter #(and (= "is member of" (:relationType %)) (= "Team search" (:to %))))
       (map :from) sort))
(memory "add_observations" {:observations (for [p people] {:entityName p :contents ["Invited to the summer party"]})})
people
"#],
            read_out: as_it_is,
        },
    ]
}

fn zone(person: &Value) -> &str {
    let zones =
        list(&person["observations"]).iter().filter_map(|known| text(known).strip_prefix("Time zone: "));
    zones.last().expect("a time zone")
}

/// Where relations of these kinds to a node come from, sorted.
fn sources(found: &Value, to: &str, kinds: &[&str]) -> BTreeSet<String> {
    let fits = |one: &&Value| one["to"] == to && kinds.contains(&text(&one["relationType"]));
    list(&found["relations"]).iter().filter(fits).map(|one| text(&one["from"]).to_string()).collect()
}

fn managers(nodes: &Value, people: &BTreeSet<String>) -> BTreeSet<String> {
    let fits = |one: &&Value| one["relationType"] == "reports to" && people.contains(text(&one["from"]));
    list(&nodes["relations"]).iter().filter(fits).map(|one| text(&one["to"]).to_string()).collect()
}

fn projects(found: &Value) -> BTreeSet<String> {
    let services: BTreeSet<&str> = list(&found["entities"]).iter().map(|one| text(&one["name"])).collect();
    let fits = |one: &&Value| one["relationType"] == "changes" && services.contains(text(&one["to"]));
    list(&found["relations"]).iter().filter(fits).map(|one| text(&one["from"]).to_string()).collect()
}

fn teams(graph: &Value) -> BTreeMap<String, i64> {
    let is_team = |one: &&Value| one["entityType"] == "team";
    let mut counts: BTreeMap<String, i64> = list(&graph["entities"])
        .iter()
        .filter(is_team)
        .map(|one| (text(&one["name"]).to_string(), 0))
        .collect();
    for relation in list(&graph["relations"]) {
        for end in ["from", "to"] {
            if let Some(count) = counts.get_mut(text(&relation[end])) {
                *count += 1;
            }
        }
    }
    counts
}
