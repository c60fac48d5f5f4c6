//! Tasks over a git repository.

use super::task::{Task, as_it_is, between};
use crate::direct::{Direct, call};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Result;

const GIT: &[&str] = &["git"];
const REPO: &str = "/tmp/ptc-tokens/repo";

pub fn all() -> Vec<Task> {
    vec![
        Task {
            id: "git-last",
            question: "What is the subject of the last commit in /tmp/ptc-tokens/repo?",
            servers: GIT,
            head: "nothing",
            direct: |model| {
                let log = model.one("git", "git_log", json!({"repo_path": REPO, "max_count": 1}))?.text;
                Ok(between(&log, "Message: ", "\n").into())
            },
            tools: &["git/git_log"],
            programs: &[r#"
(:value (tool/call {:server "git" :tool "git_log" :args {:repo_path "/tmp/ptc-tokens/repo" :max_count 1}}))
"#],
            read_out: |value| between(super::text(&value), "Message: ", "\n").into(),
        },
        Task {
            id: "git-authors",
            question: "How many commits does each author have on the main branch of /tmp/ptc-tokens/repo? There are fewer than 100.",
            servers: GIT,
            head: "counts 70 lines",
            direct: |model| {
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for (author, _) in log(model, 100)? {
                    *counts.entry(author).or_default() += 1;
                }
                Ok(json!(counts))
            },
            tools: &["git/git_log"],
            programs: &[
                PROBE_LOG,
                r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(->> (value (tool/call {:server "git" :tool "git_log" :args {:repo_path "/tmp/ptc-tokens/repo" :max_count 100}}))
     (re-seq #"(?m)^Author: (.+)$")
     (map second)
     frequencies)
"#,
            ],
            read_out: as_it_is,
        },
        Task {
            id: "git-kinds",
            question: "Subjects of commits on the main branch of /tmp/ptc-tokens/repo look like `fix(billing): …`. Which kind (feat, fix, …) is most frequent for each service? There are fewer than 100 commits. Of equally frequent kinds take the first in the alphabet. Give a map from the service to the kind.",
            servers: GIT,
            head: "a table of 12 services by 5 kinds",
            direct: |model| {
                let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
                for (_, message) in log(model, 100)? {
                    let (kind, service) = (between(&message, "", "("), between(&message, "(", ")"));
                    *counts.entry(service.to_string()).or_default().entry(kind.to_string()).or_default() += 1;
                }
                let best = |kinds: BTreeMap<String, usize>| {
                    let most = kinds.values().copied().max().unwrap_or(0);
                    kinds.into_iter().find(|(_, count)| *count == most).expect("a kind").0
                };
                Ok(json!(
                    counts
                        .into_iter()
                        .map(|(service, kinds)| (service, best(kinds)))
                        .collect::<BTreeMap<_, _>>()
                ))
            },
            tools: &["git/git_log"],
            programs: &[
                PROBE_LOG,
                r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(->> (value (tool/call {:server "git" :tool "git_log" :args {:repo_path "/tmp/ptc-tokens/repo" :max_count 100}}))
     (re-seq #"(?m)^Message: (\w+)\((\w+)\)")
     (group-by #(nth % 2))
     (map (fn [[service rows]]
            [service (ffirst (sort-by (fn [[kind n]] [(- n) kind]) (frequencies (map second rows))))]))
     (into {}))
"#,
            ],
            read_out: as_it_is,
        },
        Task {
            id: "git-branch",
            question: "How many lines does the branch currencies of /tmp/ptc-tokens/repo add to and remove from each file, compared with main, which is checked out?",
            servers: GIT,
            head: "counts 45 lines of a diff, signs reversed",
            direct: |model| {
                // The server compares the branch with the files that are there, so signs are the other way round.
                let args = json!({"repo_path": REPO, "target": "currencies", "context_lines": 0});
                Ok(json!(diff(&model.one("git", "git_diff", args)?.text)))
            },
            tools: &["git/git_diff"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(def diff (value (tool/call {:server "git" :tool "git_diff" :args {:repo_path "/tmp/ptc-tokens/repo" :target "currencies" :context_lines 0}})))
(into {}
  (for [part (rest (str/split diff #"(?m)^diff --git "))]
    [(second (re-find #" b/(\S+)" part))
     {:added (count (re-seq #"(?m)^-[^-]" part)) :removed (count (re-seq #"(?m)^\+[^+]" part))}]))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "git-config-commits",
            question: "Which of the last 25 commits of /tmp/ptc-tokens/repo change a file called config.py? Give the first seven digits of their hashes, newest first.",
            servers: GIT,
            head: "looks for a name in 25 diffs",
            direct: |model| {
                let mut found = Vec::new();
                for (sha, show) in shows(model, 25)? {
                    if show.contains("/config.py") {
                        found.push(sha);
                    }
                }
                Ok(json!(found))
            },
            tools: &["git/git_log", "git/git_show"],
            programs: &[r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn git [tool args] (value (tool/call {:server "git" :tool tool :args (assoc args :repo_path "/tmp/ptc-tokens/repo")})))
(->> (re-seq #"[0-9a-f]{40}" (git "git_log" {:max_count 25}))
     (pmap (fn [sha] [(subs sha 0 7) (git "git_show" {:revision sha})]))
     (filter #(includes? (second %) "/config.py"))
     (map first))
"#],
            read_out: as_it_is,
        },
        Task {
            id: "git-churn",
            question: "How many lines did each author add in the last 20 commits of /tmp/ptc-tokens/repo?",
            servers: GIT,
            head: "counts 150 lines in 20 diffs",
            direct: |model| {
                let mut added: BTreeMap<String, usize> = BTreeMap::new();
                for (_, show) in shows(model, 20)? {
                    *added.entry(between(&show, "Author: ", " <").to_string()).or_default() +=
                        signed(&show, '+', "+++ ");
                }
                Ok(json!(added))
            },
            tools: &["git/git_log", "git/git_show"],
            programs: &[
                r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn git [tool args] (value (tool/call {:server "git" :tool tool :args (assoc args :repo_path "/tmp/ptc-tokens/repo")})))
(let [log (git "git_log" {:max_count 1})]
  [log (git "git_show" {:revision (re-find #"[0-9a-f]{40}" log)})])
"#,
                r#"
(defn value [r] (if (:ok r) (:value r) (fail (:message r))))
(defn git [tool args] (value (tool/call {:server "git" :tool tool :args (assoc args :repo_path "/tmp/ptc-tokens/repo")})))
(->> (re-seq #"[0-9a-f]{40}" (git "git_log" {:max_count 20}))
     (pmap (fn [sha]
             (let [show (git "git_show" {:revision sha})]
               {:author (second (re-find #"Author: (.+) <" show))
                :added (count (re-seq #"(?m)^\+[^+]" show))})))
     (group-by :author)
     (map (fn [[author rows]] [author (sum-by :added rows)]))
     (into {}))
"#,
            ],
            read_out: as_it_is,
        },
    ]
}

/// Nobody promises how a log looks, so a program sees two entries of it first.
const PROBE_LOG: &str = r#"
(:value (tool/call {:server "git" :tool "git_log" :args {:repo_path "/tmp/ptc-tokens/repo" :max_count 2}}))
"#;

/// Authors and messages, newest first.
fn log(model: &mut Direct, most: usize) -> Result<Vec<(String, String)>> {
    let log = model.one("git", "git_log", json!({"repo_path": REPO, "max_count": most}))?.text;
    let entries = log.split("Commit: ").skip(1);
    Ok(entries.map(|entry| (author(entry), between(entry, "Message: ", "\n").to_string())).collect())
}

/// The last commits, each as `git_show` has it.
fn shows(model: &mut Direct, most: usize) -> Result<Vec<(String, String)>> {
    let log = model.one("git", "git_log", json!({"repo_path": REPO, "max_count": most}))?.text;
    // Seven digits are enough, and shorter to write.
    let hashes: Vec<String> = log.split("Commit: ").skip(1).map(|entry| entry[..7].to_string()).collect();
    let show = |sha: &String| call("git", "git_show", json!({"repo_path": REPO, "revision": sha}));
    let answers = model.turn(hashes.iter().map(show).collect())?;
    Ok(hashes.iter().cloned().zip(answers.into_iter().map(|answer| answer.text)).collect())
}

fn author(entry: &str) -> String {
    between(entry, "Author: ", "\n").to_string()
}

/// Lines of a diff with this sign.
fn signed(part: &str, sign: char, head: &str) -> usize {
    part.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count()
}

/// Lines that the branch adds to each file and removes.
fn diff(text: &str) -> BTreeMap<String, BTreeMap<&'static str, usize>> {
    let mut files = BTreeMap::new();
    for part in text.split("diff --git ").skip(1) {
        let name = between(part, " b/", "\n").to_string();
        files.insert(
            name,
            BTreeMap::from([("added", signed(part, '-', "--- ")), ("removed", signed(part, '+', "+++ "))]),
        );
    }
    files
}
