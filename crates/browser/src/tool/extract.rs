//! `extract`: the content of a page, in parts.

use std::sync::Arc;

use serde_json::Value;
use tool_core::{ExecContext, ToolOutput, ValidatedArgs};

use super::{
    facts::Facts,
    failure::Failure,
    kept::Page,
    navigate::about,
    pages::Pages,
    reading::{Reading, result},
    slice::slice,
};
use crate::extract::{ExtractOptions, Format};

/// Gives a part of a page's content.
pub(super) async fn extract(
    reading: &Reading,
    live: &Pages,
    args: &ValidatedArgs,
    ctx: &ExecContext,
) -> Result<ToolOutput, Failure> {
    let number = |name: &str| args.get(name).and_then(Value::as_u64);
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let offset = size(number("offset").unwrap_or(0));
    let limit = number("limit").map_or(usize::MAX, size);
    let options = ExtractOptions {
        format: match args.get_str("format") {
            Some("text") => Format::Text,
            Some("html") => Format::Html,
            _ => Format::Markdown,
        },
        selector: args.get_str("selector").map(str::to_owned),
        ..ExtractOptions::default()
    };
    let (page, is_anew) = page(reading, live, args, offset, ctx).await?;
    let extracted = reading.extract(&page, options, ctx).await?;
    let mut facts = Facts::of(&page.fetched);
    facts.put("version", page.version.clone());
    facts.put_if("rendered", args.get("page").is_some());
    facts.put_extracted(&extracted);
    facts.put_if("read_anew", is_anew && offset > 0);
    let total = extracted.content.len();
    facts.put("content_bytes", total);
    result(facts, &page.fetched.url, ctx.limits().max_output().as_usize(), |facts, room| {
        let about = if offset == 0 { about(&extracted) } else { String::new() };
        let part =
            slice(&extracted.content, offset, limit.min(room.saturating_sub(about.len() + 1)));
        facts.put("offset", part.offset);
        if part.end() < total {
            facts.put("next_offset", part.end());
            facts.put("left_bytes", total - part.end());
        }
        if about.is_empty() { part.text.to_owned() } else { format!("{about}\n{}", part.text) }
    })
}

/// The reading that is meant, and whether it was made now.
async fn page(
    reading: &Reading,
    live: &Pages,
    args: &ValidatedArgs,
    offset: usize,
    ctx: &ExecContext,
) -> Result<(Arc<Page>, bool), Failure> {
    let (url, is_live) = match (args.get_str("url"), args.get_str("page")) {
        (Some(url), None) => (url, false),
        (None, Some(page)) => (page, true),
        _ => return Err(Failure::argument("url", "either url or page", "")),
    };
    if let Some(version) = args.get_str("version") {
        let kept = reading.kept.version(version);
        let page = kept.filter(|page| page.asked == url || page.fetched.url.as_str() == url);
        return page.map(|page| (page, false)).ok_or_else(|| {
            let expected = "the version of a reading of this URL that is still kept; it is not, so read \
                the page again from offset 0 without a version";
            Failure::argument("version", expected, version)
        });
    }
    if offset > 0
        && let Some(page) = reading.kept.last_of(url)
    {
        return Ok((page, false));
    }
    if is_live {
        let page = Page::new(url, live.rendered(url, ctx).await?);
        let page = Arc::new(page.map_err(|error| Failure::Failed(error.to_string()))?);
        reading.kept.put(Arc::clone(&page));
        return Ok((page, true));
    }
    Ok((reading.read(url, ctx).await?, true))
}
