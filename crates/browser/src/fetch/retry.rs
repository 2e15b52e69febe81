//! `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode, header};

/// How long a server that is overloaded asks us to wait.
pub(super) fn after(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read_and_nothing_else() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let check = |status: u16, text: &str, expected: Option<u64>| {
            let headers = [(header::RETRY_AFTER, text.parse().unwrap())].into_iter().collect();
            let found = after(StatusCode::from_u16(status).unwrap(), &headers, now);
            assert_eq!(found, expected.map(Duration::from_secs), "{status} {text}");
        };
        check(429, "1", Some(1));
        check(503, " 86400 ", Some(86_400));
        check(503, "Sun, 06 Nov 1994 08:50:37 GMT", Some(60));
        check(503, "Sun, 06 Nov 1994 08:00:00 GMT", Some(0));
        check(429, "99999999999999999999999", Some(u64::from(u32::MAX)));
        check(503, "-1", None);
        check(503, "soon", None);
        check(200, "1", None);
    }
}
