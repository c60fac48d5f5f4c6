//! Tasks over files.

use super::task::{Task, as_it_is, between, text};
use crate::direct::{Direct, call};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;

const FILES: &[&str] = &["files"];

pub fn all() -> Vec<Task> {
    vec![
        Task {
            id: "files-port",
            question: "On which port does the service checkout run? Its settings are in /tmp/ptc-tokens/files/services/checkout.json.",
            servers: FILES,
            head: "nothing",
            direct: |model| {
                let file = model.json(
                    "files",
                    "read_text_file",
                    json!({"path": "/tmp/ptc-tokens/files/services/checkout.json"}),
                )?;
                Ok(file["port"].clone())
            },
            tools: &["files/read_text_file"],
            programs: &[r#"
(:port (json/parse-string (:content (:value (tool/call {:server "files" :tool "read_text_file" :args {:path "/tmp/ptc-tokens/files/services/checkout.json"}})))))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "files-decision",
            question: "Why was Kafka rejected in /tmp/ptc-tokens/files/decisions/0007-message-queue.md? Quote the sentence.",
            servers: FILES,
            head: "reads prose",
            direct: |model| {
                let path = "/tmp/ptc-tokens/files/decisions/0007-message-queue.md";
                Ok(kafka(&model.one("files", "read_text_file", json!({"path": path}))?.text))
            },
            tools: &["files/read_text_file"],
            programs: &[r#"
(:content (:value (tool/call {:server "files" :tool "read_text_file" :args {:path "/tmp/ptc-tokens/files/decisions/0007-message-queue.md"}})))
"#],
            read_out: |value| kafka(text(&value)),
        },
        Task {
            id: "files-environments",
            question: "Which settings differ between /tmp/ptc-tokens/files/services/staging.json and production.json in the same folder? Give their names, sorted.",
            servers: FILES,
            head: "compares 10 values",
            direct: |model| {
                let paths = ["staging", "production"]
                    .map(|name| format!("/tmp/ptc-tokens/files/services/{name}.json"));
                let files = parts(&model.one("files", "read_multiple_files", json!({"paths": paths}))?.text);
                let files: Vec<Value> =
                    files.iter().map(|(_, text)| serde_json::from_str(text).expect("JSON")).collect();
                let (one, other) =
                    (files[0].as_object().expect("an object"), files[1].as_object().expect("an object"));
                let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
                Ok(json!(
                    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).collect::<Vec<_>>()
                ))
            },
            tools: &["files/read_text_file"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn settings [name]
  (json/parse-string (:content (value (tool/call {:server "files" :tool "read_text_file" :args {:path (str "/tmp/ptc-tokens/files/services/" name ".json")}})))))
(let [a (settings "staging") b (settings "production")]
  (sort (filter #(not= (get a %) (get b %)) (distinct (concat (keys a) (keys b))))))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "files-risky-settings",
            question: "Which of the services with settings in /tmp/ptc-tokens/files/services/*.json have a timeout_ms above 30000 and no retries? Sort the names. production.json and staging.json are not services.",
            servers: FILES,
            head: "two tests on each of 20 files",
            direct: |model| {
                let mut names = Vec::new();
                for (_, file) in all_settings(model)? {
                    if file["timeout_ms"].as_u64() > Some(30_000) && file["retries"] == 0 {
                        names.push(text(&file["name"]).to_string());
                    }
                }
                names.sort();
                Ok(json!(names))
            },
            tools: &["files/list_directory", "files/read_text_file"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def dir "/tmp/ptc-tokens/files/services/")
(defn call [tool path] (:content (value (tool/call {:server "files" :tool tool :args {:path path}}))))
(->> (re-seq #"[\w-]+\.json" (call "list_directory" dir))
     (pmap #(json/parse-string (call "read_text_file" (str dir %))))
     (filter #(and (:name %) (> (:timeout_ms %) 30000) (zero? (:retries %))))
     (map :name)
     sort)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "files-dependents",
            question: "The settings of each service in /tmp/ptc-tokens/files/services/*.json name what it depends_on. Which services need gateway, directly or through others? Sort the names. production.json and staging.json are not services.",
            servers: FILES,
            head: "closure of a graph of 20 nodes",
            direct: |model| {
                let files = all_settings(model)?;
                let mut found: BTreeSet<String> = BTreeSet::from(["gateway".to_string()]);
                loop {
                    let before = found.len();
                    for (_, file) in &files {
                        if super::list(&file["depends_on"]).iter().any(|name| found.contains(text(name))) {
                            found.insert(text(&file["name"]).to_string());
                        }
                    }
                    if found.len() == before {
                        found.remove("gateway");
                        return Ok(json!(found));
                    }
                }
            },
            tools: &["files/list_directory", "files/read_text_file"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def dir "/tmp/ptc-tokens/files/services/")
(defn call [tool path] (:content (value (tool/call {:server "files" :tool tool :args {:path path}}))))
(def services
  (->> (re-seq #"[\w-]+\.json" (call "list_directory" dir))
       (pmap #(json/parse-string (call "read_text_file" (str dir %))))
       (filter :depends_on)))
(loop [found #{"gateway"}]
  (let [more (into found (map :name (filter #(some found (:depends_on %)) services)))]
    (if (= more found) (sort (disj found "gateway")) (recur more))))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "files-errors",
            question: "The logs in /tmp/ptc-tokens/files/logs have lines such as `… ERROR checkout request=a1b2c3 code=TIMEOUT ms=120`. How many errors of each code are there in all logs together?",
            servers: FILES,
            head: "counts about 80 lines in 880",
            direct: |model| {
                let listed =
                    model.one("files", "list_directory", json!({"path": "/tmp/ptc-tokens/files/logs"}))?.text;
                let paths = paths(&listed, "logs");
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for line in model.one("files", "read_multiple_files", json!({"paths": paths}))?.text.lines() {
                    if line.contains(" ERROR ") {
                        *counts.entry(between(line, "code=", " ").to_string()).or_default() += 1;
                    }
                }
                Ok(json!(counts))
            },
            tools: &["files/list_directory", "files/read_text_file"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def dir "/tmp/ptc-tokens/files/logs/")
(defn call [tool path] (:content (value (tool/call {:server "files" :tool tool :args {:path path}}))))
(->> (re-seq #"\S+\.log" (call "list_directory" dir))
     (pmap #(call "read_text_file" (str dir %)))
     (mapcat #(re-seq #"ERROR .*code=(\w+)" %))
     (map second)
     frequencies)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "files-slowest",
            question: "Which request took longest (ms=) in each log in /tmp/ptc-tokens/files/logs? Lines look like `… INFO checkout request=a1b2c3 ok ms=120`. Give a map from the service to the request.",
            servers: FILES,
            head: "maximum of 110 numbers, 8 times",
            direct: |model| {
                let listed =
                    model.one("files", "list_directory", json!({"path": "/tmp/ptc-tokens/files/logs"}))?.text;
                let texts =
                    model.one("files", "read_multiple_files", json!({"paths": paths(&listed, "logs")}))?.text;
                let mut slowest = BTreeMap::new();
                for (path, log) in parts(&texts) {
                    let ms = |line: &&str| between(line, " ms=", " ").parse::<u64>().unwrap_or(0);
                    let line = log.lines().max_by_key(ms).expect("a line");
                    slowest.insert(
                        between(&path, "logs/", ".log").to_string(),
                        between(line, "request=", " ").to_string(),
                    );
                }
                Ok(json!(slowest))
            },
            tools: &["files/list_directory", "files/read_text_file"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def dir "/tmp/ptc-tokens/files/logs/")
(defn call [tool path] (:content (value (tool/call {:server "files" :tool tool :args {:path path}}))))
(into {}
  (pmap (fn [file]
          (let [lines (re-seq #"request=(\w+) .*ms=(\d+)" (call "read_text_file" (str dir file)))]
            [(str/replace file ".log" "") (second (apply max-key #(parse-long (nth % 2)) lines))]))
        (re-seq #"\S+\.log" (call "list_directory" dir))))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "files-todos",
            question: "Who has how many TODO(login) comments in /tmp/ptc-tokens/files/src/*.py? Give a map from login to count.",
            servers: FILES,
            head: "counts about 30 comments",
            direct: |model| {
                let listed =
                    model.one("files", "list_directory", json!({"path": "/tmp/ptc-tokens/files/src"}))?.text;
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                let texts =
                    model.one("files", "read_multiple_files", json!({"paths": paths(&listed, "src")}))?.text;
                for comment in texts.split("TODO(").skip(1) {
                    *counts.entry(between(comment, "", ")").to_string()).or_default() += 1;
                }
                Ok(json!(counts))
            },
            tools: &["files/list_directory", "files/read_text_file"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def dir "/tmp/ptc-tokens/files/src/")
(defn call [tool path] (:content (value (tool/call {:server "files" :tool tool :args {:path path}}))))
(->> (re-seq #"\S+\.py" (call "list_directory" dir))
     (pmap #(call "read_text_file" (str dir %)))
     (mapcat #(re-seq #"TODO\((\w+)\)" %))
     (map second)
     frequencies)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "files-revenue",
            question: "The CSV files in /tmp/ptc-tokens/files/orders have the columns id,date,customer,country,product,quantity,unit_price. Write the revenue of each country over all files (quantity × unit_price, two decimals) to /tmp/ptc-tokens/files/revenue.json, as an object such as {\"DE\": 12.5} with sorted keys, and tell me the largest country.",
            servers: FILES,
            head: "420 products and 8 sums",
            direct: |model| {
                let listed = model
                    .one("files", "list_directory", json!({"path": "/tmp/ptc-tokens/files/orders"}))?
                    .text;
                let mut cents: BTreeMap<String, u64> = BTreeMap::new();
                for (_, file) in parts(
                    &model
                        .one("files", "read_multiple_files", json!({"paths": paths(&listed, "orders")}))?
                        .text,
                ) {
                    for line in file.trim().lines().skip(1) {
                        let cells: Vec<&str> = line.split(',').collect();
                        let price: u64 = cells[6].replace('.', "").parse().expect("a price");
                        *cents.entry(cells[3].to_string()).or_default() +=
                            cells[5].parse::<u64>().expect("a number") * price;
                    }
                }
                let revenue: BTreeMap<&String, f64> =
                    cents.iter().map(|(country, cents)| (country, *cents as f64 / 100.0)).collect();
                let content = json!(revenue).to_string();
                model.one(
                    "files",
                    "write_file",
                    json!({"path": "/tmp/ptc-tokens/files/revenue.json", "content": content}),
                )?;
                Ok(json!(cents.iter().max_by_key(|(_, cents)| **cents).expect("a country").0))
            },
            tools: &["files/list_directory", "files/read_text_file", "files/write_file"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def root "/tmp/ptc-tokens/files/")
(defn call [tool args] (:content (value (tool/call {:server "files" :tool tool :args args}))))
(def rows
  (->> (re-seq #"\S+\.csv" (call "list_directory" {:path (str root "orders")}))
       (pmap #(call "read_text_file" {:path (str root "orders/" %)}))
       (mapcat #(rest (split-lines %)))
       (map #(str/split % #","))))
(def revenue
  (into (sorted-map)
    (for [[country rows] (group-by #(nth % 3) rows)]
      [country (/ (round (* 100 (sum (map #(* (parse-long (nth % 5)) (parse-double (nth % 6))) rows)))) 100)])))
(call "write_file" {:path (str root "revenue.json") :content (json/generate-string revenue)})
(key (apply max-key val revenue))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "files-sizes",
            question: "How many files are in each of the folders orders, logs and decisions of /tmp/ptc-tokens/files?",
            servers: FILES,
            head: "counts 20 lines",
            direct: |model| {
                let folders = ["orders", "logs", "decisions"];
                let list = |name: &&str| {
                    call("files", "list_directory", json!({"path": format!("/tmp/ptc-tokens/files/{name}")}))
                };
                let answers = model.turn(folders.iter().map(list).collect())?;
                let counts = folders
                    .iter()
                    .zip(answers)
                    .map(|(name, answer)| (*name, answer.text.matches("[FILE]").count()));
                Ok(json!(counts.collect::<BTreeMap<_, _>>()))
            },
            tools: &["files/list_directory"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(into {}
  (for [name ["orders" "logs" "decisions"]]
    [name (count (re-seq #"\[FILE\]" (:content (value (tool/call {:server "files" :tool "list_directory" :args {:path (str "/tmp/ptc-tokens/files/" name)}})))))]))
"#],
            read_out: as_it_is,
        },
    ]
}

fn kafka(file: &str) -> Value {
    let sentence = between(file, "already know it, but ", "\n");
    assert!(sentence.starts_with("nobody is on call"), "{file}");
    "Kafka would have been the obvious choice for the events team, who already know it, but nobody is on call for it at night, and in the trial two people spent a week on partition rebalancing.".into()
}

/// Paths of the files that a listing names.
fn paths(listed: &str, folder: &str) -> Vec<String> {
    let names = listed.lines().filter_map(|line| line.strip_prefix("[FILE] "));
    names.map(|name| format!("/tmp/ptc-tokens/files/{folder}/{name}")).collect()
}

/// What `read_multiple_files` answers, taken apart.
fn parts(text: &str) -> Vec<(String, String)> {
    let part = |part: &str| {
        let (path, body) = part.trim_start().split_once(":\n").expect("a path");
        (path.to_string(), body.to_string())
    };
    text.split("\n---\n").filter(|text| !text.trim().is_empty()).map(part).collect()
}

/// The settings of all services, in two turns.
fn all_settings(model: &mut Direct) -> Result<Vec<(String, Value)>> {
    let listed =
        model.one("files", "list_directory", json!({"path": "/tmp/ptc-tokens/files/services"}))?.text;
    let mut paths = paths(&listed, "services");
    paths.retain(|path| !path.ends_with("production.json") && !path.ends_with("staging.json"));
    let files = parts(&model.one("files", "read_multiple_files", json!({"paths": paths}))?.text);
    Ok(files.into_iter().map(|(path, text)| (path, serde_json::from_str(&text).expect("JSON"))).collect())
}
