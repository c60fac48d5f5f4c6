//! Plans in issues on GitHub, or on servers with its REST API.
//!
//! The API has no conditional write: so an issue is read, merged and written in one go, and everything is repeated if
//! the server notices a change in between or fails.

use super::{IssueLink, Plan, PlanError, PlanErrorKind, PlanFuture, PlanStore, checklist};
use ptc_web::{BodyError, Secret};
use reqwest::header::{ACCEPT, AUTHORIZATION, ETAG, HeaderMap, HeaderValue, IF_MATCH, USER_AGENT};
use reqwest::{Client, Method, StatusCode, Url};
use serde::Deserialize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum bytes of a reply of the server. The text of an issue has at most 64 K characters.
const MAX_ANSWER: usize = 2 << 20;
/// Maximum bytes read of an error.
const MAX_ERROR: usize = 64 << 10;
/// Time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Client of GitHub. Methods with the name of a setting set it.
///
/// ```
/// use ptc_web::Secret;
/// use ptc_agent::plan::GitHub;
/// let github = GitHub::new()?.token(Secret::from("ghp_secret"));
/// assert!(!format!("{github:?}").contains("ghp_secret"));
/// // A server of one's own:
/// let github = github.base_url("https://github.example.com/api/v3")?;
/// # Ok::<(), ptc_agent::plan::PlanError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GitHub {
    client: Client,
    base: Url,
    token: Option<Secret>,
    attempts: u32,
    first_wait: Duration,
    max_wait: Duration,
}

/// Store of plans in the issues of one repository, named by issue number.
#[derive(Clone, Debug)]
pub struct GitHubPlans {
    github: GitHub,
    repo: String,
}

/// Part of an issue that is read.
#[derive(Deserialize)]
struct Issue {
    title: String,
    body: Option<String>,
}

impl GitHub {
    /// Returns a client of github.com without a token, which can read public issues.
    pub fn new() -> Result<GitHub, PlanError> {
        let base = address("https://api.github.com")?;
        let (first_wait, max_wait) = (Duration::from_secs(1), Duration::from_secs(60));
        let client = ptc_web::client(&base).map_err(unreachable)?;
        Ok(GitHub { client, base, token: None, attempts: 4, first_wait, max_wait })
    }

    /// Sets the address of the API. Plain HTTP is only allowed to the same machine, since the token is sent along.
    pub fn base_url(mut self, url: &str) -> Result<GitHub, PlanError> {
        self.base = address(url)?;
        self.client = ptc_web::client(&self.base).map_err(unreachable)?;
        Ok(self)
    }

    /// Sets the token, which must be allowed to read and write issues.
    #[must_use]
    pub fn token(mut self, token: impl Into<Secret>) -> GitHub {
        self.token = Some(token.into());
        self
    }

    /// Sets the number of attempts per request, including the first.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> GitHub {
        self.attempts = attempts.max(1);
        self
    }

    /// Sets the first wait between attempts, which doubles, and the longest, which also caps GitHub's own waits.
    #[must_use]
    pub fn waits(mut self, first: Duration, longest: Duration) -> GitHub {
        (self.first_wait, self.max_wait) = (first, longest);
        self
    }

    /// Returns the issues of a repository as plans.
    pub fn plans(&self, repo: &str) -> Result<GitHubPlans, PlanError> {
        check_repo(repo)?;
        Ok(GitHubPlans { github: self.clone(), repo: repo.to_string() })
    }

    async fn read(&self, repo: &str, number: u64) -> Result<(Issue, Option<HeaderValue>), PlanError> {
        let mut attempt = 1;
        loop {
            match self.send(Method::GET, repo, number, None, None).await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.wait(&error, attempt).await.ok_or(error)?,
            }
            attempt += 1;
        }
    }

    async fn sync(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let Some(link) = plan.issue.clone() else {
            let message = "the plan does not come from an issue; load it with `Plan::from_github_issue`, or \
                           `save` it under a number";
            return Err(PlanError::new(PlanErrorKind::Invalid, message));
        };
        let mut attempt = 1;
        loop {
            match self.sync_once(plan, &link).await {
                Ok(merged) => {
                    *plan = merged;
                    return Ok(());
                }
                Err(error) => self.wait(&error, attempt).await.ok_or(error)?,
            }
            attempt += 1;
        }
    }

    async fn sync_once(&self, plan: &Plan, link: &IssueLink) -> Result<Plan, PlanError> {
        let (issue, tag) = self.send(Method::GET, &link.repo, link.number, None, None).await?;
        let before = issue.body.unwrap_or_default();
        let mut merged = plan.clone();
        merged.title = issue.title;
        let body = checklist::merge(&before, &mut merged, &link.seen)?;
        merged.check()?;
        if body != before {
            self.send(Method::PATCH, &link.repo, link.number, Some(&body), tag).await?;
        }
        merged.issue = Some(IssueLink { seen: checklist::seen(&merged), ..link.clone() });
        Ok(merged)
    }

    /// Waits for the next attempt; None if there is none.
    async fn wait(&self, error: &PlanError, attempt: u32) -> Option<()> {
        use PlanErrorKind::{Conflict, Network, RateLimited, Server};
        if attempt >= self.attempts || !matches!(error.kind, Conflict | Network | RateLimited | Server) {
            return None;
        }
        let doubled = self.first_wait.saturating_mul(1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX));
        let wait = error.retry_after.unwrap_or(doubled.min(self.max_wait));
        if wait > self.max_wait {
            return None;
        }
        tokio::time::sleep(wait).await;
        Some(())
    }

    /// Sends one request about an issue. With a text, writes it; `tag` is the state of the issue that was read.
    async fn send(
        &self,
        method: Method,
        repo: &str,
        number: u64,
        body: Option<&str>,
        tag: Option<HeaderValue>,
    ) -> Result<(Issue, Option<HeaderValue>), PlanError> {
        let what = format!("issue {number} of `{repo}`");
        let mut url = self.base.clone();
        url.set_path(&format!("{}/repos/{repo}/issues/{number}", url.path().trim_end_matches('/')));
        let mut request = self
            .client
            .request(method, url)
            .timeout(TIMEOUT)
            .header(ACCEPT, "application/vnd.github+json")
            .header("X-GitHub-Api-Version", "2022-11-28")
            .header(USER_AGENT, concat!("ptc-agent/", env!("CARGO_PKG_VERSION")));
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal())).map_err(|_| {
                PlanError::new(PlanErrorKind::Invalid, "the token has characters that headers cannot contain")
            })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        if let Some(body) = body {
            request = request.json(&serde_json::json!({ "body": body }));
        }
        if let Some(tag) = tag {
            request = request.header(IF_MATCH, tag);
        }
        let response = request.send().await.map_err(unreachable)?;
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            let text = ptc_web::start(response, MAX_ERROR).await;
            return Err(self.refused(status, &headers, &text, &what));
        }
        let bytes = ptc_web::bounded(response, MAX_ANSWER).await.map_err(|error| match error {
            BodyError::TooLarge => {
                let message = format!("{what} is larger than {MAX_ANSWER} bytes, the maximum for plans");
                PlanError::new(PlanErrorKind::TooLarge, message)
            }
            BodyError::Connection(error) => unreachable(error),
        })?;
        let issue = serde_json::from_slice(&bytes).map_err(|error| {
            PlanError::new(PlanErrorKind::Server, format!("the answer for {what} cannot be read: {error}"))
        })?;
        Ok((issue, headers.get(ETAG).cloned()))
    }

    /// Converts a reply whose status is not a success.
    fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8], what: &str) -> PlanError {
        use PlanErrorKind::*;
        let told = serde_json::from_slice::<serde_json::Value>(body).ok();
        let told = told.as_ref().and_then(|told| told["message"].as_str()).unwrap_or("no reason given");
        let told = match &self.token {
            Some(token) => token.hide_in(told),
            None => told.to_string(),
        };
        let told = ptc_web::cut(&told);
        let spent = headers.get("x-ratelimit-remaining").is_some_and(|left| left == "0");
        let after = ptc_web::retry_after(headers).or_else(|| reset(headers).filter(|_| spent));
        let is_limit = status == StatusCode::TOO_MANY_REQUESTS
            || (status == StatusCode::FORBIDDEN && (after.is_some() || spent));
        let (kind, message) = match status.as_u16() {
            _ if is_limit => (RateLimited, format!("GitHub is limiting requests: {told}")),
            401 => (Unauthorized, format!("GitHub rejected the token: {told}")),
            403 => (Forbidden, format!("the token has no access to {what}: {told}")),
            404 => (NotFound, format!("there is no {what}, or the token has no access to it")),
            410 => (NotFound, format!("{what} was deleted")),
            409 | 412 => (Conflict, format!("{what} was changed by somebody else at the same time")),
            300..=399 => (NotFound, format!("{what} has moved; use the new name of the repository")),
            500..=599 => (Server, format!("GitHub failed with {status}: {told}")),
            _ => (Invalid, format!("GitHub refused {what} with {status}: {told}")),
        };
        let mut error = PlanError::new(kind, message);
        error.retry_after = after.filter(|_| is_limit || status.is_server_error());
        error
    }
}

impl Plan {
    /// Reads the plan in an issue: its checklist, wherever it is in the text.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), ptc_agent::plan::PlanError> {
    /// use ptc_agent::plan::{Execution, GitHub, Plan};
    /// let github = GitHub::new()?.token("ghp_…");
    /// let mut plan = Plan::from_github_issue(&github, "owner/repo", 275).await?;
    /// plan.record(Execution::new("2031-04-02T08:00:01Z", "ok").step("1", "44 rows"));
    /// plan.sync_to_github(&github).await?; // ticks step 1 and adds to the history
    /// # Ok(())
    /// # }
    /// ```
    pub async fn from_github_issue(github: &GitHub, repo: &str, number: u64) -> Result<Plan, PlanError> {
        check_repo(repo)?;
        let (issue, _) = github.read(repo, number).await?;
        let body = issue.body.unwrap_or_default();
        let mut plan = checklist::read(&issue.title, &body).map_err(|error| PlanError {
            message: format!("issue {number} of `{repo}`: {}", error.message),
            ..error
        })?;
        plan.issue = Some(IssueLink { repo: repo.to_string(), number, seen: checklist::seen(&plan) });
        Ok(plan)
    }

    /// Synchronises the issue and the plan: ticks and history are written, changes by people in the checklist are taken
    /// over, and all other text stays as it is.
    pub async fn sync_to_github(&mut self, github: &GitHub) -> Result<(), PlanError> {
        github.sync(self).await
    }
}

impl PlanStore for GitHubPlans {
    /// Loads the plan of an issue; the name is its number.
    fn load<'a>(&'a self, name: &'a str) -> PlanFuture<'a, Plan> {
        Box::pin(async move { Plan::from_github_issue(&self.github, &self.repo, number(name)?).await })
    }

    /// Saves the plan to an issue; a plan that came from elsewhere is added to the text that is there.
    fn save<'a>(&'a self, name: &'a str, plan: &'a mut Plan) -> PlanFuture<'a, ()> {
        Box::pin(async move {
            let number = number(name)?;
            let is_here =
                |link: &IssueLink| link.number == number && link.repo.eq_ignore_ascii_case(&self.repo);
            let before = plan.issue.clone();
            if !before.as_ref().is_some_and(is_here) {
                plan.issue = Some(IssueLink { repo: self.repo.clone(), number, seen: Vec::new() });
            }
            let synced = self.github.sync(plan).await;
            if synced.is_err() {
                plan.issue = before;
            }
            synced
        })
    }
}

fn number(name: &str) -> Result<u64, PlanError> {
    name.trim_start_matches('#').parse().map_err(|_| {
        let shown: String = name.chars().take(60).collect();
        PlanError::new(
            PlanErrorKind::Invalid,
            format!("`{shown}` is not the number of an issue, such as `275`"),
        )
    })
}

/// Checks for `owner/repo` without characters that would lead elsewhere in a path.
fn check_repo(repo: &str) -> Result<(), PlanError> {
    let is_name = |name: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !name.is_empty() && name.len() <= 100 && name.chars().all(allowed) && name.chars().any(|c| c != '.')
    };
    match repo.split_once('/') {
        Some((owner, name)) if is_name(owner) && is_name(name) => Ok(()),
        _ => {
            let shown: String = repo.chars().take(60).collect();
            let message = format!("`{shown}` is not a repository; write `owner/repo`");
            Err(PlanError::new(PlanErrorKind::Invalid, message))
        }
    }
}

fn address(url: &str) -> Result<Url, PlanError> {
    let wrong = |what: &str| {
        let message = format!("the address {what}; write one like `https://api.github.com`");
        PlanError::new(PlanErrorKind::Invalid, message)
    };
    let url = ptc_web::address(url).map_err(|what| wrong(&what))?;
    if url.scheme() != "https" && !ptc_web::is_local(&url) {
        return Err(wrong("must begin with `https`, since the token is sent to it"));
    }
    Ok(url)
}

/// Returns the time until the rate limit is lifted.
fn reset(headers: &HeaderMap) -> Option<Duration> {
    let at = headers.get("x-ratelimit-reset")?.to_str().ok()?.trim().parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(Duration::from_secs(at).saturating_sub(now))
}

fn unreachable(error: reqwest::Error) -> PlanError {
    PlanError::new(PlanErrorKind::Network, format!("GitHub could not be reached: {}", ptc_web::why(error)))
}
