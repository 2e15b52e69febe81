//! `api`: one request to a web API, and its answer as it is.

use http::{HeaderMap, header};
use serde_json::Value;
use tool_core::{ExecContext, ToolOutput, ValidatedArgs};

use super::{
    facts::Facts,
    failure::Failure,
    reading::{Reading, deadline, failed, result},
    slice::slice,
};
use crate::{FetchRequest, RequestError, extract::text_of};

/// The most bytes of the headers that are shown, and of one of them.
const MAX_HEADERS: usize = 8192;
const MAX_HEADER: usize = 1024;
/// Headers that are not shown: a cookie is a credential, and the session keeps it.
const WITHHELD: [header::HeaderName; 2] = [header::SET_COOKIE, header::PROXY_AUTHENTICATE];

/// Sends a request.
pub(super) async fn api(
    reading: &Reading,
    args: &ValidatedArgs,
    ctx: &ExecContext,
) -> Result<ToolOutput, Failure> {
    let url = args.get_str("url").unwrap_or_default();
    let request = request(url, args)?.with_deadline(deadline(ctx));
    let fetched = reading.fetcher.fetch(request).await.map_err(|error| failed(error, url, ctx))?;
    let mut facts = Facts::of(&fetched);
    let cookies = fetched.headers.get_all(header::SET_COOKIE).iter().count();
    if cookies > 0 {
        facts.put("cookies_withheld", cookies);
    }
    let max = ctx.limits().max_output().as_usize();
    result(facts, &fetched.url, max, |facts, room| {
        let mut text = headers(&fetched.headers, room.min(MAX_HEADERS), facts);
        if fetched.body.is_empty() {
            return text;
        }
        let Some((body, charset)) = text_of(&fetched.body, fetched.content_type()) else {
            facts.put("body_is_binary", true);
            return text;
        };
        facts.put("charset", charset);
        text.push('\n');
        let part = slice(&body, 0, room.saturating_sub(text.len()));
        if part.end() < body.len() {
            facts.put("left_bytes", body.len() - part.end());
        }
        text.push_str(part.text);
        text
    })
}

fn request(url: &str, args: &ValidatedArgs) -> Result<FetchRequest, Failure> {
    let method = args.get_str("method").unwrap_or_default();
    let refused = |name: &'static str, found: &str| {
        let found = found.to_owned();
        move |error: RequestError| Failure::argument(name, error.to_string(), &found)
    };
    let mut request =
        FetchRequest::get(url).with_method(method).map_err(refused("method", method))?;
    for (name, value) in args.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        request = request.with_header(name, value).map_err(refused("headers", name))?;
    }
    let Some(body) = args.get("body") else { return Ok(request) };
    if matches!(method, "GET" | "HEAD") {
        let expected = format!("no body, because {method} has none");
        return Err(Failure::argument("body", expected, &body.to_string()));
    }
    let (body, kind) = match body {
        Value::String(text) if is_json(text) => (text.clone(), "application/json"),
        Value::String(text) => (text.clone(), "text/plain; charset=utf-8"),
        json => (json.to_string(), "application/json"),
    };
    if !request.has_header("content-type") {
        request = request
            .with_header("content-type", kind)
            .map_err(refused("headers", "content-type"))?;
    }
    Ok(request.with_body(body))
}

/// Whether a text is a JSON object or array: a bare word or number is text.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The headers of an answer, a line each.
fn headers(headers: &HeaderMap, room: usize, facts: &mut Facts) -> String {
    let (mut text, mut left_out) = (String::new(), 0_usize);
    for (name, value) in headers.iter().filter(|(name, _)| !WITHHELD.contains(name)) {
        let value = String::from_utf8_lossy(value.as_bytes());
        let line = format!("{name}: {value}\n");
        if line.len() > MAX_HEADER || text.len() + line.len() > room {
            left_out += 1;
            continue;
        }
        text.push_str(&line);
    }
    if left_out > 0 {
        facts.put("headers_left_out", left_out);
    }
    text
}
