//! Unix sockets of the host in directories that were granted.

use std::os::unix::net::UnixListener;
use std::path::Path;

use confine::{Confinement, Mechanism, Prepared, Protection};

use crate::support::{directory, host, run};

/// A line that connects to a socket and says what the other side does.
fn line(socket: &Path) -> String {
    format!(
        "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"{}\"); print(1)'",
        socket.display()
    )
}

fn connects(prepared: &Prepared, socket: &Path) -> bool {
    run(prepared, &line(socket)).is_ok()
}

#[test]
fn a_socket_of_the_host_is_hidden_wherever_it_was_granted() {
    let (top, read, write) = (directory(), directory(), directory());
    let places = [
        top.path().join("docker.sock"),
        read.path().join("bus"),
        write.path().join("deep/er/agent.123"),
    ];
    std::fs::create_dir_all(write.path().join("deep/er")).unwrap();
    let _listeners: Vec<_> = places.iter().map(|one| UnixListener::bind(one).unwrap()).collect();
    let granted = Confinement::builder(top.path()).readable(read.path()).writable(write.path());
    let open = granted.clone().protection(Protection::none()).prepare().unwrap();
    let hidden = granted.prepare().unwrap();
    for socket in &places {
        host(top.path(), &line(socket));
        assert!(connects(&open, socket), "{} without protection", socket.display());
        assert!(!connects(&hidden, socket), "{}", socket.display());
        let name = socket.display();
        for line in [format!("rm -f {name} && test ! -e {name}"), format!("mv {name} /tmp/x")] {
            assert!(!run(&hidden, &line).is_ok(), "`{line}` succeeded");
        }
        assert!(socket.exists());
    }
}

#[test]
fn a_socket_that_was_granted_by_its_name_is_left() {
    let (top, other) = (directory(), directory());
    let socket = other.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let prepared = Confinement::builder(top.path()).writable(&socket).prepare().unwrap();
    assert!(connects(&prepared, &socket));
}

#[test]
fn a_child_has_sockets_of_its_own() {
    let top = directory();
    let prepared = Confinement::builder(top.path()).prepare().unwrap();
    let line = "python3 -c 'import socket; a = socket.socket(socket.AF_UNIX); a.bind(\"own\"); \
                a.listen(); b = socket.socket(socket.AF_UNIX); b.connect(\"own\")'";
    assert!(run(&prepared, line).is_ok());
    assert!(prepared.report().is_enforced(Mechanism::Namespaces));
}
