//! Chromium's DevTools protocol, over two inherited pipes.
//!
//! A pipe and not a port: a port on loopback could be connected to by every process of the machine, and
//! by pages through a name that is rebound. Messages are JSON, each ended by a NUL byte
//! (`--remote-debugging-pipe`: Chromium reads from descriptor 3 and writes to 4).
//!
//! One task reads, one writes. An answer goes to the caller that waits for it, an event to one channel.
//! What Chromium sends is untrusted: a message has a largest size, and one that is no message of the
//! protocol ends the connection, as its end does; every caller is then answered with [`CdpError::Closed`].
//!
//! Source: <https://chromedevtools.github.io/devtools-protocol/>.

mod message;
mod pipes;

use std::collections::HashMap;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::message::{Answer, Request};
pub(crate) use self::message::{Event, SessionId};

/// How many events may wait for whoever takes them. Reading stops meanwhile.
const EVENTS: usize = 1024;

/// How many requests may wait for Chromium to read them.
const REQUESTS: usize = 8192;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CdpError {
    /// Chromium has ended, or said something that is not of the protocol.
    #[error("the browser has ended")]
    Closed,
    /// The deadline passed.
    #[error("{method} was not answered in time")]
    TimedOut {
        /// What was asked.
        method: &'static str,
    },
    /// Chromium answered with an error.
    #[error("{method}: {message}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// What it answered.
        message: String,
    },
}

/// A connection, cheap to clone. The last clone's end closes it.
#[derive(Debug, Clone)]
pub(crate) struct Cdp {
    shared: Arc<Shared>,
    _closes: Arc<DropGuard>,
}

/// What callers and the reading task share.
#[derive(Debug)]
struct Shared {
    next: AtomicU64,
    /// Who waits for which answer; nothing once the connection is closed.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Answer>>>>,
    requests: mpsc::Sender<Vec<u8>>,
    closed: CancellationToken,
}

impl Cdp {
    /// Speaks over two pipes: what Chromium writes, and what it reads.
    ///
    /// # Errors
    /// The pipes can't be waited for.
    pub(crate) fn start(
        from_browser: PipeReader,
        to_browser: PipeWriter,
    ) -> io::Result<(Self, mpsc::Receiver<Event>)> {
        let (requests, queue) = mpsc::channel(REQUESTS);
        let (events, receiver) = mpsc::channel(EVENTS);
        let closed = CancellationToken::new();
        let shared = Arc::new(Shared {
            next: AtomicU64::new(1),
            waiting: Mutex::new(Some(HashMap::new())),
            requests,
            closed: closed.clone(),
        });
        pipes::read(from_browser, Arc::clone(&shared), events)?;
        pipes::write(to_browser, queue, closed.clone())?;
        Ok((Self { shared, _closes: Arc::new(closed.drop_guard()) }, receiver))
    }

    /// Asks for something and waits for the answer, which is read as `T`.
    ///
    /// # Errors
    /// As [`CdpError`] says; an answer of another shape is [`CdpError::Refused`].
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&SessionId>,
        method: &'static str,
        params: Value,
        deadline: Instant,
    ) -> Result<T, CdpError> {
        let (id, answer) = self.shared.register()?;
        let request = Request { id, method, params: &params, session_id: session };
        let mut waiting = Waiting { shared: &self.shared, id };
        self.shared.send(&request)?;
        let answer = timeout_at(deadline, answer).await;
        waiting.id = 0;
        match answer {
            Err(_) => {
                self.shared.forget(id);
                Err(CdpError::TimedOut { method })
            }
            Ok(Err(_)) => Err(CdpError::Closed),
            Ok(Ok(answer)) => {
                answer.read().map_err(|message| CdpError::Refused { method, message })
            }
        }
    }

    /// Asks for something whose answer nobody needs.
    pub(crate) fn tell(&self, session: Option<&SessionId>, method: &'static str, params: Value) {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let request = Request { id, method, params: &params, session_id: session };
        // An error is the connection's end, which is noticed where somebody waits.
        let _ = self.shared.send(&request);
    }

    /// Whether Chromium has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    /// Resolves when it has.
    pub(crate) async fn closed(&self) {
        self.shared.closed.cancelled().await;
    }
}

/// Takes a caller off the list that was dropped while it waited.
struct Waiting<'a> {
    shared: &'a Shared,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.id != 0 {
            self.shared.forget(self.id);
        }
    }
}

impl Shared {
    /// A new number, and where its answer will come.
    fn register(&self) -> Result<(u64, oneshot::Receiver<Answer>), CdpError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_mut().ok_or(CdpError::Closed)?.insert(id, sender);
        Ok((id, receiver))
    }

    /// Queues a request. A browser that reads none of thousands is not one to wait for.
    fn send(&self, request: &Request<'_>) -> Result<(), CdpError> {
        let bytes = request.to_bytes().map_err(|_| CdpError::Closed)?;
        self.requests.try_send(bytes).map_err(|_| {
            self.close();
            CdpError::Closed
        })
    }

    fn forget(&self, id: u64) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = waiting.as_mut() {
            waiting.remove(&id);
        }
    }

    /// Gives an answer to whoever waits for it.
    fn answer(&self, id: u64, answer: Answer) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = waiting.as_mut().and_then(|waiting| waiting.remove(&id)) {
            // A caller that has just given up needs none.
            let _ = sender.send(answer);
        }
    }

    /// Answers everybody who waits, now and later, with the end.
    fn close(&self) {
        self.closed.cancel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    /// A connection whose other side is the test.
    fn pair() -> (Cdp, mpsc::Receiver<Event>, PipeReader, PipeWriter) {
        let (from_us, to_browser) = io::pipe().unwrap();
        let (from_browser, to_us) = io::pipe().unwrap();
        let (cdp, events) = Cdp::start(from_browser, to_browser).unwrap();
        (cdp, events, from_us, to_us)
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    async fn ask(cdp: &Cdp) -> Result<Value, CdpError> {
        cdp.call(None, "Some.method", json!({"a": 1}), soon()).await
    }

    #[tokio::test]
    async fn an_answer_finds_its_caller_and_an_event_the_channel() {
        let (cdp, mut events, mut requests, mut answers) = pair();
        let played = std::thread::spawn(move || {
            let mut bytes = [0; 200];
            let length = requests.read(&mut bytes).unwrap();
            let text = "{\"method\":\"An.event\",\"params\":{\"x\":2},\"sessionId\":\"S\"}\0\
                        {\"id\":99,\"result\":{}}\0{\"id\":1,\"resu";
            answers.write_all(text.as_bytes()).unwrap();
            answers.write_all(b"lt\":{\"y\":3}}\0").unwrap();
            (bytes[..length].to_vec(), answers, requests)
        });
        assert_eq!(ask(&cdp).await.unwrap(), json!({"y": 3}));
        let event = events.recv().await.unwrap();
        assert_eq!(
            (event.method.as_str(), event.read::<Value>()),
            ("An.event", Some(json!({"x": 2})))
        );
        let (asked, _answers, _requests) = played.join().unwrap();
        assert_eq!(asked.last(), Some(&0));
        let asked: Value = serde_json::from_slice(&asked[..asked.len() - 1]).unwrap();
        assert_eq!(asked, json!({"id": 1, "method": "Some.method", "params": {"a": 1}}));
    }

    #[tokio::test]
    async fn the_end_and_what_is_no_message_answer_everybody() {
        for last in ["", "no JSON\0", "[]\0", "{\"id\":\"one\"}\0"] {
            let (cdp, mut events, _requests, mut answers) = pair();
            let asked = tokio::spawn({
                let cdp = cdp.clone();
                async move { ask(&cdp).await }
            });
            tokio::task::yield_now().await;
            answers.write_all(last.as_bytes()).unwrap();
            if last.is_empty() {
                drop(answers);
            }
            assert_eq!(asked.await.unwrap(), Err(CdpError::Closed), "{last}");
            assert_eq!(ask(&cdp).await, Err(CdpError::Closed), "{last}");
            assert!(cdp.is_closed());
            assert!(events.recv().await.is_none());
        }
    }

    #[tokio::test]
    async fn a_call_has_a_deadline_and_an_error_is_told() {
        let (cdp, _events, _requests, mut answers) = pair();
        let now = Instant::now();
        let late = cdp.call::<Value>(None, "A.b", json!({}), now).await;
        assert_eq!(late, Err(CdpError::TimedOut { method: "A.b" }));
        answers.write_all(b"{\"id\":2,\"error\":{\"code\":-1,\"message\":\"no\"}}\0").unwrap();
        let refused = CdpError::Refused { method: "Some.method", message: "no".to_owned() };
        assert_eq!(ask(&cdp).await, Err(refused));
    }
}
