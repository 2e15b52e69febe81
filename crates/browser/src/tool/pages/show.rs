//! `snapshot` and `screenshot`.

use serde_json::{Value, json};
use tool_core::{Content, ExecContext, ToolOutput, ValidatedArgs};

use super::act::locator;
use super::failure::failed;
use super::{Facts, Failure, Pages, Working, deadline, output, tell};
use crate::engine::{ImageFormat, Notices, Shot};

/// What is kept of the room of a result for what stands beside the tree or the image.
const ASIDE: usize = 4096;

/// Shows a page, opened for it or live already.
pub(super) async fn show(
    pages: &Pages,
    operation: &str,
    args: &ValidatedArgs,
    ctx: &ExecContext,
) -> Result<ToolOutput, Failure> {
    if args.get("url").is_none() && args.get("page").is_none() {
        return Err(Failure::argument("url", "a url to open, or a live page", ""));
    }
    let located = locator(args)?;
    let mut working = pages.working(operation, args, ctx).await?;
    let max = ctx.limits().max_output().as_usize();
    if operation == "snapshot" {
        return snapshot(&mut working, max, ctx).await;
    }
    let is_whole = args.get("whole").and_then(Value::as_bool).unwrap_or_default();
    let shot = match located {
        Some(element) => Shot::Element(element),
        None if is_whole => Shot::Whole,
        None => Shot::View,
    };
    let format = match args.get_str("image") {
        Some("jpeg") => ImageFormat::Jpeg(80),
        _ => ImageFormat::Png,
    };
    screenshot(&mut working, &shot, format, max, ctx).await
}

async fn snapshot(
    working: &mut Working,
    max: usize,
    ctx: &ExecContext,
) -> Result<ToolOutput, Failure> {
    let room = max.saturating_sub(ASIDE);
    let snapshot = working.page.snapshot(room, deadline(ctx)).await;
    let snapshot = snapshot.map_err(|error| failed(error, &working.id, ctx))?;
    let notices = notices(working);
    let mut facts = visited(working);
    if snapshot.left_out > 0 {
        facts.put("left_out", snapshot.left_out);
    }
    output(working, facts, &snapshot.url, max, |facts, room| {
        let mut text = String::new();
        tell(&notices, facts, &mut text);
        text.push_str(&snapshot.tree);
        tool_core::clip(&text, room).to_owned()
    })
}

async fn screenshot(
    working: &mut Working,
    shot: &Shot,
    format: ImageFormat,
    max: usize,
    ctx: &ExecContext,
) -> Result<ToolOutput, Failure> {
    let room = max.saturating_sub(ASIDE);
    let shown = working.page.screenshot(shot, format, room, deadline(ctx)).await;
    let shown = shown.map_err(|error| failed(error, &working.id, ctx))?;
    let notices = notices(working);
    let facts = visited(working);
    let left = max.saturating_sub(shown.data.len() + shown.format.media_type().len());
    let mut output = output(working, facts, &shown.url, left, |facts, room| {
        let mut text = format!(
            "The image after this is of the page, and data as well.\ntitle: {}\n",
            shown.title.replace(char::is_control, " ")
        );
        tell(&notices, facts, &mut text);
        tool_core::clip(&text, room).to_owned()
    })?;
    let media_type = shown.format.media_type().to_owned();
    output.content.push(Content::Image { media_type, data: shown.data });
    Ok(output)
}

/// What happened since the page was opened, or since it was last told.
fn notices(working: &Working) -> Notices {
    let mut notices = working.page.take_notices();
    if let Some(visit) = &working.visit {
        notices.precede(&visit.notices);
    }
    notices
}

/// What is known of opening a URL, where that was done.
fn visited(working: &Working) -> Facts {
    let mut facts = Facts::default();
    let Some(visit) = &working.visit else { return facts };
    if let Some(status) = visit.status {
        facts.put("status", status);
    }
    facts.put_if("still_loading", !visit.is_complete);
    if let [redirects @ .., _] = visit.hops.as_slice()
        && !redirects.is_empty()
    {
        let shown = |url: &str| url::Url::parse(url).map(|url| super::super::facts::shown(&url));
        let all = redirects
            .iter()
            .filter_map(|hop| Some(json!({"url": shown(&hop.url).ok()?, "status": hop.status})));
        facts.put("redirects", all.take(20).collect::<Vec<_>>());
    }
    facts
}
