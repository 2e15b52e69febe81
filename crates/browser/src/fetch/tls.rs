//! TLS: certificates are checked by the system's rules, and by an operator's file beside them.
//!
//! There is no way to accept a certificate that does not check. What the system trusts is read at the
//! first secure connection, so a tool that never makes one never reads it.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use rustls::{
    ClientConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use rustls_platform_verifier::Verifier;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Makes secure connections.
#[derive(Debug)]
pub(super) struct Tls {
    extra: Vec<CertificateDer<'static>>,
    config: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Tls {
    /// Trusts the system, and the certificates of this file.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn new(file: Option<&Path>) -> Result<Self, String> {
        let extra = file.map(certificates).transpose()?.unwrap_or_default();
        Ok(Self { extra, config: OnceLock::new() })
    }

    /// Makes a connection to `host` secure.
    ///
    /// # Errors
    /// What is wrong with it, for a model.
    pub(super) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, String> {
        let config = self.config.get_or_init(|| self.make()).clone()?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_owned()).map_err(|error| error.to_string())?;
        TlsConnector::from(config).connect(name, stream).await.map_err(|error| error.to_string())
    }

    fn make(&self) -> Result<Arc<ClientConfig>, String> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = Verifier::new_with_extra_roots(self.extra.clone(), Arc::clone(&provider))
            .map_err(|error| error.to_string())?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file)
        .map_err(|error| format!("ca_file can't be read: {error}"))?
        .collect();
    match all {
        Ok(all) if all.is_empty() => Err("ca_file holds no certificate in PEM form".to_owned()),
        Ok(all) => Ok(all),
        Err(error) => Err(format!("ca_file holds a certificate that can't be read: {error}")),
    }
}
