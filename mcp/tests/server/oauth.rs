//! Tokens of an authorization server: metadata, challenges, signatures, introspection.

use crate::http::{TOKEN, Web, eval, hello};
use crate::server;
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use rcgen::{KeyPair, PublicKeyData};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use tokio::net::TcpListener;

/// An authorization server with one key, which can be replaced.
struct Issuer {
    url: String,
    world: Arc<World>,
}

struct World {
    url: Mutex<String>,
    key: Mutex<(String, KeyPair)>,
    keys_read: AtomicUsize,
    asked: AtomicUsize,
}

impl World {
    fn jwks(&self) -> Value {
        self.keys_read.fetch_add(1, Ordering::SeqCst);
        let key = self.key.lock().unwrap();
        let point = key.1.der_bytes();
        let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({"keys": [
            {"kty": "unknown", "kid": "odd"},
            {"kty": "EC", "crv": "P-256", "kid": key.0, "use": "sig", "x": part(&point[1..33]), "y": part(&point[33..])},
        ]})
    }
}

impl Issuer {
    async fn start() -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let world = Arc::new(World {
            url: Mutex::new(url.clone()),
            key: Mutex::new(("one".to_string(), KeyPair::generate().unwrap())),
            keys_read: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
        });
        let about = async |State(world): State<Arc<World>>| {
            let url = world.url.lock().unwrap().clone();
            json!({"issuer": url, "jwks_uri": format!("{url}/keys")}).to_string()
        };
        let introspect = async |State(world): State<Arc<World>>, headers: HeaderMap, body: String| {
            world.asked.fetch_add(1, Ordering::SeqCst);
            // `server:secret`.
            assert_eq!(headers["authorization"], "Basic c2VydmVyOnNlY3JldA==");
            let is_active = body.starts_with("token=opaque-ada&");
            json!({"active": is_active, "sub": "ada", "aud": "http://ptc.example/mcp", "scope": "run"})
                .to_string()
        };
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(about))
            .route("/keys", get(async |State(world): State<Arc<World>>| world.jwks().to_string()))
            .route("/introspect", post(introspect))
            .with_state(world.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Issuer { url, world }
    }

    /// Returns a token that is valid but for these claims.
    fn token(&self, changed: Value) -> String {
        let kid = self.world.key.lock().unwrap().0.clone();
        self.token_by(Header { kid: Some(kid), ..Header::new(Algorithm::ES256) }, changed)
    }

    fn token_by(&self, header: Header, changed: Value) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let mut claims = json!({
            "iss": self.url, "sub": "ada", "aud": "http://ptc.example/mcp", "exp": now + 600, "scope": "other run",
        });
        for (name, value) in changed.as_object().unwrap() {
            match value {
                Value::Null => claims.as_object_mut().unwrap().remove(name),
                value => claims.as_object_mut().unwrap().insert(name.clone(), value.clone()),
            };
        }
        let key = EncodingKey::from_ec_der(self.world.key.lock().unwrap().1.serialized_der());
        encode(&header, &claims, &key).unwrap()
    }

    /// Starts a server that takes tokens of this issuer.
    async fn guarded(&self, flags: &[&str]) -> Web {
        let own = [
            "--http",
            "--sessions",
            "--http-public-url=http://ptc.example/mcp",
            "--http-oauth-scope=run",
            "--http-auth-rate-limit=false",
            "--http-oauth-issuer",
            &self.url,
        ];
        Web::start(server(&[&own[..], flags].concat())).await
    }
}

async fn status(web: &Web, token: &str) -> StatusCode {
    web.post(&hello()).bearer_auth(token).send().await.unwrap().status()
}

#[tokio::test]
async fn clients_learn_where_to_get_a_token() {
    let issuer = Issuer::start().await;
    let web = issuer.guarded(&[]).await;
    let refused = web.post(&hello()).send().await.unwrap();
    let challenge = refused.headers()["www-authenticate"].to_str().unwrap().to_string();
    assert_eq!(refused.status(), 401);
    assert_eq!(
        challenge,
        r#"Bearer realm="ptc", resource_metadata="http://ptc.example/.well-known/oauth-protected-resource/mcp", scope="run""#
    );
    for path in ["", "/mcp"] {
        let url = format!("{}/.well-known/oauth-protected-resource{path}", web.url);
        let told = web.client.get(url).send().await.unwrap();
        assert_eq!(told.headers()["access-control-allow-origin"], "*");
        let about: Value = serde_json::from_str(&told.text().await.unwrap()).unwrap();
        assert_eq!(about["resource"], "http://ptc.example/mcp");
        assert_eq!(
            (&about["authorization_servers"], &about["scopes_supported"]),
            (&json!([issuer.url]), &json!(["run"]))
        );
    }
    let other = format!("{}/.well-known/oauth-protected-resource/elsewhere", web.url);
    assert_eq!(web.client.get(other).send().await.unwrap().status(), 404);
    // Servers without an issuer have no such page.
    let plain = Web::with_token(&[]).await;
    let url = format!("{}/.well-known/oauth-protected-resource", plain.url);
    assert_eq!(plain.client.get(url).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_token_counts_only_if_all_of_it_is_right() {
    let issuer = Issuer::start().await;
    let web = issuer.guarded(&["--http-auth-token", TOKEN]).await;
    assert_eq!(status(&web, &issuer.token(json!({}))).await, 200);
    assert_eq!(status(&web, TOKEN).await, 200, "tokens of the settings are still valid");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    for (what, claims) in [
        ("another server's", json!({"aud": "http://bank.example/mcp"})),
        ("no audience", json!({"aud": null})),
        ("expired", json!({"exp": now - 600})),
        ("no end", json!({"exp": null})),
        ("not yet", json!({"nbf": now + 600})),
        ("another issuer", json!({"iss": "http://127.0.0.1:1"})),
        ("nobody's", json!({"sub": null})),
    ] {
        let refused = web.post(&hello()).bearer_auth(issuer.token(claims)).send().await.unwrap();
        assert_eq!(refused.status(), 401, "{what}");
        let challenge = refused.headers()["www-authenticate"].to_str().unwrap();
        assert!(
            challenge.contains("error=\"invalid_token\"") && challenge.contains("resource_metadata="),
            "{challenge}"
        );
    }
    let lacking =
        web.post(&hello()).bearer_auth(issuer.token(json!({"scope": "runner"}))).send().await.unwrap();
    assert_eq!(lacking.status(), 403);
    assert!(lacking.headers()["www-authenticate"].to_str().unwrap().contains("insufficient_scope"));
    // Forged: signed by another key, by a shared secret, not at all, or changed.
    let good = issuer.token(json!({}));
    let (start, signature) = good.rsplit_once('.').unwrap();
    let symmetric =
        encode(&Header::new(Algorithm::HS256), &json!({"iss": issuer.url}), &EncodingKey::from_secret(b"x"))
            .unwrap();
    let unsigned =
        format!("{}.{}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#), good.split('.').nth(1).unwrap());
    let mut reversed: String = signature.chars().rev().collect();
    reversed.insert_str(0, &format!("{start}."));
    let stranger = Issuer::start().await;
    *stranger.world.url.lock().unwrap() = issuer.url.clone();
    let forged = stranger.token(json!({"iss": issuer.url}));
    for token in
        [symmetric, unsigned, reversed, forged, "ey.ey.ey".to_string(), format!("ey{}", "a".repeat(20_000))]
    {
        assert_eq!(status(&web, &token).await, 401, "{token:.60}");
    }
}

#[tokio::test]
async fn keys_are_replaced_and_unknown_ones_cause_no_flood() {
    let issuer = Issuer::start().await;
    let web = issuer.guarded(&[]).await;
    for _ in 0..20 {
        assert_eq!(status(&web, &issuer.token(json!({}))).await, 200);
    }
    assert_eq!(issuer.world.keys_read.load(Ordering::SeqCst), 1);
    let named = |kid: &str| Header { kid: Some(kid.to_string()), ..Header::new(Algorithm::ES256) };
    for n in 0..20 {
        assert_eq!(status(&web, &issuer.token_by(named(&format!("none-{n}")), json!({}))).await, 401);
    }
    // They were read a moment ago; a loaded machine may take so long that they are read once more.
    assert!(issuer.world.keys_read.load(Ordering::SeqCst) <= 2);
    assert_eq!(status(&web, &issuer.token(json!({}))).await, 200);
}

#[tokio::test]
async fn an_issuer_that_cannot_be_asked_is_not_the_clients_fault() {
    let issuer = Issuer::start().await;
    *issuer.world.url.lock().unwrap() = "http://127.0.0.1:9".to_string();
    let web = issuer.guarded(&[]).await;
    // Its metadata names another issuer, so its keys are not trusted.
    assert_eq!(status(&web, &issuer.token(json!({}))).await, 503);
}

#[tokio::test]
async fn tokens_without_a_form_are_asked_about_once() {
    let issuer = Issuer::start().await;
    let at = format!("--http-oauth-introspection={}/introspect", issuer.url);
    let flags = [at.as_str(), "--http-oauth-client-id=server", "--http-oauth-client-secret=secret"];
    let web = issuer.guarded(&flags).await;
    for _ in 0..3 {
        assert_eq!(status(&web, "opaque-ada").await, 200);
        assert_eq!(status(&web, "opaque-nobody").await, 401);
    }
    assert_eq!(issuer.world.asked.load(Ordering::SeqCst), 2, "answers are kept for a moment");
    // Without introspection nobody is asked.
    let web = issuer.guarded(&[]).await;
    assert_eq!(status(&web, "opaque-ada").await, 401);
}

#[tokio::test]
async fn a_session_belongs_to_the_user_and_outlives_the_token() {
    let issuer = Issuer::start().await;
    let web = issuer.guarded(&[]).await;
    let started = web.post(&hello()).bearer_auth(issuer.token(json!({}))).send().await.unwrap();
    let session = started.headers()["mcp-session-id"].to_str().unwrap().to_string();
    let call =
        |token: String| web.post(&eval(1, "1")).bearer_auth(token).header("mcp-session-id", &session).send();
    let later = issuer.token(json!({"jti": "another token of hers"}));
    assert_eq!(call(later).await.unwrap().status(), 200);
    assert_eq!(call(issuer.token(json!({"sub": "bob"}))).await.unwrap().status(), 404);
}
