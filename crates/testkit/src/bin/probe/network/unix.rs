//! UNIX sockets of the host, by path and by abstract name.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::Path;

use super::{PATIENCE, greeting};
use crate::attempt::{Attempt, Given, Tried};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("network.unix-path", "connects to a socket of the host by path", by_path),
    Attempt::new("network.unix-read-only", "connects to one in a read-only grant", read_only),
    Attempt::new("network.unix-symlink", "connects to one by a link in the workdir", by_link),
    Attempt::new("network.unix-victim-root", "connects through /proc/VICTIM/root", by_root),
    Attempt::new("network.unix-datagram", "sends a datagram to a socket by path", datagram)
        .judged_by_world(),
    Attempt::new("network.unix-abstract", "connects to an abstract socket", by_name),
    Attempt::new("network.unix-abstract-datagram", "sends a datagram to one", name_datagram)
        .judged_by_world(),
    Attempt::new("network.unix-abstract-bind", "takes an abstract name of the host", take_name)
        .judged_by_world(),
];

fn greet(path: &Path) -> Tried {
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    greeting(stream)
}

fn by_path(given: &Given) -> Tried {
    greet(&given.path("unix", "")?)
}

fn read_only(given: &Given) -> Tried {
    greet(&given.path("ro", "socket")?)
}

fn by_link(given: &Given) -> Tried {
    let link = given.path("work", "link")?;
    symlink(given.path("unix", "")?, &link)?;
    greet(&link)
}

fn by_root(given: &Given) -> Tried {
    let pid: u32 = given.number("victim")?;
    let socket = given.path("unix", "")?;
    let root = Path::new("/proc").join(pid.to_string()).join("root");
    greet(&root.join(socket.strip_prefix("/").unwrap_or(&socket)))
}

fn datagram(given: &Given) -> Tried {
    UnixDatagram::unbound()?.send_to(b"from the probe", given.path("unixdgram", "")?)?;
    Ok("sent".to_owned())
}

fn by_name(given: &Given) -> Tried {
    let address = SocketAddr::from_abstract_name(given.text("abstract")?)?;
    let stream = UnixStream::connect_addr(&address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    greeting(stream)
}

fn name_datagram(given: &Given) -> Tried {
    let address = SocketAddr::from_abstract_name(given.text("abstractdgram")?)?;
    UnixDatagram::unbound()?.send_to_addr(b"from the probe", &address)?;
    Ok("sent".to_owned())
}

/// Listens under a name that the host then connects to.
fn take_name(given: &Given) -> Tried {
    let address = SocketAddr::from_abstract_name(given.text("abstractbind")?)?;
    let listener = UnixListener::bind_addr(&address)?;
    listener.set_nonblocking(true)?;
    std::thread::sleep(PATIENCE);
    let (stream, _) = listener.accept()?;
    drop(stream);
    Ok("the host came in".to_owned())
}
