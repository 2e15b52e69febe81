//! When a request is tried again, and after how long.
//!
//! Tried again: 408, 429, 500, 502, 503, 504, 529, a server that can't be reached, breaks off or is
//! silent for too long. Not tried again: every other status, and a reply that makes no sense. The
//! pause doubles with every attempt and is drawn from its upper half, so that many clients do not
//! come back at once; where the server says when to come back, it is that, and a little more.

use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::ModelError;

/// The longest pause that is chosen here; a server may ask for a longer one.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// How often and how fast.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RetryPolicy {
    pub(crate) max_retries: u32,
    pub(crate) first_pause: Duration,
}

impl RetryPolicy {
    /// How long to wait after attempt number `attempt` (from 0) failed so; `None` to give up.
    pub(crate) fn pause_after(&self, attempt: u32, error: &ModelError) -> Option<Duration> {
        if attempt >= self.max_retries || !is_transient(error) {
            return None;
        }
        Some(match error {
            ModelError::Status { retry_after: Some(asked), .. } => {
                asked.saturating_add(self.first_pause.mul_f64(0.1 * fraction()))
            }
            _ => self.doubled(attempt).mul_f64(0.5 + 0.5 * fraction()),
        })
    }

    fn doubled(&self, attempt: u32) -> Duration {
        let factor = 2u32.saturating_pow(attempt);
        self.first_pause.saturating_mul(factor).min(MAX_PAUSE)
    }
}

/// Whether the same request may well succeed later.
fn is_transient(error: &ModelError) -> bool {
    match error {
        ModelError::Transport { .. } | ModelError::TimedOut { .. } => true,
        ModelError::Status { status, .. } => {
            matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 529)
        }
        _ => false,
    }
}

/// A number from 0 to 1 that differs from call to call. It spreads clients in time, nothing more, so
/// the random keys that the standard library draws for its hash maps are good enough.
fn fraction() -> f64 {
    let bits = RandomState::new().hash_one(0u8) >> 32;
    f64::from(u32::try_from(bits).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

/// When to come back, by `retry-after-ms`, or by `Retry-After` in seconds or as an HTTP date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let value = text(RETRY_AFTER.as_str())?;
    match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        // A date that is past means now.
        Err(_) => {
            let date = httpdate::parse_http_date(value).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy =
        RetryPolicy { max_retries: 3, first_pause: Duration::from_millis(100) };

    fn status(status: u16, retry_after: Option<Duration>) -> ModelError {
        ModelError::Status { provider: String::new(), status, message: String::new(), retry_after }
    }

    #[test]
    fn pauses_double_within_their_jitter_and_end() {
        for attempt in 0..3 {
            let full = Duration::from_millis(100 << attempt);
            for _ in 0..50 {
                let pause = POLICY.pause_after(attempt, &status(500, None)).unwrap();
                assert!(full / 2 <= pause && pause <= full, "{attempt}: {pause:?}");
            }
        }
        assert_eq!(POLICY.pause_after(3, &status(500, None)), None);
        assert!(POLICY.doubled(u32::MAX) <= MAX_PAUSE);
    }

    #[test]
    fn the_server_decides_when_to_come_back() {
        let asked = Duration::from_secs(7);
        let pause = POLICY.pause_after(0, &status(429, Some(asked))).unwrap();
        assert!(asked <= pause && pause <= asked + Duration::from_millis(10), "{pause:?}");
    }

    #[test]
    fn what_will_not_get_better_is_not_tried_again() {
        for code in [301, 400, 401, 403, 404, 413, 422, 501] {
            assert_eq!(POLICY.pause_after(0, &status(code, None)), None, "{code}");
        }
        let config = ModelError::Config(String::new());
        assert_eq!(POLICY.pause_after(0, &config), None);
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let now = httpdate::parse_http_date(date).unwrap() - Duration::from_secs(20);
        let check = |name: &'static str, value: &str, expected: Option<u64>| {
            let headers = HeaderMap::from_iter([(
                reqwest::header::HeaderName::from_static(name),
                value.parse().unwrap(),
            )]);
            let found = retry_after(&headers, now);
            assert_eq!(found, expected.map(Duration::from_millis), "{name}: {value}");
        };
        check("retry-after", "3", Some(3000));
        check("retry-after", " 1.5 ", Some(1500));
        check("retry-after", date, Some(20_000));
        check("retry-after", "Tue, 06 Nov 1984 08:49:37 GMT", Some(0));
        check("retry-after-ms", "250", Some(250));
        for bad in ["soon", "-1", "NaN", "1e400", ""] {
            check("retry-after", bad, None);
        }
    }
}
