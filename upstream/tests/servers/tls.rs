//! A server behind TLS, with a self-signed certificate.

use crate::support::{assert_fault, call, fault, trial, works};
use libtest_mimic::Trial;
use ptc_testkit::http::read;
use ptc_testkit::mcp::text;
use ptc_upstream::Reason;
use ptc_upstream::credentials::Headers;
use ptc_upstream::transport::mcp_http;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;
use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;

pub fn tests() -> Vec<Trial> {
    vec![trial("tls::certificates_are_checked", certificates_are_checked)]
}

/// Starts the server; returns its address and its certificate.
fn start() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a configuration");
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let url = format!("https://localhost:{}/mcp", listener.local_addr().expect("an address").port());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).expect("a connection");
            std::thread::spawn(move || serve(BufReader::new(StreamOwned::new(connection, stream))));
        }
    });
    (url, made.cert.pem())
}

fn serve(mut stream: BufReader<StreamOwned<ServerConnection, std::net::TcpStream>>) {
    while let Some(request) = read(&mut stream) {
        let result = match request.body["method"].as_str() {
            Some("server/discover") => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                "capabilities": {"tools": {}}, "serverInfo": {"name": "fixture", "version": "1"}}),
            _ => text(request.body["params"]["arguments"]["text"].as_str().unwrap_or_default()),
        };
        let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result}).to_string();
        let head = "HTTP/1.1 200 X\r\nContent-Type: application/json";
        let answer = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if stream.get_mut().write_all(answer.as_bytes()).and_then(|()| stream.get_mut().flush()).is_err() {
            return;
        }
    }
}

async fn certificates_are_checked() {
    let (url, certificate) = start();
    let folder = tempfile::tempdir().expect("a folder");
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, certificate).expect("a file");
    let mut settings = crate::http::settings(&url);
    let strict = mcp_http::connect("web", settings.clone(), Headers::new());
    let refused = fault(&strict, "echo", json!({})).await;
    assert_fault(&refused, Reason::UpstreamUnavailable, "upstream 'web' cannot be reached: ");
    assert!(refused.message.to_lowercase().contains("certificate"), "{refused}");
    settings.ca_file = Some(ca_file.clone());
    let trusting = mcp_http::connect("web", settings.clone(), Headers::new());
    works(&trusting).await;
    assert_eq!(call(&trusting, "echo", json!({})).await.expect("an answer").http_status, Some(200));
    // A file without certificates is not taken for an empty list.
    std::fs::write(&ca_file, "no certificate").expect("a file");
    let empty = mcp_http::connect("web", settings, Headers::new());
    assert_fault(&fault(&empty, "echo", json!({})).await, Reason::UpstreamUnavailable, "ca_file ");
}
