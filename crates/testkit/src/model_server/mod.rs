//! A scripted model server on this machine, for tests of whoever talks to a model over HTTP.
//!
//! It answers any `POST` with the next of its [`Step`]s, whatever was asked, so it speaks the wire
//! format of whoever wrote the steps: OpenAI's, Anthropic's, or none. Every request is recorded.
//! A request after the last step is answered with 404, which no client tries again. A server can also
//! be a program ([`ModelServer::answering`]): it makes each answer from the request.
//!
//! The server has a thread and a runtime of its own, so it works in a test of any kind, also one that
//! starts a program and blocks. Dropping it ends it.

mod reply;
mod step;

use std::{
    collections::VecDeque,
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use axum::{Router, extract::State, routing::any};
use serde_json::Value;
use tokio::{net::TcpListener, runtime::Builder, sync::oneshot};

pub use step::Step;

/// The most bytes of one recorded request.
const MAX_REQUEST: usize = 64 * 1024 * 1024;

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl RecordedRequest {
    /// The first header of a name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What server and test share.
struct Script {
    steps: Mutex<VecDeque<Step>>,
    /// Makes the answers, where the server is a program.
    program: Option<Box<Program>>,
    requests: Mutex<Vec<RecordedRequest>>,
}

type Program = dyn Fn(&RecordedRequest) -> Step + Send + Sync;

/// A running server. Dropping it ends it.
pub struct ModelServer {
    address: SocketAddr,
    script: Arc<Script>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server on a free port of `127.0.0.1`.
    ///
    /// # Errors
    /// Where no port or thread is to be had.
    pub fn start(steps: impl IntoIterator<Item = Step>) -> io::Result<Self> {
        Self::serve(steps.into_iter().collect(), None)
    }

    /// Starts a server that makes each answer from the request: slow, failing, hanging or garbage ones
    /// as a [`Step`] can be.
    ///
    /// # Errors
    /// Where no port or thread is to be had.
    pub fn answering(
        program: impl Fn(&RecordedRequest) -> Step + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::serve(VecDeque::new(), Some(Box::new(program)))
    }

    fn serve(steps: VecDeque<Step>, program: Option<Box<Program>>) -> io::Result<Self> {
        let (steps, requests) = (Mutex::new(steps), Mutex::default());
        let script = Arc::new(Script { steps, program, requests });
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // The caller may be inside of a runtime, where another can't be waited for; so the port is
        // taken here, and everything else happens on the server's own thread.
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (end, ended) = oneshot::channel();
        let router = Router::new().fallback(any(answer)).with_state(Arc::clone(&script));
        let thread =
            std::thread::Builder::new().name("model-server".to_owned()).spawn(move || {
                runtime.block_on(serve(listener, router, ended));
                // Answers that still wait are not waited for.
                runtime.shutdown_background();
            })?;
        Ok(Self { address, script, end: Some(end), thread: Some(thread) })
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.script.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many steps are left.
    #[must_use]
    pub fn steps_left(&self) -> usize {
        self.script.steps.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Adds a step at the end.
    pub fn push(&self, step: Step) {
        self.script.steps.lock().unwrap_or_else(PoisonError::into_inner).push_back(step);
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            // An error means that the server has ended by itself.
            let _ = end.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves until the other end of `ended` says so, or is gone.
async fn serve(listener: std::net::TcpListener, router: Router, ended: oneshot::Receiver<()>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    tokio::select! {
        _ = async { axum::serve(listener, router).await } => {}
        _ = ended => {}
    }
}

async fn answer(
    State(script): State<Arc<Script>>,
    request: axum::extract::Request,
) -> axum::response::Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MAX_REQUEST).await.unwrap_or_default();
    let headers = head.headers.iter().map(|(name, value)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let recorded = RecordedRequest {
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: headers.collect(),
        body: body.to_vec(),
    };
    let made = script.program.as_ref().map(|program| program(&recorded));
    script.requests.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
    let next = || script.steps.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let step = made.or_else(next);
    let step = step.unwrap_or_else(|| Step::error(404, "the script of this server is at its end"));
    tokio::time::sleep(step.delay).await;
    reply::reply(step)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpStream,
    };

    use super::*;

    /// Posts a body without any HTTP library, and gives the whole answer.
    fn post(server: &ModelServer, body: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST /v1/x?y=1 HTTP/1.1\r\nhost: h\r\nX-Test: 1\r\nconnection: close\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = Vec::new();
        // A connection that is cut off is an error here, or simply the end.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    #[test]
    fn steps_are_given_in_order_and_requests_recorded() {
        let busy = Step::error(429, "busy").header("retry-after", "1");
        let server =
            ModelServer::start([busy, Step::events("data: x\n\n").in_pieces_of(4)]).unwrap();
        let first = post(&server, "{\"a\": 1}");
        assert!(first.starts_with("HTTP/1.1 429") && first.contains("retry-after: 1"), "{first}");
        let second = post(&server, "");
        assert!(second.contains("text/event-stream") && second.ends_with("0\r\n\r\n"), "{second}");
        assert!(post(&server, "").starts_with("HTTP/1.1 404"));
        let requests = server.requests();
        assert_eq!((requests.len(), server.steps_left()), (3, 0));
        assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/x?y=1"));
        assert_eq!(requests[0].header("x-test"), Some("1"));
        assert_eq!(requests[0].json(), serde_json::json!({"a": 1}));
    }

    #[test]
    fn a_program_makes_each_answer_from_its_request() {
        let server = ModelServer::answering(|request| match request.json()["n"].as_u64() {
            Some(n) => Step::json(&serde_json::json!({"twice": n * 2})),
            None => Step::error(400, "no number"),
        });
        let server = server.unwrap();
        assert!(post(&server, "{\"n\": 21}").ends_with("{\"twice\":42}"));
        assert!(post(&server, "{}").starts_with("HTTP/1.1 400"));
        assert_eq!(server.requests().len(), 2);
    }

    #[test]
    fn a_cut_answer_has_no_end() {
        let server = ModelServer::start([Step::events("data: x\n\n").cut()]).unwrap();
        let answer = post(&server, "");
        assert!(answer.contains("data: x") && !answer.ends_with("0\r\n\r\n"), "{answer}");
    }

    #[test]
    fn dropping_it_ends_it_at_once() {
        let slow = Step::json(&Value::Null).delay(std::time::Duration::from_secs(600));
        let server = ModelServer::start([slow]).unwrap();
        let address = server.address;
        let mut waiting = TcpStream::connect(address).unwrap();
        write!(waiting, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n").unwrap();
        while server.requests().is_empty() {
            std::thread::yield_now();
        }
        drop(server);
        assert!(TcpStream::connect(address).is_err());
        let mut answer = Vec::new();
        let _ = waiting.read_to_end(&mut answer);
        assert!(answer.is_empty(), "{answer:?}");
    }
}
