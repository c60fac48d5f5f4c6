//! HTTP clients for both transports over HTTP.

use ptc_runtime::files::read_at_most;
use reqwest::redirect::Policy;
use std::path::Path;
use std::time::Duration;

/// Bytes of a file of certificates; those of all public authorities have a quarter of a megabyte.
const MAX_CA_FILE: u64 = 16 << 20;

/// Creates the HTTP client for one server: without proxies and cookies; trusts the system's certificates and `ca_file`.
pub(super) fn client(
    connect_timeout: Duration,
    ca_file: Option<&Path>,
    redirects: Policy,
) -> Result<reqwest::Client, String> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Fails only if another thread was faster, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let mut builder = reqwest::Client::builder()
        .redirect(redirects)
        .connect_timeout(connect_timeout)
        .user_agent(concat!("ptc/", env!("CARGO_PKG_VERSION")))
        .no_proxy();
    if let Some(file) = ca_file {
        let bundle = read_at_most(file, MAX_CA_FILE)
            .map_err(|error| format!("ca_file {}: {error}", file.display()))?;
        let roots = reqwest::Certificate::from_pem_bundle(&bundle).unwrap_or_default();
        if roots.is_empty() {
            return Err(format!("ca_file {} has no certificates in PEM format", file.display()));
        }
        builder = builder.tls_certs_merge(roots);
    }
    builder.build().map_err(ptc_web::why)
}
