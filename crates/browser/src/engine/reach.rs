//! What a session may reach: the policy, narrowed by where its page has been.
//!
//! A session begins inside or outside. Inside is one whose first page is a host that an operator calls
//! internal; it may open public hosts too, and is outside from then on. Outside is every other one: for it
//! no internal host is there, whatever a page, a redirect or a model asks for, because scripts and workers
//! of the page that it has been on may still run. The way back is another session.
//!
//! Both walls ask here: the proxy, which dials, and the interception of requests, which knows more of
//! them. What is refused is counted, and the first ones are kept to be told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use url::{Host, Url};

use crate::policy::{Admission, DialError, Dialed, Dialer, Refusal};

/// How many refusals are kept.
const KEPT: usize = 8;

/// The longest text of one that is kept.
const KEPT_BYTES: usize = 300;

const NEW: u8 = 0;
const INSIDE: u8 = 1;
const OUTSIDE: u8 = 2;

/// What one session may reach.
#[derive(Debug)]
pub(super) struct Reach {
    dialer: Dialer,
    place: AtomicU8,
    refused: Mutex<Refused>,
}

/// What was refused since it was last asked.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// How often.
    pub(crate) count: u64,
    /// The first, as URL or host with the reason.
    pub(crate) first: VecDeque<(String, Refusal)>,
}

impl Reach {
    /// Of a new session.
    pub(super) fn new(dialer: Dialer) -> Self {
        Self { dialer, place: AtomicU8::new(NEW), refused: Mutex::default() }
    }

    /// Checks what a model wants to open, and enters it: from now on the session is inside or outside.
    ///
    /// # Errors
    /// The refusal; also for an internal host where the session is outside.
    pub(super) fn enter(&self, text: &str) -> Result<Url, Refusal> {
        let url = self.dialer.policy().check_text(text)?;
        let admission = self.dialer.policy().check_url(&url)?;
        if admission.is_internal() {
            let _ = self.place.compare_exchange(NEW, INSIDE, Ordering::SeqCst, Ordering::SeqCst);
            if self.place.load(Ordering::SeqCst) != INSIDE {
                let host = url.host_str().unwrap_or_default().to_owned();
                return Err(Refusal::RedirectInside { host });
            }
        } else {
            self.place.store(OUTSIDE, Ordering::SeqCst);
        }
        Ok(url)
    }

    /// Checks what a page asks for. A top document that is public takes the session outside.
    ///
    /// # Errors
    /// The refusal.
    pub(super) fn check(&self, url: &Url, is_document: bool, is_top: bool) -> Result<(), Refusal> {
        let admission = self.dialer.policy().check_url(url)?;
        if admission.is_internal() {
            return self.check_inside(url.host_str().unwrap_or_default());
        }
        if is_top {
            self.place.store(OUTSIDE, Ordering::SeqCst);
        } else if is_document && self.place.load(Ordering::SeqCst) == INSIDE {
            // A public page within an internal one could ask for whatever that one may.
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(Refusal::NotAllowed { host });
        }
        Ok(())
    }

    /// Connects for a page.
    ///
    /// # Errors
    /// A refusal, or no connection.
    pub(super) async fn dial(&self, host: &str, port: u16) -> Result<Dialed, DialError> {
        let parsed =
            Host::parse(host).map_err(|error| Refusal::Malformed { problem: error.to_string() })?;
        if self.admission(&parsed, port)?.is_internal() {
            self.check_inside(host)?;
        }
        self.dialer.dial(host, port).await
    }

    fn admission(&self, host: &Host<String>, port: u16) -> Result<Admission, Refusal> {
        let borrowed = match host {
            Host::Domain(name) => Host::Domain(name.as_str()),
            Host::Ipv4(address) => Host::Ipv4(*address),
            Host::Ipv6(address) => Host::Ipv6(*address),
        };
        self.dialer.policy().check_host(&borrowed, port)
    }

    fn check_inside(&self, host: &str) -> Result<(), Refusal> {
        if self.place.load(Ordering::SeqCst) == INSIDE {
            return Ok(());
        }
        Err(Refusal::RedirectInside { host: host.to_owned() })
    }

    /// Notes something that was refused.
    pub(super) fn note(&self, what: &str, refusal: Refusal) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.count = refused.count.saturating_add(1);
        if refused.first.len() < KEPT {
            let what = tool_core::clip(what, KEPT_BYTES).to_owned();
            if !refused.first.iter().any(|(known, _)| *known == what) {
                refused.first.push_back((what, refusal));
            }
        }
    }

    /// What was refused since this was last asked.
    pub(super) fn take_refused(&self) -> Refused {
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use crate::policy::{PolicyRules, SystemResolver, UrlPolicy};

    use super::*;

    fn reach() -> Reach {
        let internal_hosts = vec!["127.0.0.1:9".to_owned()];
        let policy = UrlPolicy::new(&PolicyRules { internal_hosts, ..PolicyRules::default() });
        let dialer = Dialer::new(
            Arc::new(policy.unwrap()),
            Arc::new(SystemResolver),
            Duration::from_secs(1),
        );
        Reach::new(dialer)
    }

    fn asks(reach: &Reach, url: &str, is_document: bool, is_top: bool) -> bool {
        reach.check(&url.parse().unwrap(), is_document, is_top).is_ok()
    }

    const INNER: &str = "http://127.0.0.1:9/";
    const PUBLIC: &str = "https://example.com/";

    #[test]
    fn who_is_outside_finds_nothing_internal() {
        let session = reach();
        session.enter(PUBLIC).unwrap();
        assert!(matches!(session.enter(INNER), Err(Refusal::RedirectInside { .. })));
        assert!(!asks(&session, INNER, false, false));
        assert!(asks(&session, "https://example.org/", true, false));
    }

    #[test]
    fn who_is_inside_leaves_for_good() {
        let session = reach();
        assert!(!asks(&session, INNER, false, false), "nobody has entered");
        session.enter(INNER).unwrap();
        assert!(asks(&session, INNER, false, false));
        assert!(asks(&session, PUBLIC, false, false), "a picture");
        assert!(!asks(&session, PUBLIC, true, false), "a frame");
        assert!(asks(&session, INNER, true, true));
        assert!(asks(&session, PUBLIC, true, true), "a link");
        assert!(!asks(&session, INNER, true, true));
        assert!(session.enter(INNER).is_err());
    }

    #[tokio::test]
    async fn the_proxy_asks_the_same() {
        let session = reach();
        session.enter(PUBLIC).unwrap();
        let refused = session.dial("127.0.0.1", 9).await.unwrap_err();
        assert!(matches!(refused, DialError::Refused(Refusal::RedirectInside { .. })), "{refused}");
    }

    #[test]
    fn what_is_refused_is_counted_and_the_first_ones_are_kept() {
        let session = reach();
        for number in 0..30 {
            session.note(&format!("http://a/{}", number / 2), Refusal::Userinfo);
        }
        let refused = session.take_refused();
        assert_eq!((refused.count, refused.first.len()), (30, KEPT));
        assert_eq!(session.take_refused(), Refused::default());
    }
}
