//! Where an answer leads, and what of the request goes along.
//!
//! As the Fetch standard has it, narrowed: what a caller set and what the server's origin was told stay
//! at that origin, a body never goes to another one, and no `Referer` is sent at all.

use http::{HeaderMap, Method, StatusCode, header};
use hyper::body::Bytes;
use url::Url;

use super::FetchError;
use crate::{Refusal, UrlPolicy};

/// One request of a chain.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) method: Method,
    pub(super) url: Url,
    /// What the caller set.
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

/// The next request; `None` where the answer is the last one. A target that is no URL makes it the last
/// one, too.
///
/// # Errors
/// A target that is refused, or a body that would go to another origin.
pub(super) fn next(
    policy: &UrlPolicy,
    step: &Step,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Step>, FetchError> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(header::LOCATION) else { return Ok(None) };
    let mut url = match policy.check_redirect(&step.url, location.as_bytes()) {
        Ok(url) => url,
        Err(Refusal::Malformed { .. }) => return Ok(None),
        Err(refusal) => return Err(FetchError::Refused { is_redirect: true, refusal }),
    };
    if url.fragment().is_none() {
        url.set_fragment(step.url.fragment());
    }
    let mut next = Step { url, ..step.clone() };
    if becomes_get(status, &step.method) {
        next.method = Method::GET;
        next.body = None;
        let is_about_a_body = |name: &&header::HeaderName| name.as_str().starts_with("content-");
        let names: Vec<_> = next.headers.keys().filter(is_about_a_body).cloned().collect();
        for name in names {
            next.headers.remove(name);
        }
    }
    if next.url.origin() != step.url.origin() {
        next.headers.clear();
        if !matches!(next.method, Method::GET | Method::HEAD) || next.body.is_some() {
            let (method, origin) =
                (next.method.to_string(), next.url.origin().ascii_serialization());
            return Err(FetchError::ForwardedRequest { method, origin });
        }
    }
    Ok(Some(next))
}

fn becomes_get(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        301 | 302 => method == Method::POST,
        303 => method != Method::GET && method != Method::HEAD,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(method: Method, url: &str) -> Step {
        let headers = [
            (header::AUTHORIZATION, "secret".parse().unwrap()),
            (header::CONTENT_TYPE, "text/plain".parse().unwrap()),
        ];
        let body = (method == Method::POST).then(|| Bytes::from_static(b"body"));
        Step { method, url: url.parse().unwrap(), headers: headers.into_iter().collect(), body }
    }

    fn follow(step: &Step, status: u16, location: &[u8]) -> Result<Option<Step>, FetchError> {
        let location = http::HeaderValue::from_bytes(location).unwrap();
        let headers = [(header::LOCATION, location)].into_iter().collect();
        next(&UrlPolicy::default(), step, StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn nothing_of_a_caller_crosses_an_origin() {
        let from = step(Method::GET, "https://a.example/x#part");
        for (to, is_same) in [
            ("/y", true),
            ("https://a.example:443/y", true),
            ("http://a.example/y", false),
            ("https://a.example:8443/y", false),
            ("https://b.a.example/y", false),
            ("//b.example/y", false),
        ] {
            let next = follow(&from, 302, to.as_bytes()).unwrap().unwrap();
            assert_eq!(next.headers.contains_key(header::AUTHORIZATION), is_same, "{to}");
            assert_eq!(next.url.fragment(), Some("part"), "{to}");
        }
    }

    #[test]
    fn a_body_stays_at_its_origin() {
        let from = step(Method::POST, "https://a.example/x");
        for status in [301, 302, 303] {
            let next = follow(&from, status, b"https://b.example/").unwrap().unwrap();
            assert_eq!((next.method, next.body), (Method::GET, None), "{status}");
            assert!(next.headers.is_empty());
        }
        for status in [307, 308] {
            let next = follow(&from, status, b"/y").unwrap().unwrap();
            assert_eq!((next.method, next.body.unwrap().len()), (Method::POST, 4), "{status}");
            let refused = follow(&from, status, b"https://b.example/").unwrap_err();
            assert!(matches!(refused, FetchError::ForwardedRequest { .. }), "{refused}");
        }
        let delete = step(Method::DELETE, "https://a.example/x");
        assert!(follow(&delete, 302, b"https://b.example/").is_err());
    }

    #[test]
    fn where_there_is_no_target_the_answer_is_the_last_one() {
        let from = step(Method::GET, "https://a.example/x");
        for (status, location) in
            [(300, &b"/y"[..]), (304, b"/y"), (302, b"https://[/"), (302, b"\xff\xfe")]
        {
            assert!(follow(&from, status, location).unwrap().is_none(), "{status}");
        }
        let utf8 = follow(&from, 301, "/ä ö".as_bytes()).unwrap().unwrap();
        assert_eq!(utf8.url.as_str(), "https://a.example/%C3%A4%20%C3%B6");
        for refused in ["http://127.0.0.1/", "file:///etc/passwd", "https://u@b.example/", "//x\\y"]
        {
            let error = follow(&from, 302, refused.as_bytes()).unwrap_err();
            assert!(matches!(error, FetchError::Refused { is_redirect: true, .. }), "{refused}");
        }
    }
}
