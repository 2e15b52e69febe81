//! Cookies of one session (RFC 6265, narrowed).
//!
//! A cookie goes back to exactly the host that set it: a `Domain` that means more is not honoured, so
//! no list of public suffixes is needed and no sibling host can plant or read one. There is no disk: a
//! jar lives as long as its owner keeps it, and the fetcher makes a new one for each request that brings
//! none.

use http::{HeaderMap, HeaderValue, header};
use url::Url;

/// The most cookies of a jar, and the most bytes of one.
const MAX_COOKIES: usize = 128;
const MAX_BYTES: usize = 4096;
/// The most bytes of a `Cookie` header.
const MAX_SENT: usize = 8192;

/// The cookies of one session.
#[derive(Debug, Clone, Default)]
pub struct CookieJar {
    cookies: Vec<Cookie>,
}

#[derive(Clone)]
struct Cookie {
    host: String,
    path: String,
    name: String,
    value: String,
    is_secure: bool,
}

impl std::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{} {}", self.host, self.path, self.name)
    }
}

impl CookieJar {
    /// Takes the cookies of an answer.
    pub(super) fn take(&mut self, url: &Url, headers: &HeaderMap) {
        for value in headers.get_all(header::SET_COOKIE) {
            if let Some((cookie, is_gone)) = value.to_str().ok().and_then(|text| parse(url, text)) {
                self.cookies.retain(|old| !old.is_same(&cookie));
                if !is_gone && self.cookies.len() < MAX_COOKIES {
                    self.cookies.push(cookie);
                }
            }
        }
    }

    /// The `Cookie` header of a request, where there is one.
    pub(super) fn header(&self, url: &Url) -> Option<HeaderValue> {
        let host = url.host_str()?;
        let mut fitting: Vec<_> =
            self.cookies.iter().filter(|cookie| cookie.fits(url, host)).collect();
        fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let mut text = String::new();
        for cookie in fitting {
            if text.len() + cookie.name.len() + cookie.value.len() + 3 > MAX_SENT {
                break;
            }
            let separator = if text.is_empty() { "" } else { "; " };
            text.push_str(&format!("{separator}{}={}", cookie.name, cookie.value));
        }
        let mut value = HeaderValue::try_from(text).ok().filter(|value| !value.is_empty())?;
        value.set_sensitive(true);
        Some(value)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cookies.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }
}

impl Cookie {
    fn is_same(&self, other: &Self) -> bool {
        (&self.host, &self.path, &self.name) == (&other.host, &other.path, &other.name)
    }

    fn fits(&self, url: &Url, host: &str) -> bool {
        self.host == host
            && (!self.is_secure || url.scheme() == "https")
            && url.path().strip_prefix(self.path.as_str()).is_some_and(|rest| {
                rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/')
            })
    }
}

/// A cookie of a `Set-Cookie` header, and whether it is to be forgotten.
fn parse(url: &Url, text: &str) -> Option<(Cookie, bool)> {
    let mut parts = text.split(';').map(str::trim);
    let (name, value) = parts.next()?.split_once('=')?;
    let host = url.host_str()?.to_owned();
    let mut cookie = Cookie {
        host,
        path: default_path(url),
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        is_secure: false,
    };
    let mut is_gone = false;
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "path" if value.starts_with('/') => cookie.path = value.trim().to_owned(),
            "secure" => cookie.is_secure = true,
            "max-age" => is_gone |= value.trim().parse::<i64>().is_ok_and(|age| age <= 0),
            "expires" => is_gone |= is_past(value.trim()),
            "domain" if !covers(value.trim(), url) => return None,
            _ => {}
        }
    }
    let is_fine = !cookie.name.is_empty()
        && text.len() <= MAX_BYTES
        && (!cookie.is_secure || url.scheme() == "https")
        && (!cookie.name.starts_with("__Secure-") || cookie.is_secure)
        && (!cookie.name.starts_with("__Host-") || (cookie.is_secure && cookie.path == "/"));
    is_fine.then_some((cookie, is_gone))
}

/// A domain must at least hold the host that sets it; it is then taken as that host.
fn covers(domain: &str, url: &Url) -> bool {
    let (domain, host) =
        (domain.trim_start_matches('.').to_ascii_lowercase(), url.host_str().unwrap_or_default());
    let is_above = || host.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.'));
    domain.is_empty() || domain == host || is_above()
}

fn is_past(date: &str) -> bool {
    httpdate::parse_http_date(date).is_ok_and(|date| date <= std::time::SystemTime::now())
}

fn default_path(url: &Url) -> String {
    match url.path().rsplit_once('/') {
        Some(("", _)) | None => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(set_by: &str, cookies: &[&str], to: &str) -> Option<String> {
        let mut jar = CookieJar::default();
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(header::SET_COOKIE, cookie.parse().unwrap());
        }
        jar.take(&set_by.parse().unwrap(), &headers);
        jar.header(&to.parse().unwrap()).map(|value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_cookie_goes_back_to_its_host_and_no_other() {
        let check = |cookies: &[&str], to: &str, expected: Option<&str>| {
            let found = sent("https://a.example/x/y", cookies, to);
            assert_eq!(found.as_deref(), expected, "{cookies:?} {to}");
        };
        check(&["a=1"], "https://a.example/x/z", Some("a=1"));
        check(&["a=1"], "https://a.example/xy", None);
        check(&["a=1; Path=/"], "https://a.example/", Some("a=1"));
        check(&["a=1; Path=/"], "http://a.example/", Some("a=1"));
        check(&["a=1; Path=/; Secure"], "http://a.example/", None);
        check(&["a=1; Path=/; Domain=example"], "https://b.example/", None);
        check(&["a=1; Path=/; Domain=.a.example"], "https://a.example/", Some("a=1"));
        check(&["a=1; Path=/; Domain=other.example"], "https://a.example/", None);
        check(&["a=1; Path=/; Domain=a.example"], "https://sub.a.example/", None);
        check(&["a=1; Path=/", "a=2; Path=/"], "https://a.example/", Some("a=2"));
        check(&["a=1; Path=/", "a=; Path=/; Max-Age=0"], "https://a.example/", None);
        check(&["a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "https://a.example/", None);
        check(&["__Host-a=1; Secure"], "https://a.example/x/z", None);
        check(&["a=1; Path=/", "b=2; Path=/x"], "https://a.example/x/", Some("b=2; a=1"));
        check(&["nothing", "=1"], "https://a.example/x/", None);
    }

    #[test]
    fn what_is_shown_for_debugging_holds_no_value() {
        let mut jar = CookieJar::default();
        let mut headers = HeaderMap::new();
        headers.append(header::SET_COOKIE, "a=secret-value; Path=/".parse().unwrap());
        jar.take(&"https://a.example/".parse().unwrap(), &headers);
        assert!(!format!("{jar:?}").contains("secret-value"));
    }
}
