//! Tasks over issues and pull requests.

use super::task::{Task, as_it_is, int, list, text};
use crate::direct::{Direct, call};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Result;

const FORGE: &[&str] = &["forge"];

pub fn all() -> Vec<Task> {
    vec![
        Task {
            id: "forge-issue",
            question: "Who is assigned to issue 17 of acme/shop?",
            servers: FORGE,
            head: "nothing",
            direct: |model| {
                Ok(
                    model.json(
                        "forge",
                        "getIssue",
                        json!({"owner": "acme", "repo": "shop", "number": 17}),
                    )?["assignee"]["login"]
                        .clone(),
                )
            },
            tools: &["forge/get-issue"],
            programs: &[r#"
(get-in (tool/call {:server "forge" :tool "get-issue" :args {:owner "acme" :repo "shop" :number 17}}) [:value :assignee :login])
"#],
            read_out: as_it_is,
        },
        Task {
            id: "forge-discussion",
            question: "What was the cause of issue 42 of acme/shop? Quote the sentence of the discussion that says it.",
            servers: FORGE,
            head: "reads prose",
            direct: |model| {
                Ok(cause(
                    &model
                        .one("forge", "listComments", json!({"owner": "acme", "repo": "shop", "number": 42}))?
                        .text,
                ))
            },
            tools: &["forge/list-comments"],
            programs: &[r#"
(map :body (:value (tool/call {:server "forge" :tool "list-comments" :args {:owner "acme" :repo "shop" :number 42}})))
"#],
            read_out: |value| cause(&value.to_string()),
        },
        Task {
            id: "forge-search",
            question: "How many open issues of acme with the label bug mention checkout?",
            servers: FORGE,
            head: "nothing",
            // The count is in every page, so a page of one is enough.
            direct: |model| {
                Ok(model.json(
                    "forge",
                    "searchIssues",
                    json!({"q": "checkout is:open label:bug", "per_page": 1}),
                )?["total_count"]
                    .clone())
            },
            tools: &["forge/search-issues"],
            programs: &[r#"
(:total_count (:value (tool/call {:server "forge" :tool "search-issues" :args {:q "checkout is:open label:bug" :per_page 1}})))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "forge-bugs",
            question: "How many open bugs (label bug) does each person have assigned in acme/shop? Give a map from login to count, with \"none\" for nobody.",
            servers: FORGE,
            head: "counts about 40 issues",
            direct: |model| {
                let args = json!({"owner": "acme", "repo": "shop", "labels": "bug", "per_page": 100});
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for issue in pages(model, "listIssues", args)? {
                    *counts
                        .entry(issue["assignee"]["login"].as_str().unwrap_or("none").to_string())
                        .or_default() += 1;
                }
                Ok(json!(counts))
            },
            tools: &["forge/list-issues"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn items [page] (assert (<= (:total_count page) 100)) (:items page))
(->> (items (value (tool/call {:server "forge" :tool "list-issues" :args {:owner "acme" :repo "shop" :labels "bug" :per_page 100}})))
     (map #(or (get-in % [:assignee :login]) "none"))
     frequencies)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "forge-closing-time",
            question: "How many days on average did it take to close the closed issues of acme/shop, for each of the labels bug, feature and chore? Round down the days of each issue (86400 seconds each), and the averages to one decimal.",
            servers: FORGE,
            head: "subtracts 105 pairs of dates, 3 averages",
            direct: |model| {
                let mut days: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
                for issue in pages(
                    model,
                    "listIssues",
                    json!({"owner": "acme", "repo": "shop", "state": "closed", "per_page": 100}),
                )? {
                    for label in ["bug", "feature", "chore"] {
                        if list(&issue["labels"]).iter().any(|one| one["name"] == label) {
                            let lasted =
                                minutes(text(&issue["closed_at"])) - minutes(text(&issue["created_at"]));
                            days.entry(label).or_default().push(lasted.div_euclid(1440));
                        }
                    }
                }
                let average = |all: &Vec<i64>| {
                    (10.0 * all.iter().sum::<i64>() as f64 / all.len() as f64 + 0.5).floor() / 10.0
                };
                Ok(json!(days.iter().map(|(label, all)| (*label, average(all))).collect::<BTreeMap<_, _>>()))
            },
            tools: &["forge/list-issues"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn page [n] (value (tool/call {:server "forge" :tool "list-issues" :args {:owner "acme" :repo "shop" :state "closed" :per_page 100 :page n}})))
(def issues
  (let [one (page 1)]
    (into (:items one) (mapcat #(:items (page %)) (range 2 (inc (ceil (/ (:total_count one) 100))))))))
(defn days [issue] (.toDays (Duration/between (Instant/parse (:created_at issue)) (Instant/parse (:closed_at issue)))))
(into {}
  (for [label ["bug" "feature" "chore"]
        :let [ours (filter #(some #{label} (map :name (:labels %))) issues)]]
    [label (/ (round (* 10 (avg (map days ours)))) 10)]))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "forge-merged",
            question: "How many pull requests of acme/shop did each author merge (merged_at is not null)?",
            servers: FORGE,
            head: "counts 60 pull requests",
            direct: |model| {
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for pull in pages(
                    model,
                    "listPulls",
                    json!({"owner": "acme", "repo": "shop", "state": "closed", "per_page": 100}),
                )? {
                    if !pull["merged_at"].is_null() {
                        *counts.entry(text(&pull["user"]["login"]).to_string()).or_default() += 1;
                    }
                }
                Ok(json!(counts))
            },
            tools: &["forge/list-pulls"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn items [page] (assert (<= (:total_count page) 100)) (:items page))
(->> (items (value (tool/call {:server "forge" :tool "list-pulls" :args {:owner "acme" :repo "shop" :state "closed" :per_page 100}})))
     (filter :merged_at)
     (map #(get-in % [:user :login]))
     frequencies)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "forge-touching",
            question: "Which open pull requests of acme/shop change a file called models.py? Give their numbers, smallest first.",
            servers: FORGE,
            head: "looks for a name in 12 lists",
            direct: |model| {
                let pulls =
                    pages(model, "listPulls", json!({"owner": "acme", "repo": "shop", "per_page": 100}))?;
                let files = |pull: &Value| {
                    call(
                        "forge",
                        "listPullFiles",
                        json!({"owner": "acme", "repo": "shop", "number": pull["number"]}),
                    )
                };
                let answers = model.jsons(pulls.iter().map(files).collect())?;
                let has = |files: &Value| {
                    list(files).iter().any(|file| text(&file["filename"]).ends_with("/models.py"))
                };
                let found = pulls
                    .iter()
                    .zip(&answers)
                    .filter(|(_, files)| has(files))
                    .map(|(pull, _)| int(&pull["number"]));
                Ok(json!(found.collect::<BTreeSet<_>>()))
            },
            tools: &["forge/list-pulls", "forge/list-pull-files"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn forge [tool args] (value (tool/call {:server "forge" :tool tool :args (merge {:owner "acme" :repo "shop"} args)})))
(defn items [page] (assert (<= (:total_count page) 100)) (:items page))
(->> (map :number (items (forge "list-pulls" {:per_page 100})))
     (pmap (fn [n] [n (map :filename (forge "list-pull-files" {:number n}))]))
     (filter (fn [[_ files]] (some #(ends-with? % "/models.py") files)))
     (map first)
     sort)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "forge-unreviewed",
            question: "Which open pull requests of acme/shop that are no drafts have no review with the state APPROVED? Give their numbers, smallest first.",
            servers: FORGE,
            head: "goes through 10 lists",
            direct: |model| {
                let mut pulls =
                    pages(model, "listPulls", json!({"owner": "acme", "repo": "shop", "per_page": 100}))?;
                pulls.retain(|pull| pull["draft"] == false);
                let reviews = |pull: &Value| {
                    call(
                        "forge",
                        "listReviews",
                        json!({"owner": "acme", "repo": "shop", "number": pull["number"]}),
                    )
                };
                let answers = model.jsons(pulls.iter().map(reviews).collect())?;
                let lacks =
                    |reviews: &Value| !list(reviews).iter().any(|review| review["state"] == "APPROVED");
                let found = pulls
                    .iter()
                    .zip(&answers)
                    .filter(|(_, reviews)| lacks(reviews))
                    .map(|(pull, _)| int(&pull["number"]));
                Ok(json!(found.collect::<BTreeSet<_>>()))
            },
            tools: &["forge/list-pulls", "forge/list-reviews"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn forge [tool args] (value (tool/call {:server "forge" :tool tool :args (merge {:owner "acme" :repo "shop"} args)})))
(defn items [page] (assert (<= (:total_count page) 100)) (:items page))
(->> (items (forge "list-pulls" {:per_page 100}))
     (remove :draft)
     (map :number)
     (pmap (fn [n] [n (map :state (forge "list-reviews" {:number n}))]))
     (remove (fn [[_ states]] (some #{"APPROVED"} states)))
     (map first)
     sort)
"#],
            read_out: as_it_is,
        },
        Task {
            id: "forge-missing",
            question: "Give the state of each of these issues of acme/shop, or \"missing\" where there is none: 3, 64, 99, 150, 178, 200, 512, 7777. Give a map from the number, as a string, to the state.",
            servers: FORGE,
            head: "nothing",
            direct: |model| {
                let numbers = [3, 64, 99, 150, 178, 200, 512, 7777];
                let get = |number: &i32| {
                    call("forge", "getIssue", json!({"owner": "acme", "repo": "shop", "number": number}))
                };
                let answers = model.turn(numbers.iter().map(get).collect())?;
                let state = |(number, answer): (&i32, crate::servers::Answer)| {
                    let state =
                        if answer.is_error { "missing".into() } else { answer.json()["state"].clone() };
                    (number.to_string(), state)
                };
                Ok(Value::Object(numbers.iter().zip(answers).map(state).collect()))
            },
            tools: &["forge/get-issue"],
            programs: &[r#"
(into {}
  (pmap (fn [n]
          (let [r (tool/call {:server "forge" :tool "get-issue" :args {:owner "acme" :repo "shop" :number n}})]
            [(str n) (if (:ok r) (:state (:value r)) "missing")]))
        [3 64 99 150 178 200 512 7777]))
"#],
            read_out: as_it_is,
        },
    ]
}

/// All items: the first page tells how many there are, the others come side by side.
fn pages(model: &mut Direct, tool: &'static str, args: Value) -> Result<Vec<Value>> {
    let first = model.json("forge", tool, args.clone())?;
    let mut items = list(&first["items"]).to_vec();
    let more = int(&first["total_count"]).div_euclid(100) + i64::from(int(&first["total_count"]) % 100 > 0);
    let page = |number: i64| {
        let mut args = args.clone();
        args["page"] = number.into();
        call("forge", tool, args)
    };
    if more > 1 {
        for page in model.jsons((2..=more).map(page).collect())? {
            items.extend(list(&page["items"]).iter().cloned());
        }
    }
    Ok(items)
}

fn cause(found: &str) -> Value {
    let sentence = "So the rate is applied twice, once in checkout and once in the retry.";
    assert!(found.contains(sentence), "{found}");
    sentence.into()
}

/// Minutes since 2031 began, of `2031-04-09T08:05:00Z`.
fn minutes(moment: &str) -> i64 {
    let at = |range: std::ops::Range<usize>| moment[range].parse::<i64>().expect("a moment");
    let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][at(5..7) as usize - 1];
    ((at(0..4) - 2031) * 365 + before + at(8..10)) * 1440 + at(11..13) * 60 + at(14..16)
}
