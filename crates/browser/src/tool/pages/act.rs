//! `click`, `type`, `press` and `scroll`.

use serde_json::Value;
use tool_core::{ExecContext, ToolOutput, ValidatedArgs};

use super::failure::failed;
use super::{Facts, Failure, Pages, Working, deadline, output, tell};
use crate::engine::{Acted, Locator, Towards};

/// How far a page is scrolled where nothing is said.
const STEP: i32 = 600;

/// Does something in a live page.
pub(super) async fn act(
    pages: &Pages,
    operation: &str,
    args: &ValidatedArgs,
    ctx: &ExecContext,
) -> Result<ToolOutput, Failure> {
    let located = locator(args)?;
    let mut working = pages.working(operation, args, ctx).await?;
    let deadline = deadline(ctx);
    let is = |name: &str| args.get(name).and_then(Value::as_bool).unwrap_or_default();
    let page = &mut working.page;
    let acted = match (operation, located) {
        ("click", Some(element)) => page.click(&element, deadline).await,
        ("type", Some(element)) => {
            let text = args.get_str("text").unwrap_or_default();
            page.write(&element, text, (!is("append"), is("submit")), deadline).await
        }
        ("press", _) => page.press(args.get_str("key").unwrap_or_default(), deadline).await,
        ("scroll", element) => return scroll(working, element, args, ctx).await,
        _ => return Err(Failure::argument("ref", "a ref or a selector", "")),
    };
    let acted = acted.map_err(|error| failed(error, &working.id, ctx))?;
    told(&working, &acted, ctx)
}

/// What came of an action.
fn told(working: &Working, acted: &Acted, ctx: &ExecContext) -> Result<ToolOutput, Failure> {
    let mut facts = Facts::default();
    facts.put("navigated", acted.has_navigated);
    facts.put_if("is_error_page", acted.is_error_page);
    let max = ctx.limits().max_output().as_usize();
    output(working, facts, &acted.url, max, |facts, room| {
        let mut text = format!("title: {}\n", acted.title.replace(char::is_control, " "));
        tell(&acted.notices, facts, &mut text);
        tool_core::clip(&text, room).to_owned()
    })
}

async fn scroll(
    mut working: Working,
    element: Option<Locator>,
    args: &ValidatedArgs,
    ctx: &ExecContext,
) -> Result<ToolOutput, Failure> {
    let pixels = |name: &str| args.get(name).and_then(Value::as_i64);
    let pixels = |name: &str| pixels(name).and_then(|pixels| i32::try_from(pixels).ok());
    let towards = match (element, args.get_str("to"), pixels("dx"), pixels("dy")) {
        (Some(element), ..) => Towards::Element(element),
        (None, Some("top"), ..) => Towards::Top,
        (None, Some(_), ..) => Towards::Bottom,
        (None, None, None, None) => Towards::By { x: 0, y: STEP },
        (None, None, x, y) => Towards::By { x: x.unwrap_or(0), y: y.unwrap_or(0) },
    };
    let scrolled = working.page.scroll(&towards, deadline(ctx)).await;
    let scrolled = scrolled.map_err(|error| failed(error, &working.id, ctx))?;
    let scrolled = serde_json::to_value(scrolled);
    let mut facts = Facts::default();
    facts.put("page", working.id.clone());
    facts.put("scrolled", scrolled.map_err(|error| Failure::Failed(error.to_string()))?);
    let mut output = ToolOutput::json(facts.into_json());
    output.confinement = Some(working.page.confinement());
    Ok(output)
}

/// The element that a call names; nothing where it names none.
pub(super) fn locator(args: &ValidatedArgs) -> Result<Option<Locator>, Failure> {
    match (args.get_str("ref"), args.get_str("selector")) {
        (Some(_), Some(_)) => Err(Failure::argument("ref", "either a ref or a selector", "both")),
        (Some(reference), None) => Ok(Some(Locator::Reference(reference.to_owned()))),
        (None, Some(selector)) => Ok(Some(Locator::Selector(selector.to_owned()))),
        (None, None) => Ok(None),
    }
}
