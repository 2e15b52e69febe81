//! What is known of a session's page from the events of its browser.

use serde::{Deserialize, Serialize};

use super::cdp::SessionId;

/// How many of a kind are kept; all are counted.
const KEPT: usize = 4;

/// The longest text of one.
const KEPT_BYTES: usize = 300;

/// The most answers of one navigation that are kept.
const HOPS: usize = 32;

/// A target of the protocol: the page that is driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Where it is spoken to.
    pub(super) session: SessionId,
    /// Its id, which is that of its top frame, too.
    pub(super) id: String,
}

/// One answer on the way to a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hop {
    /// What was asked for.
    pub url: String,
    /// The status of the answer.
    pub status: u16,
    /// The type of the document, as the server gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

/// Things of one kind that happened: how many, and the first ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// How many.
    pub count: u64,
    /// The first of them, each clipped.
    pub first: Vec<String>,
}

/// What a page did that nobody asked for, since it was last told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Notices {
    /// Dialogs that were dismissed: kind and text.
    #[serde(skip_serializing_if = "Seen::is_empty")]
    pub dialogs: Seen,
    /// Windows that it wanted to open, by URL. None was.
    #[serde(skip_serializing_if = "Seen::is_empty")]
    pub windows: Seen,
    /// Downloads that were denied, by URL.
    #[serde(skip_serializing_if = "Seen::is_empty")]
    pub downloads: Seen,
    /// Choosers of files that were not opened.
    #[serde(skip_serializing_if = "Seen::is_empty")]
    pub file_choosers: Seen,
    /// Requests that the policy refused: what was asked for, and why.
    #[serde(skip_serializing_if = "Seen::is_empty")]
    pub refused: Seen,
}

/// All of it.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The page, where there is one.
    pub(super) main: Option<Target>,
    /// The document that the page shows.
    pub(super) loader: Option<String>,
    /// Whether it is being loaded.
    pub(super) is_loading: bool,
    /// Whether that is Chromium's own page about an error.
    pub(super) is_error_page: bool,
    /// How many documents it has shown.
    pub(super) documents: u64,
    /// Whether its process has died.
    pub(super) has_crashed: bool,
    /// Whether it was given up, because it opens dialogs without end. Its last one is still open.
    pub(super) is_stuck: bool,
    /// The answers of its last navigation.
    pub(super) hops: Vec<Hop>,
    /// What it did.
    pub(super) notices: Notices,
}

impl Seen {
    pub(super) fn add(&mut self, text: &str) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < KEPT {
            self.first.push(tool_core::clip(text, KEPT_BYTES).to_owned());
        }
    }

    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Notices {
    /// Adds what came before.
    pub(crate) fn precede(&mut self, earlier: &Self) {
        for (later, earlier) in [
            (&mut self.dialogs, &earlier.dialogs),
            (&mut self.windows, &earlier.windows),
            (&mut self.downloads, &earlier.downloads),
            (&mut self.file_choosers, &earlier.file_choosers),
            (&mut self.refused, &earlier.refused),
        ] {
            let first = earlier.first.iter().chain(&later.first).take(KEPT).cloned().collect();
            *later = Seen { count: earlier.count.saturating_add(later.count), first };
        }
    }

    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl State {
    /// Whether this frame is the page's own.
    pub(super) fn is_top(&self, frame: &str) -> bool {
        self.main.as_ref().is_some_and(|main| main.id == frame)
    }

    /// Another page takes the place.
    pub(super) fn has_main(&mut self, target: Target) {
        let notices = std::mem::take(&mut self.notices);
        *self = Self { main: Some(target), notices, documents: self.documents, ..Self::default() };
    }

    /// An answer on the way to a document of the page.
    pub(super) fn add_hop(&mut self, hop: Hop) {
        if self.hops.len() < HOPS {
            self.hops.push(hop);
        }
    }

    /// The page shows another document.
    pub(super) fn has_document(&mut self, frame: Frame) {
        self.loader = Some(frame.loader_id);
        self.is_error_page = frame.unreachable_url.is_some();
        self.documents = self.documents.wrapping_add(1);
        // Until its own end is told: what is told of the one before may come late.
        self.is_loading = true;
    }
}

/// A frame, as the protocol tells it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    pub(super) id: String,
    pub(super) parent_id: Option<String>,
    pub(super) loader_id: String,
    /// What could not be loaded, in a page about that.
    pub(super) unreachable_url: Option<String>,
}
