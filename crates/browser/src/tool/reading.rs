//! Reading pages: fetched once, kept for a while, and taken apart on a thread that may wait.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tool_core::{ExecContext, ToolOutput};

use super::{
    facts::Facts,
    failure::Failure,
    kept::{Kept, Page},
    untrusted::Fence,
};
use crate::{
    FetchError, FetchRequest, Fetcher,
    extract::{ExtractError, ExtractOptions, Extracted, extract},
};

/// The most that is kept back of a call's time, so that what went wrong can still be said.
const MAX_MARGIN: Duration = Duration::from_millis(250);

/// What reads pages.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) fetcher: Fetcher,
    pub(super) kept: Kept,
}

impl Reading {
    /// Reads a page anew, and keeps it.
    pub(super) async fn read(&self, url: &str, ctx: &ExecContext) -> Result<Arc<Page>, Failure> {
        let request =
            FetchRequest::get(url).for_reading().obeying_robots().with_deadline(deadline(ctx));
        let fetched = self.fetcher.fetch(request).await.map_err(|error| failed(error, url, ctx))?;
        let page = Page::new(url, fetched).map_err(|error| Failure::Failed(error.to_string()))?;
        let page = Arc::new(page);
        self.kept.put(Arc::clone(&page));
        Ok(page)
    }

    /// Takes the content out of a page.
    pub(super) async fn extract(
        &self,
        page: &Arc<Page>,
        mut options: ExtractOptions,
        ctx: &ExecContext,
    ) -> Result<Arc<Extracted>, Failure> {
        if let Some(known) = page.extracted(&options) {
            return Ok(known);
        }
        let asked = options.clone();
        let left = deadline(ctx).saturating_duration_since(Instant::now());
        options.limits.time = options.limits.time.min(left);
        let selector = options.selector.clone().unwrap_or_default();
        let source = Arc::clone(page);
        let working = tokio::task::spawn_blocking(move || {
            let fetched = &source.fetched;
            extract(&fetched.body, fetched.content_type(), &fetched.url, &options)
        });
        let extracted = working
            .await
            .map_err(|_| Failure::Failed("the page could not be taken apart".to_owned()))?
            .map_err(|error| not_extracted(&error, &selector))?;
        let extracted = Arc::new(extracted);
        page.keep(&asked, &extracted);
        Ok(extracted)
    }
}

fn not_extracted(error: &ExtractError, selector: &str) -> Failure {
    match error {
        ExtractError::Selector { .. } => {
            Failure::argument("selector", format!("a CSS selector ({error})"), selector)
        }
        ExtractError::NoElements { .. } => {
            Failure::argument("selector", format!("no selector ({error})"), selector)
        }
        other => Failure::Failed(other.to_string()),
    }
}

/// By when an operation is done, so that what went wrong can still be said.
pub(super) fn deadline(ctx: &ExecContext) -> Instant {
    let margin = (ctx.timeout().after / 10).min(MAX_MARGIN);
    ctx.deadline().checked_sub(margin).unwrap_or_else(Instant::now)
}

/// What a model reads of a request that has no answer.
pub(super) fn failed(error: FetchError, url: &str, ctx: &ExecContext) -> Failure {
    match &error {
        FetchError::Refused { is_redirect: false, refusal } => {
            Failure::argument("url", format!("a URL that may be read ({refusal})"), url)
        }
        FetchError::TimedOut { .. } if Instant::now() >= deadline(ctx) => {
            Failure::TimedOut { timeout: ctx.timeout(), message: error.to_string() }
        }
        FetchError::TooManyRedirects { .. } => {
            Failure::Limit { limit: "redirects", message: error.to_string() }
        }
        FetchError::HeadTooLarge { .. } => {
            Failure::Limit { limit: "header_bytes", message: error.to_string() }
        }
        _ => Failure::Failed(error.to_string()),
    }
}

/// A result: what we know, and what somebody else wrote, as it fits into `max` bytes. `text` gets the room
/// that the facts leave, and may add to them.
pub(super) fn result(
    mut facts: Facts,
    origin: &url::Url,
    max: usize,
    text: impl FnOnce(&mut Facts, usize) -> String,
) -> Result<ToolOutput, Failure> {
    /// What the facts may grow by while the text is made.
    const GROWTH: usize = 400;
    let fence = Fence::new(&origin.origin().ascii_serialization())
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let taken = facts.len_bytes() + fence.len_bytes() + GROWTH;
    let text = text(&mut facts, max.saturating_sub(taken));
    let mut output = ToolOutput::json(facts.into_json());
    output.content.push(fence.content(&text));
    Ok(output)
}
