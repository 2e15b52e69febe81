//! Sockets without an engine: each is told for what it is.

use std::{
    fs,
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixListener},
    process::Command,
};

use super::{connect, told};

/// The test that another user runs.
const CLOSED: &str =
    "docker::connect::reached::missing::a_socket_that_this_user_may_not_use_is_told_so";

async fn why(socket: &std::path::Path) -> String {
    let host = format!("unix://{}", socket.display());
    connect(&told(|it| it.docker_host = Some(host))).await.unwrap_err().to_string()
}

#[tokio::test]
async fn no_socket_and_no_engine_behind_one_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("docker.sock");
    let absent = why(&socket).await;
    assert!(absent.contains("(DOCKER_HOST): there is no such socket"), "{absent}");
    assert!(absent.contains("To start one: sudo systemctl start docker"), "{absent}");
    drop(UnixListener::bind(&socket).unwrap());
    let ended = why(&socket).await;
    assert!(ended.contains("nobody listens there: the engine is not running"), "{ended}");
}

#[tokio::test]
async fn what_is_no_engine_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("docker.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        for answer in ["HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nnope", "SSH-2.0\r\n"] {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let refused = why(&socket).await;
    assert!(refused.contains("it answered 403: nope"), "{refused}");
    let other = why(&socket).await;
    assert!(other.contains("it does not answer as an engine does"), "{other}");
}

#[tokio::test]
async fn an_engine_that_hangs_is_waited_for_some_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("docker.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let begun = std::time::Instant::now();
    let silent = why(&socket).await;
    assert!(silent.contains("a connection, but no answer within 5 s"), "{silent}");
    assert!(begun.elapsed().as_secs() < 60);
}

/// The superuser is let in everywhere, so another user runs the test there.
#[tokio::test]
async fn a_socket_that_this_user_may_not_use_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    if rustix::process::geteuid().is_root() {
        return as_another_user(folder.path());
    }
    let socket = folder.path().join("docker.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0)).unwrap();
    let closed = why(&socket).await;
    assert!(closed.contains("permission denied: this user may not use the socket"), "{closed}");
    assert!(closed.contains("usermod -aG docker"), "{closed}");
}

#[expect(clippy::disallowed_methods, reason = "the test is run as another user, unconfined")]
fn as_another_user(folder: &std::path::Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.join("tests");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let user = (55_000 + std::process::id() % 1000).to_string();
    let ran = Command::new("setpriv")
        .args(["--reuid", &user, "--regid", &user, "--clear-groups", "--"])
        .arg(&copy)
        .args(["--exact", CLOSED])
        .env("TMPDIR", "/tmp")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}
