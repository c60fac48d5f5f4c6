//! Tasks that need several servers.

use super::sqlite;
use super::task::{Task, as_it_is, between, int, list, text};
use crate::direct::call;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub fn all() -> Vec<Task> {
    vec![
        Task {
            id: "both-bank",
            question: "The bank says in /tmp/ptc-tokens/files/invoices-from-bank.csv (reference,amount,received; references look like INV-0012) which invoices were paid. Which rows of the table invoices (id, amount_cents, status) have the status 'paid', but are missing in the file or have a different amount there? Give their ids, sorted.",
            servers: &["files", "sqlite"],
            head: "compares two lists of 125 rows",
            direct: |model| {
                let file = call(
                    "files",
                    "read_text_file",
                    json!({"path": "/tmp/ptc-tokens/files/invoices-from-bank.csv"}),
                );
                let query = "SELECT id, amount_cents FROM invoices WHERE status = 'paid'";
                let answers =
                    model.turn(vec![file, call("sqlite", "read_query", json!({"query": query}))])?;
                let mut paid: BTreeMap<i64, i64> = BTreeMap::new();
                for line in answers[0].text.trim().lines().skip(1) {
                    let cells: Vec<&str> = line.split(',').collect();
                    let id = cells[0].trim_start_matches("INV-").parse().expect("a number");
                    paid.insert(id, cells[1].replace('.', "").parse().expect("an amount"));
                }
                let rows = sqlite::rows(&answers[1].text);
                let wrong =
                    rows.iter().filter(|row| paid.get(&int(&row["id"])) != Some(&int(&row["amount_cents"])));
                Ok(json!(wrong.map(|row| int(&row["id"])).collect::<BTreeSet<_>>()))
            },
            tools: &["files/read_text_file", "sqlite/read_query"],
            programs: &[
                r#"
[(:content (:value (tool/call {:server "files" :tool "read_text_file" :args {:path "/tmp/ptc-tokens/files/invoices-from-bank.csv" :head 3}})))
 (:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT id, amount_cents FROM invoices WHERE status = 'paid' LIMIT 2"}}))]
"#,
                r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def file (:content (value (tool/call {:server "files" :tool "read_text_file" :args {:path "/tmp/ptc-tokens/files/invoices-from-bank.csv"}}))))
(def paid
  (into {} (for [[_ id euros cents] (re-seq #"INV-(\d+),(\d+)\.(\d\d)" file)]
    [(parse-long id) (parse-long (str euros cents))])))
(def rows (value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT id, amount_cents FROM invoices WHERE status = 'paid'"}})))
(sort (for [[_ id cents] (re-seq #"'id': (\d+), 'amount_cents': (\d+)" rows)
            :when (not= (paid (parse-long id)) (parse-long cents))]
  (parse-long id)))
"#,
            ],
            read_out: as_it_is,
        },
        Task {
            id: "both-references",
            question: "Messages of commits in /tmp/ptc-tokens/repo say `Refs #12` for issues of acme/shop on the forge. Which issues that the last 30 commits refer to are still open? Give the numbers, sorted.",
            servers: &["git", "forge"],
            head: "nothing",
            direct: |model| {
                let log = model
                    .one("git", "git_log", json!({"repo_path": "/tmp/ptc-tokens/repo", "max_count": 30}))?
                    .text;
                let numbers: BTreeSet<i64> = log
                    .split("Refs #")
                    .skip(1)
                    .map(|rest| between(rest, "", "\n").parse().expect("a number"))
                    .collect();
                let get = |number: &i64| {
                    call("forge", "getIssue", json!({"owner": "acme", "repo": "shop", "number": number}))
                };
                let issues = model.jsons(numbers.iter().map(get).collect())?;
                Ok(issues
                    .iter()
                    .filter(|issue| issue["state"] == "open")
                    .map(|issue| issue["number"].clone())
                    .collect())
            },
            tools: &["git/git_log", "forge/get-issue"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def log (value (tool/call {:server "git" :tool "git_log" :args {:repo_path "/tmp/ptc-tokens/repo" :max_count 30}})))
(->> (re-seq #"Refs #(\d+)" log)
     (map #(parse-long (second %)))
     distinct
     (pmap #(value (tool/call {:server "forge" :tool "get-issue" :args {:owner "acme" :repo "shop" :number %}})))
     (filter #(= "open" (:state %)))
     (map :number)
     sort)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "both-teams",
            question: "How many open issues of acme/shop on the forge does each team have? Teams are in the knowledge graph: people have an observation \"Login: x\" and a relation \"is member of\" to their team. Leave out issues without assignee.",
            servers: &["memory", "forge"],
            head: "adds 20 counts by team",
            direct: |model| {
                // Issues of one person are counted by the service, and a page of one issue is enough to see the count.
                let graph = model.json("memory", "search_nodes", json!({"query": "Login:"}))?;
                let login = |person: &Value| {
                    let known = list(&person["observations"])
                        .iter()
                        .find_map(|known| text(known).strip_prefix("Login: "));
                    (text(&person["name"]).to_string(), known.unwrap_or_default().to_string())
                };
                let logins: BTreeMap<String, String> = list(&graph["entities"]).iter().map(login).collect();
                let issues = |login: &String| {
                    call(
                        "forge",
                        "listIssues",
                        json!({"owner": "acme", "repo": "shop", "assignee": login, "per_page": 1}),
                    )
                };
                let answers = model.jsons(logins.values().map(issues).collect())?;
                let open: BTreeMap<&String, i64> =
                    logins.keys().zip(answers.iter().map(|page| int(&page["total_count"]))).collect();
                let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
                for relation in
                    list(&graph["relations"]).iter().filter(|one| one["relationType"] == "is member of")
                {
                    *counts.entry(text(&relation["to"])).or_default() +=
                        open[&text(&relation["from"]).to_string()];
                }
                Ok(json!(counts))
            },
            tools: &["memory/search_nodes", "forge/list-issues"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn call [server tool args] (value (tool/call {:server server :tool tool :args args})))
(def graph (call "memory" "search_nodes" {:query "Login:"}))
(def team (into {} (for [r (:relations graph) :when (= "is member of" (:relationType r))] [(:from r) (:to r)])))
(def team-of-login
  (into {} (for [e (:entities graph) o (:observations e) :when (starts-with? o "Login: ")] [(subs o 7) (team (:name e))])))
(defn issues [n]
  (let [{:keys [items total_count]} (call "forge" "list-issues" {:owner "acme" :repo "shop" :per_page 100 :page n})]
    (if (> total_count (* 100 n)) (into items (issues (inc n))) items)))
(->> (issues 1)
     (keep #(get-in % [:assignee :login]))
     (map team-of-login)
     frequencies)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "both-owners",
            question: "Settings of services are in /tmp/ptc-tokens/files/services/*.json and say the owner (a team). In the knowledge graph, \"Team x\" owns services and services have an observation \"Runs on port n\". For which services does the port in the file differ from the graph? Sort the names. production.json and staging.json are not services.",
            servers: &["files", "memory"],
            head: "compares 20 pairs",
            direct: |model| {
                let folder = "/tmp/ptc-tokens/files/services";
                let first = vec![
                    call("files", "list_directory", json!({"path": folder})),
                    call("memory", "search_nodes", json!({"query": "Runs on port"})),
                ];
                let answers = model.turn(first)?;
                let names = answers[0].text.lines().filter_map(|line| line.strip_prefix("[FILE] "));
                let paths: Vec<String> = names
                    .filter(|name| !matches!(*name, "production.json" | "staging.json"))
                    .map(|name| format!("{folder}/{name}"))
                    .collect();
                let files = model.one("files", "read_multiple_files", json!({"paths": paths}))?.text;
                let mut wrong = BTreeSet::new();
                for entity in list(&answers[1].json()["entities"]) {
                    let port = list(&entity["observations"])
                        .iter()
                        .find_map(|known| text(known).strip_prefix("Runs on port "))
                        .expect("a port");
                    let name = text(&entity["name"]);
                    let settings = between(&files, &format!("/services/{name}.json:"), "---");
                    if between(settings, "\"port\": ", ",") != port {
                        wrong.insert(name.to_string());
                    }
                }
                Ok(json!(wrong))
            },
            tools: &["files/list_directory", "files/read_text_file", "memory/search_nodes"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def dir "/tmp/ptc-tokens/files/services/")
(defn call [server tool args] (value (tool/call {:server server :tool tool :args args})))
(def ports
  (into {} (for [e (:entities (call "memory" "search_nodes" {:query "Runs on port"}))]
    [(:name e) (some #(second (re-find #"Runs on port (\d+)" %)) (:observations e))])))
(->> (re-seq #"[\w-]+\.json" (:content (call "files" "list_directory" {:path dir})))
     (pmap #(json/parse-string (:content (call "files" "read_text_file" {:path (str dir %)}))))
     (filter #(and (:name %) (not= (str (:port %)) (ports (:name %)))))
     (map :name)
     sort)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "both-lunch",
            question: "It is 12:30 in Etc/UTC. What time (HH:MM) is it for each member of Team mobile? Members (\"is member of\") and their \"Time zone: x\" observations are in the knowledge graph. Give a map from the name to the time.",
            servers: &["memory", "time"],
            head: "nothing",
            direct: |model| {
                // A search for "Time zone:" would save a turn, but all people are more than three times as long.
                let team = model.json("memory", "open_nodes", json!({"names": ["Team mobile"]}))?;
                let is_member =
                    |one: &&Value| one["relationType"] == "is member of" && one["to"] == "Team mobile";
                let names: Vec<&str> =
                    list(&team["relations"]).iter().filter(is_member).map(|one| text(&one["from"])).collect();
                let graph = model.json("memory", "open_nodes", json!({"names": names}))?;
                let zone = |name: &&str| {
                    let person =
                        list(&graph["entities"]).iter().find(|one| one["name"] == **name).expect("a person");
                    list(&person["observations"])
                        .iter()
                        .find_map(|known| text(known).strip_prefix("Time zone: "))
                        .expect("a zone")
                };
                let convert = |name: &&str| {
                    call(
                        "time",
                        "convert_time",
                        json!({"source_timezone": "Etc/UTC", "time": "12:30", "target_timezone": zone(name)}),
                    )
                };
                let told = model.jsons(names.iter().map(convert).collect())?;
                let time = |at: &Value| between(text(&at["target"]["datetime"]), "T", "x")[..5].to_string();
                Ok(json!(
                    names.iter().zip(&told).map(|(name, at)| (*name, time(at))).collect::<BTreeMap<_, _>>()
                ))
            },
            tools: &["memory/open_nodes", "time/convert_time"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn call [server tool args] (value (tool/call {:server server :tool tool :args args})))
(defn open [names] (call "memory" "open_nodes" {:names names}))
(def members (map :from (filter #(= "is member of" (:relationType %)) (:relations (open ["Team mobile"])))))
(into {}
  (for [e (:entities (open members))
        :let [zone (some #(second (re-find #"Time zone: (.+)" %)) (:observations e))]]
    [(:name e) (subs (get-in (call "time" "convert_time" {:source_timezone "Etc/UTC" :time "12:30" :target_timezone zone}) [:target :datetime]) 11 16)]))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "both-customers",
            question: "The shop's customers have ids such as C007; the table customers has the same as code, with name and country. For which customers does the country differ? Give the ids, sorted.",
            servers: &["shop", "sqlite"],
            head: "compares 40 pairs",
            direct: |model| {
                let customers = call("shop", "listCustomers", json!({"limit": 100, "fields": "id,country"}));
                let query = "SELECT code, country FROM customers";
                let answers =
                    model.turn(vec![customers, call("sqlite", "read_query", json!({"query": query}))])?;
                let rows = sqlite::rows(&answers[1].text);
                let known: BTreeMap<&str, &str> =
                    rows.iter().map(|row| (text(&row["code"]), text(&row["country"]))).collect();
                let page = answers[0].json();
                let differs = |one: &&Value| known.get(text(&one["id"])) != Some(&text(&one["country"]));
                Ok(json!(
                    list(&page["data"])
                        .iter()
                        .filter(differs)
                        .map(|one| text(&one["id"]))
                        .collect::<BTreeSet<_>>()
                ))
            },
            tools: &["shop/list-customers", "sqlite/read_query"],
            programs: &[
                r#"
(:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT code, country FROM customers LIMIT 2"}}))
"#,
                r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def rows (value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT code, country FROM customers"}})))
(def country (into {} (map (comp vec rest) (re-seq #"'code': '(\w+)', 'country': '(\w+)'" rows))))
(->> (:data (value (tool/call {:server "shop" :tool "list-customers" :args {:limit 100 :fields "id,country"}})))
     (filter #(not= (:country %) (country (:id %))))
     (map :id)
     sort)
"#,
            ],
            read_out: as_it_is,
        },
        Task {
            id: "both-margin",
            question: "Products of the shop have an id, a price_cents and an sku such as sencha-tin; the table supplies (product_id, price_cents) has what a supplier takes for 100 g, and products (id, name) has the tea, for example sencha. Which tins (sku ends with -tin) have a price below 1.6 times the supply price of their tea? Give the skus, sorted.",
            servers: &["shop", "sqlite"],
            head: "16 products and comparisons",
            direct: |model| {
                let products = call(
                    "shop",
                    "listProducts",
                    json!({"q": "tin", "limit": 100, "fields": "sku,price_cents"}),
                );
                let query =
                    "SELECT p.name, s.price_cents FROM supplies s JOIN products p ON p.id = s.product_id";
                let answers =
                    model.turn(vec![products, call("sqlite", "read_query", json!({"query": query}))])?;
                let rows = sqlite::rows(&answers[1].text);
                let supply: BTreeMap<&str, i64> =
                    rows.iter().map(|row| (text(&row["name"]), int(&row["price_cents"]))).collect();
                let page = answers[0].json();
                let is_low = |one: &&Value| {
                    text(&one["sku"])
                        .strip_suffix("-tin")
                        .is_some_and(|tea| 10 * int(&one["price_cents"]) < 16 * supply[tea])
                };
                Ok(json!(
                    list(&page["data"])
                        .iter()
                        .filter(is_low)
                        .map(|one| text(&one["sku"]))
                        .collect::<BTreeSet<_>>()
                ))
            },
            tools: &["shop/list-products", "sqlite/read_query"],
            programs: &[
                r#"
(:value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT p.name, s.price_cents FROM supplies s JOIN products p ON p.id = s.product_id LIMIT 2"}}))
"#,
                r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def rows (value (tool/call {:server "sqlite" :tool "read_query" :args {:query "SELECT p.name, s.price_cents FROM supplies s JOIN products p ON p.id = s.product_id"}})))
(def supply (into {} (for [[_ tea cents] (re-seq #"'name': '(\w+)', 'price_cents': (\d+)" rows)] [tea (parse-long cents)])))
(->> (:data (value (tool/call {:server "shop" :tool "list-products" :args {:q "tin" :limit 100 :fields "sku,price_cents"}})))
     (filter (fn [{:keys [sku price_cents]}]
               (and (ends-with? sku "-tin") (< price_cents (* 1.6 (supply (str/replace sku "-tin" "")))))))
     (map :sku)
     sort)
"#,
            ],
            read_out: as_it_is,
        },
    ]
}
