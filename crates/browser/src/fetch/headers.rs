//! The headers and the methods that a caller may set.
//!
//! Refused are those that say where a request ends or whom it is for (a server and we would disagree
//! about the next one), those of one connection, and those of a proxy. Names and values are checked by
//! the types of `http`, which hold no line break.

use http::{HeaderName, HeaderValue, Method};

/// Headers that a caller may not set. Those that begin with `proxy-` are refused, too.
const OURS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Why a header or a method can't be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderProblem {
    /// No header name.
    #[error("{name:?} is no header name; letters, digits and hyphens are")]
    Name {
        /// As it was given.
        name: String,
    },
    /// No header value.
    #[error("the value of {name:?} holds a line break or another control character")]
    Value {
        /// The header.
        name: String,
    },
    /// A header that is not the caller's.
    #[error("the header {name:?} is set by the client itself and can't be given")]
    Ours {
        /// The header.
        name: String,
    },
    /// A method that is none, or not one of these.
    #[error("{method:?} is no method that is accepted; GET, HEAD, POST, PUT, PATCH and DELETE are")]
    Method {
        /// As it was given.
        method: String,
    },
}

/// Checks a header of a caller.
pub(super) fn check(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HeaderProblem> {
    let shown = || name.chars().take(64).collect::<String>();
    let parsed = HeaderName::try_from(name).map_err(|_| HeaderProblem::Name { name: shown() })?;
    if OURS.contains(&parsed.as_str()) || parsed.as_str().starts_with("proxy-") {
        return Err(HeaderProblem::Ours { name: shown() });
    }
    // `http` takes tabs and bytes beyond ASCII; a control character it refuses.
    let mut value =
        HeaderValue::try_from(value).map_err(|_| HeaderProblem::Value { name: shown() })?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// Checks a method, in any case.
pub(super) fn method(text: &str) -> Result<Method, HeaderProblem> {
    match text.to_ascii_uppercase().as_str() {
        "GET" => Ok(Method::GET),
        "HEAD" => Ok(Method::HEAD),
        "POST" => Ok(Method::POST),
        "PUT" => Ok(Method::PUT),
        "PATCH" => Ok(Method::PATCH),
        "DELETE" => Ok(Method::DELETE),
        _ => Err(HeaderProblem::Method { method: text.chars().take(32).collect() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_split_or_redirect_a_request_is_refused() {
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "Connection",
            "Upgrade",
            "TE",
            "Trailer",
            "Proxy-Authorization",
            "proxy-anything",
            "Expect",
            "Accept-Encoding",
            "Keep-Alive",
        ] {
            assert!(matches!(check(name, "1"), Err(HeaderProblem::Ours { .. })), "{name}");
        }
        for name in ["", "a b", "a:", "a\r\nb", "ä", "a\0"] {
            assert!(matches!(check(name, "1"), Err(HeaderProblem::Name { .. })), "{name:?}");
        }
        for value in ["a\r\nX: y", "a\nb", "a\rb", "a\0b", "\u{7f}"] {
            assert!(matches!(check("x", value), Err(HeaderProblem::Value { .. })), "{value:?}");
        }
        assert!(check("Authorization", "Bearer x").is_ok());
    }

    #[test]
    fn methods_are_taken_in_any_case_and_no_other_is() {
        assert_eq!(method("get").unwrap(), Method::GET);
        for text in ["CONNECT", "TRACE", "OPTIONS", "GET / HTTP/1.1\r\nX", "", "GET "] {
            assert!(method(text).is_err(), "{text:?}");
        }
    }
}
