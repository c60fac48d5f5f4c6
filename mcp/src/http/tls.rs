//! TLS, if the server has a certificate.

use crate::settings::Settings;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// Time limit of the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The server's certificate, which may be replaced while the server runs.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Current>,
}

struct Current {
    config: Arc<ServerConfig>,
    changed: [Option<SystemTime>; 2],
}

impl Tls {
    /// Reads the certificate named in the settings; None if they name none.
    pub fn new(settings: &Settings) -> Result<Option<Tls>, String> {
        let (Some(certificate), Some(key)) = (&settings.http_tls_cert, &settings.http_tls_key) else {
            return Ok(None);
        };
        let (certificate, key) = (PathBuf::from(certificate), PathBuf::from(key));
        let current = RwLock::new(read(&certificate, &key)?);
        Ok(Some(Tls { certificate, key, current }))
    }

    /// Reads both files again if one has changed. Invalid files are logged and change nothing.
    pub fn reload(&self) {
        let is_same = {
            let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
            current.changed == changed(&self.certificate, &self.key)
        };
        if is_same {
            return;
        }
        match read(&self.certificate, &self.key) {
            Ok(new) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
                tracing::info!("http.certificate_replaced");
            }
            Err(problem) => tracing::warn!(problem, "http.certificate_unusable"),
        }
    }

    /// Performs the TLS handshake with a client; None if it fails or takes too long.
    pub async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let config = self.current.read().unwrap_or_else(PoisonError::into_inner).config.clone();
        tokio::time::timeout(HANDSHAKE, TlsAcceptor::from(config).accept(stream)).await.ok()?.ok()
    }
}

fn changed(certificate: &Path, key: &Path) -> [Option<SystemTime>; 2] {
    [certificate, key].map(|file| std::fs::metadata(file).and_then(|about| about.modified()).ok())
}

fn read(certificate: &Path, key: &Path) -> Result<Current, String> {
    let changed = changed(certificate, key);
    let at =
        |flag: &str, file: &Path, why: &dyn std::fmt::Display| format!("{flag}: {}: {why}", file.display());
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| at("--http-tls-cert", certificate, &error))?;
    if chain.is_empty() {
        return Err(at("--http-tls-cert", certificate, &"it has no certificate"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| at("--http-tls-key", key, &error))?;
    let provider = Arc::new(ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, secret))
        .map_err(|error| at("--http-tls-cert", certificate, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Current { config: Arc::new(config), changed })
}
