//! HTTPS: certificates, and clients that fail the TLS handshake.

use crate::server;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::{Certificate, Client};
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// Writes a certificate for localhost, and returns it as PEM.
fn certify(folder: &Path) -> String {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_string()]).unwrap();
    std::fs::write(folder.join("cert.pem"), cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    cert.pem()
}

fn flags(folder: &Path) -> Vec<String> {
    let at = |name: &str| folder.join(name).display().to_string();
    ["--http", "--http-disable-auth", "--http-tls-cert", &at("cert.pem"), "--http-tls-key", &at("key.pem")]
        .map(String::from)
        .to_vec()
}

fn client(pem: &str) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().tls_certs_only([Certificate::from_pem(pem.as_bytes()).unwrap()]).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_go_through_tls_and_nobody_waits_for_who_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let pem = certify(folder.path());
    let flags = flags(folder.path());
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(ptc_mcp::http::serve(server(&flags), listener, std::future::pending()));
    // Some clients only connect, others speak plain HTTP.
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    let mut plain = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    plain.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let client = client(&pem);
    let health = client.get(format!("https://localhost:{port}/health")).send().await.unwrap();
    assert_eq!(health.text().await.unwrap(), r#"{"status":"ok"}"#);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "lisp_eval", "arguments": {"program": "(+ 1 2)"},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}},
    }});
    let request = client
        .post(format!("https://localhost:{port}/mcp"))
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "lisp_eval")
        .timeout(Duration::from_secs(30));
    let told = request.body(call.to_string()).send().await.unwrap().text().await.unwrap();
    assert!(told.contains("user=> 3"), "{told}");
    serving.abort();
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let flags = flags(folder.path());
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let start = || async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        ptc_mcp::http::serve(server(&flags), listener, async {}).await
    };
    assert_eq!(start().await, Ok(()));
    std::fs::write(folder.path().join("key.pem"), "no key").unwrap();
    assert!(start().await.unwrap_err().contains("--http-tls-key"));
    certify(folder.path());
    std::fs::write(folder.path().join("cert.pem"), "").unwrap();
    assert!(start().await.unwrap_err().contains("it has no certificate"));
    // The key of another certificate.
    certify(folder.path());
    let other = tempfile::tempdir().unwrap();
    certify(other.path());
    std::fs::copy(other.path().join("key.pem"), folder.path().join("key.pem")).unwrap();
    assert!(start().await.unwrap_err().contains("--http-tls-cert"));
}
