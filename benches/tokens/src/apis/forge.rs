//! A service like GitHub: repositories, issues, pull requests. Objects have the fields that people use, which is a
//! tenth of what GitHub sends.

use super::Request;
use crate::data::world::{PEOPLE, SERVICES, moment};
use crate::dice::Dice;
use serde_json::{Value, json};

pub const DOCUMENT: &str = include_str!("../../apis/forge.json");

pub struct Forge {
    repositories: Vec<Value>,
    issues: Vec<Value>,
    pulls: Vec<Value>,
    files: Vec<Vec<Value>>,
    reviews: Vec<Vec<Value>>,
    comments: Vec<Vec<Value>>,
}

/// Numbers of pull requests come after those of issues.
pub const FIRST_PULL: usize = 181;

impl Forge {
    pub fn new() -> Forge {
        let mut dice = Dice::new(800);
        let (issues, comments) = (1..FIRST_PULL).map(|n| issue(n, &mut dice)).unzip();
        let mut dice = Dice::new(801);
        let (mut pulls, mut files, mut reviews) = (vec![], vec![], vec![]);
        for n in FIRST_PULL..FIRST_PULL + 60 {
            let (pull, its_files, its_reviews) = self::pull(n, &mut dice);
            pulls.push(pull);
            files.push(its_files);
            reviews.push(its_reviews);
        }
        let repositories =
            ["shop", "search", "mobile-app", "infra", "docs", "old-shop", "design", "warehouse"];
        let mut dice = Dice::new(802);
        let repository = |(n, name): (usize, &&str)| {
            json!({"name": name, "full_name": format!("acme/{name}"), "description": format!("The {name} of the tea shop"),
                "language": dice.pick(&["Python", "Rust", "Swift", "HCL"]), "archived": *name == "old-shop",
                "open_issues_count": if n == 0 { 74 } else { dice.below(60) }, "stargazers_count": dice.below(900),
                "default_branch": "main", "pushed_at": moment(60 + dice.below(60), 600)})
        };
        Forge {
            repositories: repositories.iter().enumerate().map(repository).collect(),
            issues,
            pulls,
            files,
            reviews,
            comments,
        }
    }

    pub fn answer(&self, request: &Request) -> (u16, Value) {
        self.find(request).unwrap_or_else(|error| error)
    }

    fn find(&self, request: &Request) -> Result<(u16, Value), (u16, Value)> {
        let number = |text: &str| text.parse::<usize>().unwrap_or(0);
        let nth = |all: &[Value], n: usize| all.get(n.wrapping_sub(1)).cloned();
        let of_pull =
            |all: &[Vec<Value>], n: usize| all.get(n.wrapping_sub(FIRST_PULL)).cloned().map(Value::Array);
        let found = match &request.path[..] {
            ["orgs", "acme", "repos"] => Some(page(&self.repositories, request)?),
            ["repos", "acme", "shop", "issues"] => Some(self.issues(request)?),
            ["repos", "acme", "shop", "issues", n] => nth(&self.issues, number(n)),
            ["repos", "acme", "shop", "issues", n, "comments"] => {
                self.comments.get(number(n).wrapping_sub(1)).cloned().map(Value::Array)
            }
            ["repos", "acme", "shop", "pulls"] => Some(self.pulls(request)?),
            ["repos", "acme", "shop", "pulls", n] => {
                nth(&self.pulls, number(n).saturating_sub(FIRST_PULL - 1))
            }
            ["repos", "acme", "shop", "pulls", n, "files"] => of_pull(&self.files, number(n)),
            ["repos", "acme", "shop", "pulls", n, "reviews"] => of_pull(&self.reviews, number(n)),
            ["search", "issues"] => Some(self.search(request)?),
            ["repos", "acme", name] => {
                self.repositories.iter().find(|repository| repository["name"] == *name).cloned()
            }
            _ => None,
        };
        Ok(found.map_or((404, json!({"message": "Not Found"})), |body| (200, body)))
    }

    fn issues(&self, request: &Request) -> Result<Value, (u16, Value)> {
        let state = request.word("state", "open", &["open", "closed", "all"])?;
        let has_label = |issue: &Value, label: &str| {
            issue["labels"].as_array().is_some_and(|labels| labels.iter().any(|one| one["name"] == label))
        };
        let fits = |issue: &&Value| {
            (state == "all" || issue["state"] == *state)
                && request
                    .text("labels")
                    .is_none_or(|labels| labels.split(',').all(|label| has_label(issue, label)))
                && request.text("assignee").is_none_or(|login| match login {
                    "none" => issue["assignee"].is_null(),
                    login => issue["assignee"]["login"] == login,
                })
                && request.text("creator").is_none_or(|login| issue["user"]["login"] == login)
                && request.text("since").is_none_or(|since| issue["updated_at"].as_str() >= Some(since))
        };
        let mut found: Vec<Value> = self.issues.iter().filter(fits).cloned().collect();
        sort(&mut found, request)?;
        page(&found, request)
    }

    fn pulls(&self, request: &Request) -> Result<Value, (u16, Value)> {
        let state = request.word("state", "open", &["open", "closed", "all"])?;
        let fits = |pull: &&Value| state == "all" || pull["state"] == *state;
        let mut found: Vec<Value> = self.pulls.iter().filter(fits).cloned().collect();
        sort(&mut found, request)?;
        page(&found, request)
    }

    /// Words, and `is:open`, `is:closed`, `label:x`, `author:x`, `assignee:x`.
    fn search(&self, request: &Request) -> Result<Value, (u16, Value)> {
        let Some(query) = request.text("q") else { return Err((422, json!({"message": "`q` is missing"}))) };
        let fits = |issue: &&Value| {
            query.split_whitespace().all(|word| match word.split_once(':') {
                Some(("is", state)) => issue["state"] == state,
                Some(("author", login)) => issue["user"]["login"] == login,
                Some(("assignee", login)) => issue["assignee"]["login"] == login,
                Some(("label", label)) => issue["labels"]
                    .as_array()
                    .is_some_and(|labels| labels.iter().any(|one| one["name"] == label)),
                _ => {
                    let text = format!("{} {}", issue["title"], issue["body"]).to_lowercase();
                    text.contains(&word.to_lowercase())
                }
            })
        };
        let found: Vec<Value> = self.issues.iter().filter(fits).cloned().collect();
        page(&found, request)
    }
}

fn sort(found: &mut [Value], request: &Request) -> Result<(), (u16, Value)> {
    let key = match &*request.word("sort", "created", &["created", "updated", "comments"])? {
        "created" => "created_at",
        "updated" => "updated_at",
        _ => "comments",
    };
    let direction = request.word("direction", "desc", &["asc", "desc"])?;
    found.sort_by_key(|one| {
        (one[key].as_u64(), one[key].as_str().unwrap_or_default().to_string(), one["number"].as_u64())
    });
    if direction == "desc" {
        found.reverse();
    }
    Ok(())
}

fn page(all: &[Value], request: &Request) -> Result<Value, (u16, Value)> {
    let size = request.number("per_page", 30, 100)?;
    let page = request.number("page", 1, 1000)?;
    let items: Vec<&Value> = all.iter().skip((page - 1) * size).take(size).collect();
    Ok(json!({"total_count": all.len(), "items": items}))
}

const WORDS: &[&str] = &[
    "The page shows the old amount until it is loaded again.",
    "Happens about once in fifty tries, on slow connections more often.",
    "We have seen this since the release of last week.",
    "Support has a screenshot from a customer in Porto.",
    "Steps: fill the basket, change the country, go back.",
    "The log has nothing but a warning that the request was slow.",
    "It worked before the index was rebuilt.",
    "A restart helps for an hour or so.",
];

fn issue(n: usize, dice: &mut Dice) -> (Value, Vec<Value>) {
    let created = n / 2 + dice.below(3);
    let is_open = dice.chance(42);
    let closed = created + dice.between(1, 30);
    let (service, _) = dice.pick(SERVICES);
    let what = dice.pick(&[
        "fails for large baskets",
        "is slow on Mondays",
        "shows the wrong currency",
        "loses the session",
        "sends two mails",
        "ignores the discount",
        "needs a test",
        "should log less",
    ]);
    let mut labels = vec![*dice.pick(&["bug", "bug", "feature", "chore"])];
    if dice.chance(35) {
        labels.push(*dice.pick(&["urgent", "customer", "security", "good first issue"]));
    }
    let body: Vec<&str> = (0..dice.between(2, 4)).map(|_| *dice.pick(WORDS)).collect();
    let assignee = dice.chance(65).then(|| user(dice.pick(PEOPLE).0));
    let count = dice.below(5);
    let mut comments: Vec<Value> = (0..count)
        .map(|k| {
            json!({"id": n * 10 + k, "user": user(dice.pick(PEOPLE).0), "created_at": moment(created + 1 + k, dice.below(1440)),
                "body": *dice.pick(WORDS)})
        })
        .collect();
    if n == 42 {
        comments = discussion();
    }
    let mut issue = json!({
        "number": n, "title": format!("{service} {what}"), "state": if is_open { "open" } else { "closed" },
        "user": user(dice.pick(PEOPLE).0), "assignee": assignee,
        "labels": labels.iter().map(|label| json!({"name": label})).collect::<Vec<_>>(),
        "comments": comments.len(), "created_at": moment(created, dice.below(1440)),
        "updated_at": moment(closed.max(created + 5), 720),
        "closed_at": if is_open { Value::Null } else { moment(closed, dice.below(1440)).into() },
        "body": body.join(" "), "html_url": format!("https://forge.example/acme/shop/issues/{n}"),
    });
    if n == 42 {
        issue["title"] = "Orders from Brazil are charged twice".into();
        issue["state"] = "closed".into();
        issue["closed_at"] = moment(40, 600).into();
    }
    (issue, comments)
}

fn discussion() -> Vec<Value> {
    [
        ("tara", "Three customers from Recife were charged twice on Sunday. The second charge is always eleven seconds after the first."),
        ("chidi", "Eleven seconds is the bank's own timeout. My guess was our retry, but the retry has an idempotency key, and the keys of both charges are the same."),
        ("ada", "The bank ignores the key when the amount differs, and it differs: the second request has the amount after rounding to centavos. So the rate is applied twice, once in checkout and once in the retry."),
        ("chidi", "Confirmed in the trial system. Moving the conversion before the first attempt fixes it, then both requests are identical."),
        ("dana", "Then let us do that, and refund the three by hand today. Rosa writes to them. I would keep the alert on double charges for good."),
        ("ada", "Agreed. Closing when 1.14.2 is out."),
    ]
    .iter()
    .enumerate()
    .map(|(k, (login, body))| json!({"id": 4200 + k, "user": user(login), "created_at": moment(30 + k / 2, 540 + 40 * k), "body": body}))
    .collect()
}

fn user(login: &str) -> Value {
    json!({"login": login})
}

fn pull(n: usize, dice: &mut Dice) -> (Value, Vec<Value>, Vec<Value>) {
    let day = (n - FIRST_PULL) * 2;
    let (author, _, team, _) = dice.pick(PEOPLE);
    let own: Vec<&str> = SERVICES.iter().filter(|(_, owner)| owner == team).map(|(name, _)| *name).collect();
    let service = *dice.pick(&own);
    let created = moment(day, dice.below(1440));
    let (state, merged) = match dice.below(100) {
        0..=19 => ("open", None),
        20..=29 => ("closed", None),
        _ => ("closed", Some(moment(day + dice.below(9) + 1, dice.below(1440)))),
    };
    let mut files = Vec::new();
    for kind in ["handlers.py", "config.py", "models.py", "tests.py", "README.md"] {
        if files.is_empty() || dice.chance(40) {
            let (plus, minus) = (dice.between(1, 60), dice.below(30));
            let patch: Vec<String> =
                (0..plus.min(8)).map(|k| format!("+    value_{k} = compute({})", dice.below(1000))).collect();
            files.push(
                json!({"filename": format!("src/{service}/{kind}"), "status": "modified", "additions": plus,
                "deletions": minus, "patch": format!("@@ -1,{minus} +1,{plus} @@\n{}", patch.join("\n"))}),
            );
        }
    }
    let sum = |key: &str| files.iter().filter_map(|file| file[key].as_u64()).sum::<u64>();
    let reviews: Vec<Value> = (0..dice.below(4))
        .map(|k| {
            json!({"id": n * 10 + k, "user": user(dice.pick(PEOPLE).0), "submitted_at": moment(day + 1, 100 * k),
                "state": dice.pick(&["APPROVED", "APPROVED", "CHANGES_REQUESTED", "COMMENTED"]),
                "body": *dice.pick(&["Looks good.", "Please add a test.", "", "One question in the tests."])})
        })
        .collect();
    let label = *dice.pick(&["feature", "fix", "fix", "internal"]);
    let pull = json!({
        "number": n, "title": format!("{label}: {service} {}", dice.pick(&["handles retries", "uses the new client", "is faster", "checks amounts", "logs less"])),
        "state": state, "user": user(author), "labels": [{"name": label}], "created_at": created, "updated_at": merged.clone().unwrap_or(created.clone()),
        "merged_at": merged, "draft": state == "open" && dice.chance(30), "additions": sum("additions"), "deletions": sum("deletions"),
        "changed_files": files.len(), "body": format!("Closes #{}. {}", dice.between(1, 180), dice.pick(WORDS)),
        "html_url": format!("https://forge.example/acme/shop/pull/{n}"),
    });
    (pull, files, reviews)
}
