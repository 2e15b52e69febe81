//! Opening a URL, and waiting for a page to come to rest.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout_at};

use super::super::state::{Frame, Hop, Notices, Target};
use super::{EngineError, Page};

/// How long a page must be quiet to be at rest.
const QUIET: Duration = Duration::from_millis(50);

/// How often a page may go on to the next by itself until it is taken as it is.
const ONWARD: usize = 5;

/// What is kept of a deadline for saying what there is.
const RESERVE: Duration = Duration::from_millis(500);

/// What Chromium says of a navigation that something else took the place of.
const ABORTED: &str = "net::ERR_ABORTED";

/// After how long without an event a page is asked which document it shows.
const ASK: Duration = Duration::from_millis(500);

/// What came of opening a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Visit {
    /// The status of the answer; nothing where none came over HTTP.
    pub status: Option<u16>,
    /// Where the page is now.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The type of the document, as the server gave it.
    pub content_type: Option<String>,
    /// Every answer on the way, the last one that of the page.
    pub hops: Vec<Hop>,
    /// Whether everything was loaded. What was still missing after a while was not waited for.
    pub is_complete: bool,
    /// What happened meanwhile that nobody asked for.
    pub notices: Notices,
}

/// Where a page is.
#[derive(Debug, Deserialize)]
pub(super) struct Place {
    pub(super) url: String,
    pub(super) title: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    error_text: Option<String>,
    loader_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    frame_tree: Top,
}

#[derive(Deserialize)]
struct Top {
    frame: Frame,
}

impl Page {
    /// Opens a URL in the page, and waits until it is loaded, for a while.
    ///
    /// # Errors
    /// The policy refuses it, no page came of it, or the deadline passed.
    pub async fn navigate(&mut self, url: &str, deadline: Instant) -> Result<Visit, EngineError> {
        let url = self.reach.enter(url)?;
        let begun = Instant::now();
        let target = self.begin_or_replace(deadline).await?;
        let _ = self.take_notices();
        self.changes.send_modify(|state| state.hops.clear());
        let done = self.load(&target, url.as_str(), deadline).await;
        self.finish(done).map_err(|error| error.after(begun.elapsed()))
    }

    /// As [`begin`](Self::begin), with a new page where there is none that works.
    async fn begin_or_replace(&mut self, deadline: Instant) -> Result<Target, EngineError> {
        match self.begin(deadline).await {
            Err(EngineError::Crashed | EngineError::Stuck) => {
                let state = self.state.borrow().clone();
                let target = match state.main {
                    Some(main) if !state.has_crashed => main,
                    _ => self.replace(deadline).await?,
                };
                self.is_suspect = true;
                Ok(target)
            }
            answer => answer,
        }
    }

    async fn load(
        &mut self,
        target: &Target,
        url: &str,
        deadline: Instant,
    ) -> Result<Visit, EngineError> {
        let before = self.state.borrow().documents;
        let Navigated { error_text, loader_id } =
            self.call(target, "Page.navigate", json!({"url": url}), deadline).await?;
        if let Some(problem) = error_text {
            if problem == ABORTED {
                // Why is told a moment later, where it is a download.
                let told = self.state.wait_for(|state| !state.notices.downloads.is_empty());
                let _ = timeout_at(deadline.min(Instant::now() + RESERVE), told).await;
            }
            return Err(self.not_loaded(problem));
        }
        if let Some(loader) = loader_id {
            self.await_document(target, &loader, before, deadline).await?;
        }
        let is_complete = self.come_to_rest(target, deadline).await?;
        // A script or a refresh may have led on to nothing.
        if self.state.borrow().is_error_page {
            return Err(self.not_loaded("it led on to what can't be loaded".to_owned()));
        }
        let Place { url, title } = self.place(target, deadline).await?;
        let hops = self.state.borrow().hops.clone();
        let last = hops.last().cloned();
        let notices = self.take_notices();
        let (status, content_type) = last.map(|hop| (hop.status, hop.content_type)).unzip();
        let content_type = content_type.flatten();
        Ok(Visit { status, url, title, content_type, hops, is_complete, notices })
    }

    /// Waits until the page shows another document than the one that was the `before`th. The answer to a
    /// navigation may overtake the event, and what is known until then is of the document before. The
    /// event is missing at times, where the page's process is a new one, so the page is asked as well.
    async fn await_document(
        &mut self,
        target: &Target,
        loader: &str,
        before: u64,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let latest = deadline.min(Instant::now() + self.load_timeout);
        while Instant::now() < latest {
            let shown = self
                .state
                .wait_for(|state| state.documents != before || state.has_crashed || state.is_stuck);
            if timeout_at(latest.min(Instant::now() + ASK), shown).await.is_ok() {
                return Ok(());
            }
            let asking = self.call::<Frames>(target, "Page.getFrameTree", json!({}), latest);
            if let Ok(Frames { frame_tree }) = asking.await
                && frame_tree.frame.loader_id == loader
            {
                self.changes.send_modify(|state| {
                    let is_loading = state.is_loading;
                    state.has_document(frame_tree.frame);
                    state.is_loading = is_loading;
                });
                return Ok(());
            }
        }
        Err(EngineError::TimedOut { what: "the page", after: Duration::ZERO })
    }

    /// Why there is no page.
    fn not_loaded(&self, problem: String) -> EngineError {
        let notices = Box::new(self.take_notices());
        let problem = match (problem.as_str(), notices.refused.first.first()) {
            (_, Some(refused)) => format!("refused, {refused}"),
            (ABORTED, None) if !notices.downloads.is_empty() => {
                "it is a download, and downloads are denied".to_owned()
            }
            _ => problem,
        };
        EngineError::NotLoaded { problem, notices }
    }

    /// Waits until nothing is being loaded; whether that came. What never ends is stopped.
    pub(super) async fn come_to_rest(
        &mut self,
        target: &Target,
        deadline: Instant,
    ) -> Result<bool, EngineError> {
        let latest = deadline.checked_sub(RESERVE).unwrap_or(deadline);
        let latest = latest.min(Instant::now() + self.load_timeout);
        for _ in 0..ONWARD {
            let cdp = self.cdp.clone();
            let at_rest = self.state.wait_for(|state| !state.is_loading || state.is_stuck);
            let came = tokio::select! {
                () = cdp.closed() => return Err(EngineError::Ended),
                came = timeout_at(latest, at_rest) => came.is_ok(),
            };
            if !came {
                self.cdp.tell(Some(&target.session), "Page.stopLoading", json!({}));
                return Ok(false);
            }
            if self.state.borrow().has_crashed {
                return Err(EngineError::Crashed);
            }
            if self.state.borrow().is_stuck {
                return Ok(false);
            }
            sleep(QUIET).await;
            if !self.state.borrow().is_loading {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where the page is. The browser is asked, which answers also where the page is busy.
    pub(super) async fn place(
        &self,
        target: &Target,
        deadline: Instant,
    ) -> Result<Place, EngineError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Told {
            target_info: Place,
        }
        let asked = json!({"targetId": target.id});
        let Told { target_info } =
            self.cdp.call(None, "Target.getTargetInfo", asked, deadline).await?;
        Ok(Place {
            url: tool_core::clip(&target_info.url, 8192).to_owned(),
            title: tool_core::clip(&target_info.title, 1024).to_owned(),
        })
    }
}
