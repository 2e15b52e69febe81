//! Engines behind TLS and behind `ssh`, which a test starts for itself.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use testkit::docker::PrivateEngine;

use super::{connect, echoes, told};
use crate::{DockerConfig, docker::connect::contexts};

/// The smallest image for tests that can say what it hears.
const TAG: &str = "no-python";
const IMAGE: &str = "remit-test:no-python";

/// A port that nobody uses now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// An authority, and what it signed for a server and a client, as `docker` names the files.
#[expect(clippy::disallowed_methods, reason = "a test makes its certificates with openssl")]
fn certificates(folder: &Path) {
    let script = r#"
        exec >/dev/null 2>&1
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
            -subj "/CN=authority $$" -keyout ca-key.pem -out ca.pem
        sign() { # NAME SUBJECT EXTENSIONS
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" \
                -keyout "$1-key.pem" -out "$1.csr"
            printf '%s\n' "$3" >"$1.ext"
            openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 \
                -extfile "$1.ext" -out "$1.pem"
        }
        sign server engine 'subjectAltName=DNS:localhost,IP:127.0.0.1
extendedKeyUsage=serverAuth'
        sign client me extendedKeyUsage=clientAuth
        cp client.pem cert.pem && cp client-key.pem key.pem
    "#;
    let status = Command::new("bash").args(["-euc", script]).current_dir(folder).status();
    assert!(status.unwrap().success(), "openssl makes the certificates of this test");
}

#[tokio::test]
async fn tls_shows_our_certificate_and_believes_the_authority_that_is_named_alone_as_root() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    certificates(folder.path());
    let port = free_port();
    let (ca, cert, key) = (path("ca.pem"), path("server.pem"), path("server-key.pem"));
    let host = format!("tcp://127.0.0.1:{port}");
    let elsewhere = format!("tcp://127.0.0.2:{port}");
    let options = [
        "--tlsverify",
        "--tlscacert",
        &ca,
        "--tlscert",
        &cert,
        "--tlskey",
        &key,
        "--host",
        &host,
        "--host",
        &elsewhere,
    ];
    let Some(engine) = PrivateEngine::start(&options) else { return };
    engine.build_images(&[TAG]);
    let with = |folder: &Path, host: &str| {
        let folder = folder.to_string_lossy().into_owned();
        told(|it| {
            it.docker_host = Some(host.to_owned());
            it.docker_tls_verify = Some("1".to_owned());
            it.docker_cert_path = Some(folder);
        })
    };
    let found = connect(&with(folder.path(), &host)).await.unwrap();
    assert_eq!(found.place, format!("{host} with TLS (DOCKER_HOST)"));
    assert!(!found.is_local);
    echoes(&found, IMAGE).await;
    let why = async |config: &DockerConfig| connect(config).await.unwrap_err().to_string();
    check_context(folder.path(), &host).await;
    // Another authority, no certificate, another name, and no TLS.
    let other = tempfile::tempdir().unwrap();
    certificates(other.path());
    let stranger = why(&with(other.path(), &host)).await;
    assert!(stranger.contains("UnknownIssuer"), "{stranger}");
    fs::remove_file(folder.path().join("cert.pem")).unwrap();
    let unknown = why(&with(folder.path(), &host)).await;
    assert!(unknown.contains("does not answer as an engine does"), "{unknown}");
    fs::copy(folder.path().join("client.pem"), folder.path().join("cert.pem")).unwrap();
    let name = why(&with(folder.path(), &elsewhere)).await;
    assert!(name.contains("certificate not valid for name"), "{name}");
    let plain = why(&told(|it| it.docker_host = Some(host.clone()))).await;
    assert!(plain.contains("HTTPS"), "{plain}");
}

/// A context with material for TLS leads to the same engine.
async fn check_context(material: &Path, host: &str) {
    let folder = tempfile::tempdir().unwrap();
    let id = contexts::id("far");
    let meta = folder.path().join("contexts/meta").join(&id);
    let tls = folder.path().join("contexts/tls").join(&id).join("docker");
    fs::create_dir_all(&meta).unwrap();
    fs::create_dir_all(&tls).unwrap();
    let text = serde_json::json!({"Name": "far", "Endpoints": {"docker": {"Host": host}}});
    fs::write(meta.join("meta.json"), text.to_string()).unwrap();
    for name in ["ca.pem", "cert.pem", "key.pem"] {
        fs::copy(material.join(name), tls.join(name)).unwrap();
    }
    let settings = Some(folder.path().to_string_lossy().into_owned());
    let mut config = told(|it| it.docker_config = settings);
    config.context = Some("far".to_owned());
    let found = connect(&config).await.unwrap();
    let by = "sandbox.docker.context, context \"far\"";
    assert_eq!(found.place, format!("{host} with TLS ({by})"));
}

/// A program in place of `ssh`, which does what one on the other machine would.
fn ssh(folder: &Path, does: &str) {
    let program = folder.join("ssh");
    fs::write(&program, format!("#!/bin/bash\n{does}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}

fn through(folder: &Path) -> DockerConfig {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    let mut config = told(|it| it.path = Some(path));
    config.host = Some("ssh://me@there:2222".to_owned());
    config
}

#[tokio::test]
async fn ssh_carries_every_connection_and_ends_with_it_as_root() {
    let host = format!("tcp://127.0.0.1:{}", free_port());
    let Some(engine) = PrivateEngine::start(&["--host", &host]) else { return };
    engine.build_images(&[TAG]);
    let folder = tempfile::tempdir().unwrap();
    let expected =
        "-T -o BatchMode=yes -o ConnectTimeout=10 -l me -p 2222 -- there docker system dial-stdio";
    let does = format!(
        "[[ $* == '{expected}' ]] || {{ echo \"unexpected: $*\" >&2; exit 1; }}\n\
         exec docker --host {host} system dial-stdio"
    );
    ssh(folder.path(), &does);
    let found = connect(&through(folder.path())).await.unwrap();
    assert_eq!(found.place, "ssh://me@there:2222 (sandbox.docker.host)");
    assert!(!found.is_local);
    echoes(&found, IMAGE).await;
    drop(found);
    let is_over = || !is_running(&host);
    for _ in 0..200 {
        if is_over() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("an ssh lives on");
}

/// Whether a program carries a connection to this address.
#[expect(clippy::disallowed_methods, reason = "a test looks for what should have ended")]
fn is_running(host: &str) -> bool {
    let ps = Command::new("ps").args(["-eo", "args"]).stderr(Stdio::null()).output().unwrap();
    let all = String::from_utf8_lossy(&ps.stdout).into_owned();
    all.lines().any(|line| line.contains(host) && line.contains("dial-stdio"))
}

#[tokio::test]
async fn what_ssh_complains_of_is_told() {
    let folder = tempfile::tempdir().unwrap();
    ssh(folder.path(), "echo 'me@there: Permission denied (publickey).' >&2; exit 255");
    let error = connect(&through(folder.path())).await.unwrap_err().to_string();
    assert!(error.contains("ssh: me@there: Permission denied (publickey)."), "{error}");
    assert!(error.contains("check that the address is right"), "{error}");
}
