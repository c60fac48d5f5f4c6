//! Plans in issues, against a fake GitHub server.

use crate::server::{Server, TOKEN, Trouble};
use ptc_agent::plan::{Execution, GitHub, Plan, PlanErrorKind, PlanStep, PlanStore, StepState};
use std::time::Duration;

const BODY: &str = "For the board.\r\n\r\n- [ ] Load the orders\r\n- [ ] Sum them\r\n\r\nThanks!";

fn github(server: &Server) -> GitHub {
    let waits = (Duration::ZERO, Duration::from_secs(5));
    GitHub::new()
        .and_then(|github| github.base_url(&server.url))
        .expect("a client")
        .token(TOKEN)
        .waits(waits.0, waits.1)
}

async fn load(server: &Server) -> Plan {
    Plan::from_github_issue(&github(server), "owner/repo", 275).await.expect("a plan")
}

fn done() -> Execution {
    Execution::new("2031-04-02T08:00:01Z", "ok").step("1", "44 rows")
}

#[tokio::test]
async fn s001_a_plan_is_read_from_an_issue_and_written_back() {
    let server = Server::start(BODY);
    let mut plan = load(&server).await;
    assert_eq!((plan.title.as_str(), plan.goal.as_deref()), ("Report", Some("For the board.")));
    assert_eq!(plan.items().len(), 2);
    plan.record(done());
    plan.sync_to_github(&github(&server)).await.expect("synced");
    let body = server.body();
    assert!(body.starts_with("For the board.\r\n\r\n- [x] Load the orders <!-- ptc"), "{body}");
    assert!(body.contains("\r\n\r\nThanks!") && body.contains("`1`: `44 rows`"), "{body}");
    assert_eq!(server.methods(), "GET GET PATCH");
    let asked = &server.asked()[2];
    assert_eq!(asked.path, "/api/v3/repos/owner/repo/issues/275");
    assert_eq!(
        asked.body.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["body"],
        "only the text is written"
    );
    for header in
        ["accept: application/vnd.github+json", "x-github-api-version: 2022-11-28", "user-agent: ptc-agent"]
    {
        assert!(asked.head.contains(header), "{}", asked.head);
    }
    // Without news, nothing is written; and another process reads the same plan.
    plan.sync_to_github(&github(&server)).await.expect("synced");
    assert_eq!(server.methods(), "GET GET PATCH GET");
    assert_eq!(load(&server).await, plan);
}

#[tokio::test]
async fn people_may_edit_at_any_time() {
    let server = Server::start(BODY);
    let mut plan = load(&server).await;
    plan.record(done());
    // Edits after loading; between reading and writing; and on a server that ignores tags.
    server.edit("- [ ] Sum them", "- [x] Sum them");
    server.trouble([Trouble::Nothing, Trouble::Edit("Thanks!", "- [ ] Print\r\n\r\nThanks a lot!")]);
    plan.sync_to_github(&github(&server)).await.expect("synced");
    assert_eq!(server.methods(), "GET GET PATCH GET PATCH");
    let body = server.body();
    assert!(
        body.contains("- [x] Load") && body.contains("- [x] Sum") && body.contains("Thanks a lot!"),
        "{body}"
    );
    let states: Vec<StepState> = plan.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [StepState::Done, StepState::Done, StepState::Pending]);
    server.state.lock().unwrap().is_strict = false;
    server.edit("- [x] Sum", "- [ ] Sum");
    plan.sync_to_github(&github(&server)).await.expect("synced");
    assert_eq!(plan.step("2").unwrap().state, StepState::Pending);
}

#[tokio::test]
async fn an_issue_that_never_rests_is_a_conflict() {
    let server = Server::start(BODY);
    let mut plan = load(&server).await;
    plan.record(done());
    let before = plan.clone();
    for (from, to) in [("Thanks!", "a"), ("\r\na", "\r\nb"), ("\r\nb", "\r\nc"), ("\r\nc", "\r\nd")] {
        server.trouble([Trouble::Nothing, Trouble::Edit(from, to)]);
    }
    let error = plan.sync_to_github(&github(&server)).await.unwrap_err();
    assert_eq!(error.kind, PlanErrorKind::Conflict);
    assert_eq!(plan, before, "the plan is as it was, to be tried again");
    plan.sync_to_github(&github(&server)).await.expect("synced");
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let server = Server::start(BODY);
    let kind = async |github: GitHub, repo: &str, number| {
        let error = Plan::from_github_issue(&github, repo, number).await.unwrap_err();
        assert!(!error.message.contains("ghp_"), "{error}");
        (error.kind, error.message)
    };
    let (found, message) = kind(github(&server).token("ghp_wrong"), "owner/repo", 275).await;
    assert_eq!(
        (found, message.as_str()),
        (PlanErrorKind::Unauthorized, "GitHub rejected the token: Bad credentials")
    );
    let (found, message) = kind(github(&server), "owner/repo", 276).await;
    assert_eq!(found, PlanErrorKind::NotFound);
    assert_eq!(message, "there is no issue 276 of `owner/repo`, or the token has no access to it");
    assert_eq!(server.asked().len(), 2, "neither is tried again");
    let rows = [
        (
            Trouble::Status(403, &[], r#"{"message": "Resource not accessible, ghp_0123456789"}"#),
            PlanErrorKind::Forbidden,
        ),
        (Trouble::Status(410, &[], "{}"), PlanErrorKind::NotFound),
        (Trouble::Status(301, &[("location", "http://127.0.0.1:1/x")], "{}"), PlanErrorKind::NotFound),
        (Trouble::Status(422, &[], r#"{"message": "Validation Failed"}"#), PlanErrorKind::Invalid),
        (Trouble::Status(400, &[], "not JSON"), PlanErrorKind::Invalid),
        (Trouble::Endless, PlanErrorKind::TooLarge),
    ];
    for (trouble, wanted) in rows {
        server.trouble([trouble]);
        let (found, message) = kind(github(&server), "owner/repo", 275).await;
        assert_eq!(found, wanted, "{message}");
    }
    assert_eq!(server.asked().len(), 2 + 6);
}

#[tokio::test]
async fn a_limit_on_requests_is_waited_for_or_told() {
    let server = Server::start(BODY);
    let limit = || Trouble::Status(403, &[("retry-after", "0")], r#"{"message": "API rate limit exceeded"}"#);
    server.trouble([limit(), Trouble::Status(429, &[("retry-after", "0")], "{}")]);
    load(&server).await;
    assert_eq!(server.methods(), "GET GET GET");
    // Longer than the maximum wait.
    let hour = Trouble::Status(
        403,
        &[("retry-after", "3600")],
        r#"{"message": "You have exceeded a secondary rate limit"}"#,
    );
    server.trouble([hour]);
    let error = Plan::from_github_issue(&github(&server), "owner/repo", 275).await.unwrap_err();
    assert_eq!(
        (error.kind, error.retry_after),
        (PlanErrorKind::RateLimited, Some(Duration::from_secs(3600)))
    );
    assert!(error.message.contains("secondary rate limit"), "{error}");
    // The other form of the limit: none left until an instant, first one in the past, then one far away.
    server.trouble([Trouble::Status(
        403,
        &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1000")],
        "{}",
    )]);
    load(&server).await;
    server.trouble([Trouble::Status(
        403,
        &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "99999999999")],
        "{}",
    )]);
    let error = Plan::from_github_issue(&github(&server), "owner/repo", 275).await.unwrap_err();
    assert_eq!(error.kind, PlanErrorKind::RateLimited);
    assert!(error.retry_after.is_some_and(|after| after > Duration::from_secs(1000)));
    // Every attempt fails.
    server.trouble((0..4).map(|_| limit()));
    let error = Plan::from_github_issue(&github(&server), "owner/repo", 275).await.unwrap_err();
    assert_eq!(error.kind, PlanErrorKind::RateLimited);
}

#[tokio::test]
async fn a_server_that_fails_is_asked_again() {
    let server = Server::start(BODY);
    let broken = || Trouble::Status(502, &[], "<html>Bad gateway</html>");
    server.trouble([broken(), Trouble::HangUp, Trouble::Status(200, &[], "no JSON")]);
    let mut plan = load(&server).await;
    assert_eq!(server.asked().len(), 4);
    // A failed write is retried from reading: it may have happened, and people may have edited.
    plan.record(done());
    server.trouble([Trouble::Nothing, broken()]);
    plan.sync_to_github(&github(&server)).await.expect("synced");
    assert_eq!(server.methods(), "GET GET GET GET GET PATCH GET PATCH");
    assert_eq!(server.body().matches("44 rows").count(), 2, "once in the list, once in its data");
    server.trouble((0..4).map(|_| broken()));
    let error = Plan::from_github_issue(&github(&server), "owner/repo", 275).await.unwrap_err();
    assert_eq!(error.kind, PlanErrorKind::Server);
    assert!(error.message.contains("502"), "{error}");
    let nobody = GitHub::new().and_then(|github| github.base_url("http://127.0.0.1:1")).expect("a client");
    let nobody = nobody.attempts(1);
    let error = Plan::from_github_issue(&nobody, "owner/repo", 275).await.unwrap_err();
    assert_eq!(error.kind, PlanErrorKind::Network);
}

#[tokio::test]
async fn an_issue_without_a_plan_says_so() {
    let server = Server::start("Just words");
    let error = Plan::from_github_issue(&github(&server), "owner/repo", 275).await.unwrap_err();
    assert_eq!(error.kind, PlanErrorKind::Invalid);
    assert!(error.message.starts_with("issue 275 of `owner/repo`: the text has no checklist"), "{error}");
    server.state.lock().unwrap().body = None;
    assert!(Plan::from_github_issue(&github(&server), "owner/repo", 275).await.is_err());
    let error = Plan::new("a", [PlanStep::new("1", "x")]).sync_to_github(&github(&server)).await.unwrap_err();
    assert!(error.message.contains("does not come from an issue"), "{error}");
}

#[tokio::test]
async fn a_repository_keeps_plans_by_number() {
    let server = Server::start("Some words");
    let store = github(&server).plans("owner/repo").expect("a store");
    let plans: &dyn PlanStore = &store;
    // A plan from elsewhere is added to the issue's text.
    let mut plan = Plan::new("Mine", [PlanStep::new("load", "Load").tool("get_orders")]);
    plans.save("275", &mut plan).await.expect("saved");
    assert_eq!(
        server.body(),
        "Some words\n\n- [ ] Load <!-- ptc {\"id\":\"load\",\"tools\":[\"get_orders\"]} -->\n"
    );
    let loaded = plans.load("#275").await.expect("loaded");
    assert_eq!((loaded.title.as_str(), &loaded.steps), ("Report", &plan.steps));
    assert_eq!(loaded.issue, plan.issue);
    let before = plan.clone();
    assert_eq!(plans.save("9", &mut plan).await.unwrap_err().kind, PlanErrorKind::NotFound);
    assert_eq!(plan, before);
    assert_eq!(plans.load("x").await.unwrap_err().kind, PlanErrorKind::Invalid);
}

#[test]
fn names_and_addresses_are_checked() {
    let github = GitHub::new().expect("a client");
    for repo in ["", "owner", "owner/", "/repo", "a/b/c", "../..", "a/..", "a b/c", "a/b?x", "a/b#1", "ä/b"]
    {
        assert_eq!(github.plans(repo).unwrap_err().kind, PlanErrorKind::Invalid, "{repo}");
    }
    assert!(github.plans("rust-lang/rust.vim").is_ok());
    for url in [
        "http://github.example.com/api/v3",
        "ftp://x",
        "github.com",
        "https://user:pass@x/",
        "https://x/?a=b",
    ] {
        let error = github.clone().base_url(url).unwrap_err();
        assert!(error.kind == PlanErrorKind::Invalid && !error.message.contains("pass@"), "{error}");
    }
    assert!(github.clone().base_url("http://localhost:3000/api/v3/").is_ok());
}
