//! From what a model or a server wrote to a parsed URL.
//!
//! There is one parser, `url`, for the check and for the request. What parsers are known to disagree
//! about is refused in the text, before it is parsed.

use url::Url;

use super::Refusal;

/// The longest URL, in bytes.
pub(super) const MAX_BYTES: usize = 8192;

/// Parses what a model wrote.
pub(super) fn parse(text: &str) -> Result<Url, Refusal> {
    check_length(text)?;
    if let Some(what) = text.chars().find_map(forbidden) {
        return Err(Refusal::Character { what });
    }
    // Before parsing, because "http:host" and "http:///host" are a host to some and a path to others.
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && !text[scheme.len()..].starts_with('/')
    });
    let url = Url::parse(text).map_err(|error| malformed(text, error))?;
    // An empty name is dropped by the parser, and is somebody's trick all the same.
    if is_web && authority(text).contains('@') {
        return Err(Refusal::Userinfo);
    }
    match url.scheme() {
        "http" | "https" if is_web => Ok(url),
        "http" | "https" => Err(Refusal::Malformed {
            problem: "two slashes must stand between the scheme and the host".to_owned(),
        }),
        scheme => Err(Refusal::Scheme { scheme: scheme.chars().take(32).collect() }),
    }
}

/// Parses the target of a redirect. Spaces and letters beyond ASCII are percent-encoded, as browsers do.
pub(super) fn parse_location(base: &Url, location: &[u8]) -> Result<Url, Refusal> {
    let text = str::from_utf8(location)
        .map_err(|_| Refusal::Malformed { problem: "the target is no UTF-8".to_owned() })?
        .trim_matches(' ');
    check_length(text)?;
    let is_forbidden = |c: char| forbidden(c).filter(|_| c != ' ');
    if let Some(what) = text.chars().find_map(is_forbidden) {
        return Err(Refusal::Character { what });
    }
    base.join(text).map_err(|error| malformed(text, error))
}

/// What stands between the two slashes and the path.
fn authority(text: &str) -> &str {
    let (_, rest) = text.split_once("//").unwrap_or_default();
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn check_length(text: &str) -> Result<(), Refusal> {
    match text.len() {
        bytes if bytes > MAX_BYTES => Err(Refusal::TooLong { bytes, max: MAX_BYTES }),
        _ => Ok(()),
    }
}

fn forbidden(c: char) -> Option<&'static str> {
    match c {
        '\\' => Some("a backslash"),
        '\t' | '\n' | '\r' => Some("a tab or a line break"),
        c if c.is_control() => Some("a control character"),
        c if c.is_whitespace() => Some("a space"),
        // Marks of direction make a host look like another one.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some("a mark of direction")
        }
        _ => None,
    }
}

fn malformed(text: &str, error: url::ParseError) -> Refusal {
    let problem = match error {
        url::ParseError::RelativeUrlWithoutBase if !text.is_empty() => {
            "it has no scheme".to_owned()
        }
        other => other.to_string(),
    };
    Refusal::Malformed { problem }
}
