//! A page: one browser of its own, and what can be done in it.
//!
//! A page has its own Chromium, confined by itself, with a profile, cookies, a proxy and a reach of its
//! own, so what keeps two pages apart is the kernel. Dropping it ends the browser with all that it holds.
//!
//! Every operation has a deadline and leaves the page usable: where one was not finished (it took too long,
//! or its caller went away), the next one first ends the script that runs, and takes a new page in the
//! same browser where the old one does not come back.
//!
//! - [`navigate`]: opening a URL, waiting for a page to come to rest.
//! - [`element`]: from a name to an element that can be used.
//! - [`input`], [`keys`], [`geometry`], [`scripts`]: clicking, typing, pressing, scrolling.
//! - [`snapshot`], [`tree`]: the page as a tree of what a person would hear of it.
//! - [`screenshot`], [`content`]: the page as an image, and as HTML.

mod content;
mod element;
mod geometry;
mod input;
mod keys;
mod navigate;
mod screenshot;
mod scripts;
mod snapshot;
mod tree;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use confine::Prepared;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

pub use self::content::Rendered;
pub use self::element::Locator;
pub use self::input::{Acted, Scrolled, Towards};
pub use self::navigate::Visit;
pub use self::screenshot::{ImageFormat, Screenshot, Shot};
pub use self::snapshot::Snapshot;

use self::element::References;
use super::cdp::Cdp;
use super::launch::{self, Launched, Running};
use super::proxy::Proxy;
use super::reach::Reach;
use super::state::{Notices, State, Target};
use super::warden::Warden;
use super::{EngineError, Program, Settings};
use crate::policy::Dialer;

/// How long a browser may take to start.
const START: Duration = Duration::from_secs(30);

/// How long a page may take to come back after its script was ended.
const COME_BACK: Duration = Duration::from_secs(2);

/// A live page.
#[derive(Debug)]
pub struct Page {
    running: Running,
    cdp: Cdp,
    _proxy: Proxy,
    reach: Arc<Reach>,
    changes: Arc<watch::Sender<State>>,
    state: watch::Receiver<State>,
    references: References,
    load_timeout: Duration,
    /// Whether an operation was begun and not finished.
    is_suspect: bool,
}

impl Page {
    /// Starts a browser with an empty page.
    pub(super) async fn open(
        program: &Program,
        settings: &Settings,
        prepared: Prepared,
        dialer: Dialer,
    ) -> Result<Self, EngineError> {
        let (program, wanted) = (program.clone(), settings.clone());
        let launching =
            tokio::task::spawn_blocking(move || launch::launch(&program, &wanted, &prepared));
        let Launched { running, cdp, events, listener } =
            launching.await.map_err(io::Error::other)??;
        let reach = Arc::new(Reach::new(dialer));
        let proxy = Proxy::serve(listener, Arc::clone(&reach))?;
        let changes = Arc::new(watch::Sender::new(State::default()));
        let warden = Warden {
            cdp: cdp.clone(),
            reach: Arc::clone(&reach),
            state: Arc::clone(&changes),
            size: (settings.width, settings.height),
        };
        warden.start(events);
        let mut page = Self {
            running,
            cdp,
            _proxy: proxy,
            reach,
            state: changes.subscribe(),
            changes,
            references: References::default(),
            load_timeout: settings.load_timeout,
            is_suspect: false,
        };
        match page.await_target(Instant::now() + START).await {
            Ok(_) => Ok(page),
            Err(_) => Err(page.explain_start().await),
        }
    }

    /// Why it did not start.
    async fn explain_start(self) -> EngineError {
        let running = self.running;
        let said = tokio::task::spawn_blocking(move || running.end()).await.unwrap_or_default();
        let said = if said.is_empty() { "it showed no page".to_owned() } else { said };
        EngineError::Start { said }
    }

    /// What the kernel enforces on the browser.
    #[must_use]
    pub fn confinement(&self) -> Arc<Value> {
        Arc::clone(&self.running.confinement)
    }

    /// The number of the browser's first process; nothing once that is gone.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.running.pid()
    }

    /// Whether the browser has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.cdp.is_closed()
    }

    /// What happened that nobody asked for, since this was last asked.
    pub fn take_notices(&self) -> Notices {
        let mut notices = Notices::default();
        self.changes.send_modify(|state| notices = std::mem::take(&mut state.notices));
        let refused = self.reach.take_refused();
        for (asked, refusal) in &refused.first {
            notices.refused.add(&format!("{asked}: {refusal}"));
        }
        notices.refused.count = refused.count;
        notices
    }

    /// The page's target, once there is one.
    async fn await_target(&mut self, deadline: Instant) -> Result<Target, EngineError> {
        let cdp = self.cdp.clone();
        let changed = self.state.wait_for(|state| state.main.is_some());
        let state = tokio::select! {
            () = cdp.closed() => return Err(EngineError::Ended),
            state = tokio::time::timeout_at(deadline, changed) => state,
        };
        let target = state.ok().and_then(Result::ok).and_then(|state| state.main.clone());
        target.ok_or(EngineError::TimedOut { what: "an empty page", after: Duration::ZERO })
    }

    /// Begins an operation on the page as it is: what an earlier one left unfinished is ended first.
    async fn begin(&mut self, deadline: Instant) -> Result<Target, EngineError> {
        if self.cdp.is_closed() {
            return Err(EngineError::Ended);
        }
        if self.is_suspect && !self.state.borrow().is_stuck {
            self.bring_back(deadline).await?;
        }
        self.is_suspect = false;
        let state = self.state.borrow().clone();
        if state.is_stuck {
            self.replace(deadline).await?;
            return Err(EngineError::Stuck);
        }
        match state.main {
            Some(main) if !state.has_crashed => {
                self.is_suspect = true;
                Ok(main)
            }
            _ => Err(EngineError::Crashed),
        }
    }

    /// Ends an operation: whatever came of it, the page has answered, unless time ran out.
    fn finish<T>(&mut self, done: Result<T, EngineError>) -> Result<T, EngineError> {
        self.is_suspect = matches!(done, Err(EngineError::TimedOut { .. }));
        if !self.is_suspect && self.state.borrow().has_crashed && done.is_err() {
            return Err(EngineError::Crashed);
        }
        done
    }

    /// Ends the script that runs; where the page does not come back, another takes its place.
    async fn bring_back(&mut self, deadline: Instant) -> Result<(), EngineError> {
        let Some(main) = self.state.borrow().main.clone() else { return Ok(()) };
        self.cdp.tell(Some(&main.session), "Page.stopLoading", json!({}));
        self.cdp.tell(Some(&main.session), "Runtime.terminateExecution", json!({}));
        let soon = deadline.min(Instant::now() + COME_BACK);
        let asked = json!({"expression": "1", "returnByValue": true});
        let answer =
            self.cdp.call::<Value>(Some(&main.session), "Runtime.evaluate", asked, soon).await;
        match answer {
            Err(super::cdp::CdpError::TimedOut { .. }) => {
                self.replace(deadline).await?;
                self.is_suspect = false;
                Err(EngineError::Crashed)
            }
            Err(super::cdp::CdpError::Closed) => Err(EngineError::Ended),
            _ => {
                self.is_suspect = false;
                Ok(())
            }
        }
    }

    /// Takes a new page in the same browser.
    async fn replace(&mut self, deadline: Instant) -> Result<Target, EngineError> {
        let old = self.state.borrow().main.clone();
        self.changes.send_modify(|state| state.main = None);
        if let Some(old) = old {
            self.cdp.tell(None, "Target.closeTarget", json!({"targetId": old.id}));
        }
        let empty = json!({"url": "about:blank"});
        self.cdp.call::<Value>(None, "Target.createTarget", empty, deadline).await?;
        self.await_target(deadline).await
    }

    /// Asks the page's target for something.
    async fn call<T: DeserializeOwned>(
        &self,
        target: &Target,
        method: &'static str,
        params: Value,
        deadline: Instant,
    ) -> Result<T, EngineError> {
        let mut state = self.state.clone();
        let stuck = state.wait_for(|state| state.is_stuck);
        tokio::select! {
            biased;
            answer = self.cdp.call(Some(&target.session), method, params, deadline) => Ok(answer?),
            _ = stuck => Err(EngineError::Stuck),
        }
    }

    /// The value of an expression in a world of its own, which scripts of the page can't see into.
    async fn evaluate<T: DeserializeOwned>(
        &self,
        target: &Target,
        expression: &str,
        deadline: Instant,
    ) -> Result<T, EngineError> {
        let world = json!({"frameId": target.id, "worldName": "remit"});
        let World { execution_context_id } =
            self.call(target, "Page.createIsolatedWorld", world, deadline).await?;
        let asked = json!({
            "expression": expression,
            "contextId": execution_context_id,
            "returnByValue": true,
        });
        let Evaluated { result, exception_details } =
            self.call(target, "Runtime.evaluate", asked, deadline).await?;
        if let Some(exception) = exception_details {
            return Err(EngineError::Browser(exception.in_words()));
        }
        serde_json::from_value(result.value.unwrap_or_default())
            .map_err(|error| EngineError::Browser(error.to_string()))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct World {
    execution_context_id: u64,
}

/// What an expression or a function gave.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: Remote,
    exception_details: Option<Exception>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remote {
    value: Option<Value>,
    object_id: Option<String>,
}

#[derive(Deserialize)]
struct Exception {
    text: String,
    exception: Option<Thrown>,
}

#[derive(Deserialize)]
struct Thrown {
    description: Option<String>,
}

impl Exception {
    /// Its first line.
    fn in_words(self) -> String {
        let thrown = self.exception.and_then(|thrown| thrown.description);
        let text = thrown.unwrap_or(self.text);
        tool_core::clip(text.lines().next().unwrap_or_default(), 300).to_owned()
    }
}
