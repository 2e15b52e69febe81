//! What we know of an answer, as opposed to what it says.
//!
//! These stand outside of the mark of untrusted content, so of what a server chose there are only the
//! status, URLs in their parsed form and the media type, and all of them are bounded.

use serde_json::{Map, Value, json};
use tool_core::clip;
use url::Url;

use crate::{
    Fetched,
    extract::{Extracted, Kind},
};

/// The longest URL and the longest type that are shown, in bytes.
const MAX_URL: usize = 2048;
const MAX_TYPE: usize = 120;
/// The most addresses of a list.
const MAX_LISTED: usize = 20;

/// Facts in the order in which they are put.
#[derive(Debug, Default)]
pub(super) struct Facts(Map<String, Value>);

impl Facts {
    /// The facts of every answer.
    pub(super) fn of(fetched: &Fetched) -> Self {
        let mut facts = Self::default();
        facts.put("status", fetched.status.as_u16());
        facts.put("url", shown(&fetched.url));
        if !fetched.redirects.is_empty() {
            let hop = |hop: &crate::Hop| json!({"url": shown(&hop.url), "status": hop.status});
            facts.put("redirects", fetched.redirects.iter().map(hop).collect::<Vec<_>>());
        }
        if let Some(kind) = fetched.content_type() {
            facts.put("content_type", media_type(kind));
        }
        facts.put("bytes", fetched.body.len());
        facts.put_if("truncated", fetched.is_truncated);
        facts.put_if("incomplete", fetched.is_incomplete);
        if let Some(after) = fetched.retry_after {
            facts.put("retry_after_s", after.as_secs());
        }
        facts
    }

    /// The facts of an extraction.
    pub(super) fn put_extracted(&mut self, extracted: &Extracted) {
        self.put("kind", extracted.kind.as_str());
        if extracted.kind != Kind::Pdf {
            self.put("charset", extracted.charset.name);
            self.put_if("charset_errors", extracted.charset.malformed);
        }
        if let Some(matches) = extracted.matches {
            self.put("matches", matches);
        }
        self.put_if("needs_javascript", extracted.needs_javascript);
        self.put_if("unfiltered", extracted.unfiltered);
        if extracted.hidden_characters > 0 {
            self.put("hidden_characters", extracted.hidden_characters);
        }
        if let Some(cut) = extracted.cut {
            self.put("cut_by", cut.as_str());
        }
        if !extracted.refreshes.is_empty() {
            let one = |refresh: &crate::extract::Refresh| json!({"url": shown(&refresh.url), "after_s": refresh.after.as_secs()});
            self.put(
                "refreshes",
                extracted.refreshes.iter().take(MAX_LISTED).map(one).collect::<Vec<_>>(),
            );
        }
        if !extracted.frames.is_empty() {
            let all = extracted.frames.iter().take(MAX_LISTED).map(shown);
            self.put("frames", all.collect::<Vec<_>>());
        }
    }

    pub(super) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// A flag, where it is set.
    pub(super) fn put_if(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.put(name, true);
        }
    }

    pub(super) fn into_json(self) -> Value {
        Value::Object(self.0)
    }

    /// The bytes that they take in a result.
    pub(super) fn len_bytes(&self) -> usize {
        Value::Object(self.0.clone()).to_string().len()
    }
}

/// A URL as it is shown: bounded, and all of it ASCII.
pub(super) fn shown(url: &Url) -> String {
    clip(url.as_str(), MAX_URL).to_owned()
}

/// The media type without its parameters, as far as it is one.
fn media_type(text: &str) -> String {
    let text = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_one = |c: char| c.is_ascii_alphanumeric() || "/+-._".contains(c);
    clip(&text, MAX_TYPE).chars().filter(|c| is_one(*c)).collect()
}
