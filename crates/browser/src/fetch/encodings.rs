//! Which content codings a body has, by its head (RFC 9110, section 8.4).

use http::{HeaderMap, header};

use super::FetchError;

/// What we say we decode.
pub(super) const OFFERED: &str = "gzip, deflate, zstd";
/// The most codings of one body: a chain of them is a bomb's wrapping.
const MAX: usize = 2;

/// One coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Deflate,
    Zstd,
}

/// The codings of a body, in the order in which they were applied.
pub(super) fn of(headers: &HeaderMap) -> Result<Vec<Coding>, FetchError> {
    let mut found = Vec::new();
    for value in headers.get_all(header::CONTENT_ENCODING) {
        let text = value.to_str().map_err(|_| unknown("what is no text"))?;
        for name in text.split(',').map(|name| name.trim().to_ascii_lowercase()) {
            match name.as_str() {
                "" | "identity" => {}
                "gzip" | "x-gzip" => found.push(Coding::Gzip),
                "deflate" => found.push(Coding::Deflate),
                "zstd" => found.push(Coding::Zstd),
                other => return Err(unknown(other)),
            }
        }
    }
    if found.len() > MAX {
        let message = format!("it is encoded {} times, and {MAX} are accepted", found.len());
        return Err(FetchError::Encoding { message });
    }
    Ok(found)
}

fn unknown(name: &str) -> FetchError {
    let name: String = name.chars().take(32).collect();
    let message = format!("the server encodes it as {name:?}, where {OFFERED} were offered");
    FetchError::Encoding { message }
}
