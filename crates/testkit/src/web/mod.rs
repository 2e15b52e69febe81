//! A web server that does what it is told, also what no server should.
//!
//! It answers byte by byte what a function says, counts connections before anything is sent, and keeps
//! every request as it came. [`Answer`] is a proper answer or a script of bytes and pauses; [`lies`] are
//! scripts of servers that misbehave. It has a thread and a runtime of its own, and ends when it is
//! dropped.

mod answer;
pub mod lies;

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Builder,
    sync::oneshot,
    task::JoinSet,
};

pub use answer::{Answer, Part};

/// A request as it came over the wire.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebRequest {
    /// The method.
    pub method: String,
    /// Path and query, or whatever stands in their place.
    pub target: String,
    /// Every header line, in order, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, by its `Content-Length`.
    pub body: Vec<u8>,
}

impl WebRequest {
    /// The first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

type Respond = dyn Fn(&WebRequest) -> Answer + Send + Sync;

/// What is seen of the server from outside.
#[derive(Debug, Default)]
struct Seen {
    connections: AtomicUsize,
    open: AtomicUsize,
    most_at_once: AtomicUsize,
    requests: Mutex<Vec<WebRequest>>,
}

/// A server on a port of 127.0.0.1.
#[derive(Debug)]
pub struct WebServer {
    address: SocketAddr,
    seen: Arc<Seen>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl WebServer {
    /// Starts a server that answers each request by `respond`.
    ///
    /// # Errors
    /// There is no port, or no thread.
    pub fn start(
        respond: impl Fn(&WebRequest) -> Answer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (seen, respond) = (Arc::new(Seen::default()), Arc::new(respond));
        let (end, ended) = oneshot::channel::<()>();
        let shown = Arc::clone(&seen);
        let thread =
            std::thread::Builder::new().name("web-server".to_owned()).spawn(move || {
                runtime.block_on(async {
                    let Ok(listener) = TcpListener::from_std(listener) else { return };
                    tokio::select! {
                        () = serve(listener, shown, respond) => {}
                        _ = ended => {}
                    }
                });
                // Answers that still wait are not waited for.
                runtime.shutdown_background();
            })?;
        Ok(Self { address, seen, end: Some(end), thread: Some(thread) })
    }

    /// Starts a server that always gives this answer.
    ///
    /// # Errors
    /// There is no port, or no thread.
    pub fn always(answer: Answer) -> io::Result<Self> {
        Self::start(move |_| answer.clone())
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `127.0.0.1:port`.
    #[must_use]
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The URL of a path that begins with a slash.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many connections were made, also those without a request.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// The most connections that were open at once.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.seen.most_at_once.load(Ordering::SeqCst)
    }

    /// Every request that was read whole, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<WebRequest> {
        self.seen.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ended = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, seen: Arc<Seen>, respond: Arc<Respond>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        seen.connections.fetch_add(1, Ordering::SeqCst);
        let open = seen.open.fetch_add(1, Ordering::SeqCst) + 1;
        seen.most_at_once.fetch_max(open, Ordering::SeqCst);
        let (seen, respond) = (Arc::clone(&seen), Arc::clone(&respond));
        connections.spawn(async move {
            // A client that goes away is part of what is tested.
            let _gone = converse(stream, &seen, &*respond).await;
            seen.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

/// Answers the requests of one connection until an answer ends it.
async fn converse(mut stream: TcpStream, seen: &Seen, respond: &Respond) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        let answer = respond(&request);
        seen.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        if !answer.send(&mut stream).await? {
            break;
        }
    }
    stream.shutdown().await
}

async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<WebRequest>> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        // Nor does it speak TLS, of which this is how a client begins.
        if stream.read_buf(buffer).await? == 0 || buffer.first() == Some(&0x16) {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let mut lines = head.split("\r\n").filter(|line| !line.is_empty());
    let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let mut request = WebRequest {
        method: first.next().unwrap_or_default(),
        target: first.next().unwrap_or_default(),
        ..WebRequest::default()
    };
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    let whole = end + length.unwrap_or(0_usize);
    while buffer.len() < whole {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    request.body = buffer[end..whole].to_vec();
    buffer.drain(..whole);
    Ok(Some(request))
}
