//! Listeners of the host, which greet and count whoever comes, and callers that go the other way.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const GREETING: &[u8] = b"canary-greeting";
/// How often a caller calls.
const PAUSE: Duration = Duration::from_millis(20);

/// Everything that listens, and how many came.
#[derive(Debug)]
pub(crate) struct Listeners {
    visitors: Arc<AtomicUsize>,
    /// The arguments that tell the probe where they are.
    pub(crate) arguments: Vec<String>,
    bind_port: u16,
    bind_name: String,
}

impl Listeners {
    /// Listens on loopback, at paths in `outside` and `ro`, and under abstract names.
    pub(crate) fn start(outside: &Path, ro: &Path) -> io::Result<Self> {
        let visitors = Arc::new(AtomicUsize::new(0));
        let (tcp, tcp6) = (
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?,
            TcpListener::bind((Ipv6Addr::LOCALHOST, 0))?,
        );
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let udp6 = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0))?;
        let bind_port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let name = |kind: &str| format!("{}-{kind}", outside.display());
        let (socket, datagram) = (outside.join("socket"), outside.join("datagrams"));
        let arguments = vec![
            format!("tcp={}", tcp.local_addr()?.port()),
            format!("tcp6={}", tcp6.local_addr()?.port()),
            format!("udp={}", udp.local_addr()?.port()),
            format!("udp6={}", udp6.local_addr()?.port()),
            format!("bind={bind_port}"),
            format!("unix={}", socket.display()),
            format!("unixdgram={}", datagram.display()),
            format!("abstract={}", name("stream")),
            format!("abstractdgram={}", name("datagram")),
            format!("abstractbind={}", name("bind")),
        ];
        greet_tcp(tcp, &visitors);
        greet_tcp(tcp6, &visitors);
        echo(udp, &visitors);
        echo(udp6, &visitors);
        greet_unix(UnixListener::bind(&socket)?, &visitors);
        greet_unix(UnixListener::bind(ro.join("socket"))?, &visitors);
        greet_unix(UnixListener::bind_addr(&abstract_name(&name("stream"))?)?, &visitors);
        take(UnixDatagram::bind(&datagram)?, &visitors);
        take(UnixDatagram::bind_addr(&abstract_name(&name("datagram"))?)?, &visitors);
        Ok(Self { visitors, arguments, bind_port, bind_name: name("bind") })
    }

    /// How many came since the last time that this was asked.
    pub(crate) fn visitors(&self) -> usize {
        // A datagram that was sent is received a moment later.
        thread::sleep(Duration::from_millis(5));
        self.visitors.swap(0, Ordering::SeqCst)
    }

    /// Calls a port and a name on the host until the guard is dropped; who answers is counted.
    pub(crate) fn call_out(&self) -> Callers {
        let over = Arc::new(AtomicBool::new(false));
        let (stop, visitors) = (Arc::clone(&over), Arc::clone(&self.visitors));
        let (port, name) = (self.bind_port, self.bind_name.clone());
        let thread = thread::spawn(move || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
            while !stop.load(Ordering::SeqCst) {
                let answered = call_port(port) || call_name(&name);
                visitors.fetch_add(usize::from(answered), Ordering::SeqCst);
                let _nobody = socket.send_to(b"canary-datagram", (Ipv4Addr::LOCALHOST, port));
                thread::sleep(PAUSE);
            }
        });
        Callers { over, thread: Some(thread) }
    }
}

/// Calls until it is dropped.
#[derive(Debug)]
pub(crate) struct Callers {
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Drop for Callers {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn abstract_name(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name)
}

fn call_port(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
    let patience = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let mut answer = [0; 11];
    patience.and_then(|()| stream.read_exact(&mut answer)).is_ok() && answer == *b"hello, host"
}

fn call_name(name: &str) -> bool {
    abstract_name(name).and_then(|address| UnixStream::connect_addr(&address)).is_ok()
}

fn greet_tcp(listener: TcpListener, visitors: &Arc<AtomicUsize>) {
    let visitors = Arc::clone(visitors);
    thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            visitors.fetch_add(1, Ordering::SeqCst);
            let _gone = stream.write_all(GREETING);
        }
    });
}

fn greet_unix(listener: UnixListener, visitors: &Arc<AtomicUsize>) {
    let visitors = Arc::clone(visitors);
    thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            visitors.fetch_add(1, Ordering::SeqCst);
            let _gone = stream.write_all(GREETING);
        }
    });
}

fn echo(socket: UdpSocket, visitors: &Arc<AtomicUsize>) {
    let visitors = Arc::clone(visitors);
    thread::spawn(move || {
        while let Ok((_, from)) = socket.recv_from(&mut [0; 64]) {
            visitors.fetch_add(1, Ordering::SeqCst);
            let _gone = socket.send_to(b"canary-echo", from);
        }
    });
}

fn take(socket: UnixDatagram, visitors: &Arc<AtomicUsize>) {
    let visitors = Arc::clone(visitors);
    thread::spawn(move || {
        while socket.recv(&mut [0; 64]).is_ok() {
            visitors.fetch_add(1, Ordering::SeqCst);
        }
    });
}
