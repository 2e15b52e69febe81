//! The one who answers a browser's events: what may be asked for, and what a page must not do.
//!
//! Every target (page, worker, window) is stopped before its first step, watched, and let go. Each of its
//! requests is judged before it leaves the browser: the second wall, before the proxy, which sees every
//! connection but of an encrypted one only the host. A window that a page opens is closed, and its URL
//! told; a dialog is dismissed; downloads and permissions are denied. A page of dialogs without end is given up.
//!
//! The warden waits for nothing but events: its requests are told, and their answers not awaited, so a
//! browser that does not answer can't hold it up.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use url::Url;

use super::cdp::{Cdp, Event, SessionId};
use super::reach::Reach;
use super::state::{Frame, Hop, State, Target};

/// After how many dialogs between two operations a page is given up.
const PATIENCE: u64 = 20;

/// What the warden works with.
pub(super) struct Warden {
    pub(super) cdp: Cdp,
    pub(super) reach: Arc<Reach>,
    pub(super) state: Arc<watch::Sender<State>>,
    /// The size of a page, in CSS pixels.
    pub(super) size: (u32, u32),
}

impl Warden {
    /// Begins, and goes on until the browser ends. Must be called within a runtime.
    pub(super) fn start(self, mut events: mpsc::Receiver<Event>) {
        self.cdp.tell(
            None,
            "Browser.setDownloadBehavior",
            json!({"behavior": "deny", "eventsEnabled": true}),
        );
        self.watch_targets_of(None);
        tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                self.see(&event);
            }
        });
    }

    fn see(&self, event: &Event) {
        let session = event.session.as_ref();
        match event.method.as_str() {
            "Fetch.requestPaused" => self.judge(session, event.read()),
            "Target.attachedToTarget" => self.attached(event.read()),
            "Target.detachedFromTarget" => self.detached(event.read()),
            "Inspector.targetCrashed" => self.crashed(session),
            "Page.javascriptDialogOpening" => self.dismiss(session, event.read()),
            "Page.windowOpen" => self.wants_window(event.read()),
            "Page.fileChooserOpened" => self.note(|state| state.notices.file_choosers.add("one")),
            "Browser.downloadWillBegin" => {
                let url = event.read::<Located>().map(|located| located.url);
                self.note(|state| state.notices.downloads.add(url.as_deref().unwrap_or("?")));
            }
            "Page.frameStartedLoading" => self.loading(event.read(), true),
            "Page.frameStoppedLoading" => self.loading(event.read(), false),
            "Page.frameNavigated" => self.navigated(event.read()),
            _ => {}
        }
    }

    /// Has each target of a target (or of the browser) stopped at its start and told.
    fn watch_targets_of(&self, session: Option<&SessionId>) {
        let how = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        self.cdp.tell(session, "Target.setAutoAttach", how);
    }

    /// A new target: the page, a window that is closed, or something that works for the page.
    fn attached(&self, told: Option<Attached>) {
        let Some(Attached { session_id: session, target_info: target }) = told else { return };
        if target.kind == "page" {
            let has_none = self.state.borrow().main.is_none();
            if !has_none || target.opener_id.is_some() {
                return self.close_window(&target, &session);
            }
            let main = Target { session: session.clone(), id: target.target_id.clone() };
            self.state.send_modify(|state| state.has_main(main));
        }
        self.prepare(&session, target.kind == "page");
        self.cdp.tell(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
    }

    /// Asks for all that is to be known of a target.
    fn prepare(&self, session: &SessionId, is_page: bool) {
        let tell = |method, params| self.cdp.tell(Some(session), method, params);
        // Its requests; of documents the answers too.
        let patterns = json!({"patterns": [
            {"urlPattern": "*", "requestStage": "Request"},
            {"urlPattern": "*", "requestStage": "Response", "resourceType": "Document"},
        ]});
        tell("Fetch.enable", patterns);
        self.watch_targets_of(Some(session));
        if is_page {
            let (width, height) = self.size;
            tell("Inspector.enable", json!({}));
            tell("Page.enable", json!({}));
            tell("Page.setInterceptFileChooserDialog", json!({"enabled": true}));
            tell(
                "Emulation.setDeviceMetricsOverride",
                json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
            );
        }
    }

    /// A page asks for a window. One comes of it only after a click or a key, and is a target then.
    fn wants_window(&self, told: Option<Located>) {
        self.note(|state| state.notices.windows.add(told.as_ref().map_or("?", |told| &told.url)));
    }

    /// Closes a window. It is let go as well: one that stays stopped stops the page that opened it, where
    /// both are in one process. What it asks for until it is gone is judged as everything is.
    fn close_window(&self, target: &TargetInfo, session: &SessionId) {
        self.prepare(session, false);
        self.cdp.tell(None, "Target.closeTarget", json!({"targetId": target.target_id}));
        self.cdp.tell(Some(session), "Runtime.runIfWaitingForDebugger", json!({}));
    }

    fn dismiss(&self, session: Option<&SessionId>, told: Option<Dialog>) {
        let Some(dialog) = told else { return };
        // A page that wants to be asked before it is left is left.
        let accept = dialog.kind == "beforeunload";
        let text = format!("{}: {}", dialog.kind, dialog.message);
        self.note(|state| state.notices.dialogs.add(&text));
        // One that stays open holds the page, which costs nothing. To end its script does not help: the next
        // dialog is there before.
        if self.state.borrow().notices.dialogs.count > PATIENCE {
            return self.note(|state| state.is_stuck = true);
        }
        self.cdp.tell(session, "Page.handleJavaScriptDialog", json!({"accept": accept}));
    }

    /// Lets a request go, or fails it.
    fn judge(&self, session: Option<&SessionId>, told: Option<Paused>) {
        let Some(paused) = told else { return };
        let is_document = paused.resource_type == "Document";
        let is_top = is_document && self.state.borrow().is_top(&paused.frame_id);
        let id = json!({"requestId": paused.request_id});
        if paused.is_answered() {
            if let Some(hop) = paused.hop().filter(|_| is_top) {
                self.note(|state| state.add_hop(hop));
            }
            return self.cdp.tell(session, "Fetch.continueRequest", id);
        }
        if self.is_refused(&paused.request.url, is_document, is_top) {
            let fail = json!({"requestId": paused.request_id, "errorReason": "BlockedByClient"});
            return self.cdp.tell(session, "Fetch.failRequest", fail);
        }
        self.cdp.tell(session, "Fetch.continueRequest", id);
    }

    /// Whether a request is refused; it is noted then.
    fn is_refused(&self, text: &str, is_document: bool, is_top: bool) -> bool {
        let Ok(url) = Url::parse(text) else { return true };
        // What a page makes by itself leaves no browser.
        let is_own = !is_top && matches!(url.scheme(), "data" | "blob" | "about");
        if is_own || url.as_str() == "about:blank" {
            return false;
        }
        let Err(refusal) = self.reach.check(&url, is_document, is_top) else { return false };
        let asked = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => format!("{}:", url.scheme()),
        };
        self.reach.note(&asked, refusal);
        true
    }

    fn detached(&self, told: Option<Detached>) {
        let Some(Detached { session_id }) = told else { return };
        self.note(|state| {
            if state.main.as_ref().is_some_and(|main| main.session == session_id) {
                state.main = None;
                state.is_loading = false;
            }
        });
    }

    fn crashed(&self, session: Option<&SessionId>) {
        self.note(|state| {
            if state.main.as_ref().map(|main| &main.session) == session {
                state.has_crashed = true;
                state.is_loading = false;
            }
        });
    }

    fn loading(&self, told: Option<InFrame>, is_loading: bool) {
        let Some(InFrame { frame_id }) = told else { return };
        self.note(|state| {
            if state.is_top(&frame_id) {
                state.is_loading = is_loading;
            }
        });
    }

    fn navigated(&self, told: Option<Navigated>) {
        let Some(Navigated { frame }) = told else { return };
        self.note(|state| {
            if frame.parent_id.is_none() && state.is_top(&frame.id) {
                state.has_document(frame);
            }
        });
    }

    fn note(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(change);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: SessionId,
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
    opener_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached {
    session_id: SessionId,
}

#[derive(Deserialize)]
struct Dialog {
    message: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Located {
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InFrame {
    frame_id: String,
}

#[derive(Deserialize)]
struct Navigated {
    frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
    request: Located,
    frame_id: String,
    resource_type: String,
    response_status_code: Option<u16>,
    response_error_reason: Option<Value>,
    #[serde(default)]
    response_headers: Vec<Header>,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

impl Paused {
    fn is_answered(&self) -> bool {
        self.response_status_code.is_some() || self.response_error_reason.is_some()
    }

    fn hop(&self) -> Option<Hop> {
        let kind = self
            .response_headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("content-type"));
        Some(Hop {
            url: self.request.url.clone(),
            status: self.response_status_code?,
            content_type: kind.map(|header| tool_core::clip(&header.value, 200).to_owned()),
        })
    }
}
