//! `navigate`: what is at a URL.

use tool_core::{ExecContext, ToolOutput, ValidatedArgs, clip};

use super::{
    facts::{Facts, shown},
    failure::Failure,
    reading::{Reading, result},
    slice::slice,
};
use crate::extract::{ExtractOptions, Extracted};

/// The most bytes of a preview.
const PREVIEW: usize = 4096;
/// The most bytes of one line about a page.
const LINE: usize = 500;

/// Reads a page and says what it is.
pub(super) async fn navigate(
    reading: &Reading,
    args: &ValidatedArgs,
    ctx: &ExecContext,
) -> Result<ToolOutput, Failure> {
    let url = args.get_str("url").unwrap_or_default();
    let wants_links = args.get("links").and_then(serde_json::Value::as_bool).unwrap_or_default();
    let page = reading.read(url, ctx).await?;
    let mut facts = Facts::of(&page.fetched);
    let max = ctx.limits().max_output().as_usize();
    // An image has a status and a type, too: that there is no text is said, and is no error.
    let extracted = match reading.extract(&page, ExtractOptions::default(), ctx).await {
        Ok(extracted) => extracted,
        Err(Failure::Failed(why)) => {
            facts.put("no_text", clip(&why, LINE));
            return Ok(ToolOutput::json(facts.into_json()));
        }
        Err(other) => return Err(other),
    };
    facts.put("version", page.version.clone());
    facts.put_extracted(&extracted);
    facts.put("content_bytes", extracted.content.len());
    result(facts, &page.fetched.url, max, |facts, room| {
        let mut text = about(&extracted);
        let preview = slice(&extracted.content, 0, PREVIEW.min(room.saturating_sub(text.len())));
        facts.put_if("preview_is_cut", preview.end() < extracted.content.len());
        text.push('\n');
        text.push_str(preview.text);
        if wants_links {
            add_links(&mut text, &extracted, room, facts);
        }
        text
    })
}

/// What a page says about itself, a line each.
pub(super) fn about(extracted: &Extracted) -> String {
    let metadata = &extracted.metadata;
    let canonical = metadata.canonical.as_ref().map(shown);
    let mut text = String::new();
    for (name, value) in [
        ("title", &extracted.title),
        ("author", &metadata.author),
        ("date", &metadata.date),
        ("language", &metadata.language),
        ("site", &metadata.site),
        ("description", &metadata.description),
        ("canonical", &canonical),
    ] {
        if let Some(value) = value {
            text.push_str(&format!("{name}: {}\n", clip(value, LINE).replace('\n', " ")));
        }
    }
    text
}

/// The links, as many as have room.
fn add_links(text: &mut String, extracted: &Extracted, room: usize, facts: &mut Facts) {
    text.push_str("\n\nlinks:\n");
    let mut count = 0_usize;
    for link in &extracted.links {
        let line = format!("- [{}]({})\n", clip(&link.text, LINE), shown(&link.url));
        if text.len() + line.len() > room {
            break;
        }
        text.push_str(&line);
        count += 1;
    }
    facts.put("links", count);
    if count < extracted.links.len() {
        facts.put("links_left_out", extracted.links.len() - count);
    }
}
