//! The operations on live pages: `click`, `type`, `press`, `scroll`, `screenshot`, `snapshot`.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::{ExecContext, ToolOutput, ValidatedArgs};

use super::{failure::Failure, schema::Operation};
use crate::{BrowserConfig, Dialer};

/// The operations, with what they take.
pub(super) const OPERATIONS: [Operation; 6] = [
    Operation::new("click", "Clicks an element of a page.", &["page", "ref"], &[]),
    Operation::new("type", "Types text into an element of a page.", &["page", "ref", "text"], &[]),
    Operation::new("press", "Presses a key in a page.", &["page", "key"], &[]),
    Operation::new("scroll", "Scrolls a page.", &["page"], &["ref"]),
    Operation::new("screenshot", "Shows a page as an image.", &[], &["page", "url"]),
    Operation::new("snapshot", "Shows a page as a tree of elements.", &[], &["page", "url"]),
];

/// Their arguments, beside those that the tool has anyway.
pub(super) fn properties() -> Value {
    json!({
        "page": {"type": "string", "description": "A live page, as an earlier result names it."},
        "ref": {"type": "string", "description": "An element, as snapshot names it."},
        "text": {"type": "string", "description": "What type writes."},
        "key": {"type": "string", "description": "The key that press presses, such as Enter."},
    })
}

/// The live pages.
#[derive(Debug)]
pub(super) struct Pages {
    engine: Option<crate::EngineKind>,
}

impl Pages {
    /// No page yet; an engine is started when one is asked for.
    pub(super) fn new(config: &BrowserConfig, _dialer: Arc<Dialer>) -> Self {
        Self { engine: config.engine }
    }

    /// Does what an operation says.
    pub(super) async fn perform(
        &self,
        operation: &str,
        _args: &ValidatedArgs,
        _ctx: &ExecContext,
    ) -> Result<ToolOutput, Failure> {
        Err(Failure::Unavailable(format!(
            "{operation} needs a real browser, and none is there ({:?}); an operator installs Chromium \
             and sets engine = \"chromium\" in [browser]. navigate and extract read pages without one",
            self.engine
        )))
    }
}
