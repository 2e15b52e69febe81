//! TLS: a certificate that checks, and those that don't.

use std::{net::SocketAddr, path::Path, process::Command, sync::Arc};

use browser::{BrowserConfig, FetchError, FetchRequest, Fetcher};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use testkit::web::{Answer, WebServer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::common::{Names, fetcher_with};

/// Makes an authority, and its certificate for `secure.test`; says why where there is nobody who can.
#[expect(
    clippy::disallowed_methods,
    reason = "whether a check may be skipped is told by a variable"
)]
fn certificate(folder: &Path) -> Option<()> {
    let request = ["req", "-newkey", "rsa:2048", "-nodes", "-subj"];
    let authority = ["/CN=Authority", "-x509", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem"];
    let name = ["/CN=secure.test", "-addext", "subjectAltName=DNS:secure.test"];
    let leaf = ["-keyout", "key.pem", "-out", "leaf.csr"];
    let sign =
        ["x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2"];
    let rest = ["-CAcreateserial", "-copy_extensions", "copyall", "-out", "leaf.pem"];
    let is_made = openssl(folder, &[&request[..], &authority].concat())
        && openssl(folder, &[&request[..], &name, &leaf].concat())
        && openssl(folder, &[&sign[..], &rest].concat());
    if !is_made {
        let must = std::env::var_os("REMIT_TEST_NO_SKIP").is_some();
        assert!(!must, "there is no openssl 3 to make a certificate with");
        eprintln!("skipped: there is no openssl 3 to make a certificate with");
    }
    is_made.then_some(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "certificates are made by the program that makes them"
)]
fn openssl(folder: &Path, arguments: &[&str]) -> bool {
    let done = Command::new("openssl").args(arguments).current_dir(folder).output();
    done.is_ok_and(|output| output.status.success())
}

/// Puts TLS before a server; gives the address.
async fn secured(folder: &Path, server: SocketAddr) -> SocketAddr {
    let chain = CertificateDer::pem_file_iter(folder.join("leaf.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut secure) = acceptor.accept(stream).await else { return };
                let Ok(mut plain) = TcpStream::connect(server).await else { return };
                let _ended = tokio::io::copy_bidirectional(&mut secure, &mut plain).await;
            });
        }
    });
    address
}

fn fetcher(port: u16, ca: Option<&Path>) -> Fetcher {
    let config = BrowserConfig {
        internal_hosts: ["secure", "other"].map(|name| format!("{name}.test:{port}")).to_vec(),
        ca_file: ca.map(Path::to_owned),
        host_delay_ms: 0,
        ..BrowserConfig::default()
    };
    let names =
        Names::new(&[("secure.test", &[&["127.0.0.1"]]), ("other.test", &[&["127.0.0.1"]])]);
    fetcher_with(&config, names)
}

#[tokio::test]
async fn only_a_certificate_that_checks_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    if certificate(folder.path()).is_none() {
        return;
    }
    let server = WebServer::always(Answer::html("secret")).unwrap();
    let port = secured(folder.path(), server.address()).await.port();
    let get = |name: &str| FetchRequest::get(format!("https://{name}.test:{port}/"));
    let trusting = fetcher(port, Some(&folder.path().join("ca.pem")));

    let fetched = trusting.fetch(get("secure")).await.unwrap();
    assert_eq!(fetched.body, b"secret");
    assert_eq!(server.requests()[0].header("host"), Some(format!("secure.test:{port}").as_str()));

    for refused in
        [trusting.fetch(get("other")).await, fetcher(port, None).fetch(get("secure")).await]
    {
        assert!(matches!(refused, Err(FetchError::Tls { .. })), "{refused:?}");
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_server_without_tls_is_an_error_that_says_so() {
    let server = WebServer::always(Answer::html("plain")).unwrap();
    let port = server.address().port();
    let request = FetchRequest::get(format!("https://secure.test:{port}/"));
    let error = fetcher(port, None).fetch(request).await.unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. } | FetchError::TimedOut { .. }), "{error:?}");
    assert!(server.requests().is_empty());
}
