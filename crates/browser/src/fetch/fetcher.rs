//! Requests from the first URL to the last answer.

use std::{
    collections::HashSet,
    time::{Duration, SystemTime},
};

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tokio::time::{Instant, sleep_until};
use url::{Position, Url};

use super::{
    CookieJar, FetchError, FetchRequest, Fetched, Hop, Phase, body,
    exchange::{Exchange, Opened, within},
    hosts::{Hosts, Turn},
    redirect::{self, Step},
    retry,
    robots::{self, Known, Rules, Verdict},
    tls::Tls,
};
use crate::{BrowserConfig, BrowserConfigError, Dialer, UrlPolicy};

/// The time for a `robots.txt`.
const ROBOTS_TIME: Duration = Duration::from_secs(10);
/// The redirects of a `robots.txt` that are followed (RFC 9309, section 2.3.1.2).
const ROBOTS_REDIRECTS: u64 = 5;

/// Fetches what a policy accepts.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use browser::{BrowserConfig, Dialer, FetchRequest, Fetcher, SystemResolver};
///
/// let config = BrowserConfig::default();
/// let dialer = Dialer::of_config(&config, Arc::new(SystemResolver))?;
/// let fetcher = Fetcher::new(&config, dialer)?;
/// let page = fetcher.fetch(FetchRequest::get("https://example.com/")).await?;
/// println!("{} {} bytes", page.status, page.body.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Fetcher {
    exchange: Exchange,
    hosts: Hosts,
    robots: Known,
    bounds: Bounds,
}

#[derive(Debug)]
struct Bounds {
    max_redirects: u64,
    max_bytes: usize,
    max_document_bytes: usize,
    obeys_robots: bool,
}

/// A chain of requests that is under way.
struct Chain<'a> {
    jar: &'a mut CookieJar,
    deadline: Instant,
    obeys_robots: bool,
    is_document: bool,
    max_redirects: u64,
    max_bytes: Option<usize>,
}

impl Fetcher {
    /// A fetcher with the bounds of a configuration, over this dialer.
    ///
    /// # Errors
    /// A value that can't be used, or a file of certificates that can't be read.
    pub fn new(config: &BrowserConfig, dialer: Dialer) -> Result<Self, BrowserConfigError> {
        config.check()?;
        let text = |key, message| BrowserConfigError::Text { key, message };
        let tls =
            Tls::new(config.ca_file.as_deref()).map_err(|message| text("ca_file", message))?;
        let user_agent = HeaderValue::try_from(config.user_agent())
            .map_err(|error| text("user_agent", error.to_string()))?;
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(Self {
            exchange: Exchange {
                dialer,
                tls,
                user_agent,
                connect_timeout: Duration::from_millis(config.connect_timeout_ms),
                first_byte_timeout: Duration::from_millis(config.first_byte_timeout_ms),
                max_header_bytes: size(config.max_header_bytes),
            },
            hosts: Hosts::new(size(config.per_host), Duration::from_millis(config.host_delay_ms)),
            robots: Known::default(),
            bounds: Bounds {
                max_redirects: config.max_redirects,
                max_bytes: size(config.max_bytes),
                max_document_bytes: size(config.max_document_bytes),
                obeys_robots: config.robots,
            },
        })
    }

    /// The policy that it asks.
    #[must_use]
    pub fn policy(&self) -> &UrlPolicy {
        self.exchange.dialer.policy()
    }

    /// Sends a request and follows its redirects. Cookies last until its answer.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn fetch(&self, request: FetchRequest) -> Result<Fetched, FetchError> {
        self.fetch_in(request, &mut CookieJar::default()).await
    }

    /// The same with the cookies of a session.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn fetch_in(
        &self,
        request: FetchRequest,
        jar: &mut CookieJar,
    ) -> Result<Fetched, FetchError> {
        let url = self.policy().check_text(&request.url).map_err(FetchError::refused)?;
        let body = request.body.map(Into::into);
        let first = Step { method: request.method, url, headers: request.headers, body };
        let chain = Chain {
            jar,
            deadline: Instant::from_std(request.deadline),
            obeys_robots: request.obeys_robots && self.bounds.obeys_robots,
            is_document: request.is_document,
            max_redirects: self.bounds.max_redirects,
            max_bytes: None,
        };
        self.follow(first, chain).await
    }

    async fn follow(&self, first: Step, chain: Chain<'_>) -> Result<Fetched, FetchError> {
        let (mut step, mut redirects, mut seen) = (first, Vec::new(), HashSet::new());
        let (mut turn, mut has_waited) = (None::<(String, Turn)>, false);
        loop {
            if chain.obeys_robots {
                // Boxed, because a robots.txt is fetched by this same function.
                Box::pin(self.check_robots(&step.url, chain.deadline)).await?;
            }
            let host = step.url.host_str().unwrap_or_default().to_owned();
            if turn.as_ref().is_none_or(|(at, _)| *at != host) {
                drop(turn.take());
                let waiting = async { Ok(self.hosts.turn(&host).await) };
                turn = Some((
                    host.clone(),
                    within(&host, Phase::Turn, chain.deadline, waiting).await?,
                ));
            }
            let cookies = chain.jar.header(&step.url);
            let opened =
                self.exchange.open(&step, cookies, chain.is_document, chain.deadline).await;
            let mut opened = opened.map_err(|error| of_redirect(error, &redirects))?;
            chain.jar.take(&step.url, &opened.head.headers);
            let (status, headers) = (opened.head.status, &opened.head.headers);
            if let Some(next) = redirect::next(self.policy(), &step, status, headers)? {
                let is_loop = !seen.insert((step.method.clone(), step.url.clone()));
                redirects.push(Hop { url: step.url, status: status.as_u16() });
                check_count(redirects.len(), chain.max_redirects, is_loop)?;
                step = next;
                continue;
            }
            let retry_after = retry::after(status, headers, SystemTime::now());
            if let Some(until) = worth_waiting(&step, retry_after, chain.deadline)
                && !has_waited
            {
                has_waited = true;
                drop((opened, turn.take()));
                sleep_until(until).await;
                continue;
            }
            let max = chain.max_bytes.unwrap_or_else(|| self.ceiling(chain.is_document, headers));
            let read = body::read(&host, &mut opened, &step.method, max, chain.deadline).await?;
            return Ok(fetched(step.url, redirects, opened, read, retry_after));
        }
    }

    /// The most bytes of a body: more for a document that is of no use when it is cut.
    fn ceiling(&self, is_document: bool, headers: &HeaderMap) -> usize {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_pdf = kind.is_some_and(|kind| {
            kind.split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .eq_ignore_ascii_case("application/pdf")
        });
        match is_document && is_pdf {
            true => self.bounds.max_document_bytes.max(self.bounds.max_bytes),
            false => self.bounds.max_bytes,
        }
    }

    async fn check_robots(&self, url: &Url, deadline: Instant) -> Result<(), FetchError> {
        let origin = url.origin().ascii_serialization();
        let verdict = match self.robots.get(&origin) {
            Some(verdict) => verdict,
            None => {
                let verdict = self.read_robots(url, deadline).await;
                // A host that can't be reached now is asked again by the next request.
                if matches!(verdict, Verdict::Rules(_)) {
                    self.robots.put(origin.clone(), verdict.clone());
                }
                verdict
            }
        };
        let refuse = |reason: &str| {
            Err(FetchError::Robots { origin: origin.clone(), reason: reason.to_owned() })
        };
        match verdict {
            Verdict::Unreadable(reason) => refuse(reason),
            Verdict::Rules(rules)
                if rules.allow(&url[Position::BeforePath..Position::AfterQuery]) =>
            {
                Ok(())
            }
            Verdict::Rules(_) => refuse("a rule of it names this path"),
        }
    }

    async fn read_robots(&self, of: &Url, deadline: Instant) -> Verdict {
        let none = || Verdict::Rules(Rules::default().into());
        let Ok(url) = of.join("/robots.txt") else { return none() };
        let step = Step { method: Method::GET, url, headers: HeaderMap::new(), body: None };
        let chain = Chain {
            jar: &mut CookieJar::default(),
            deadline: deadline.min(Instant::now() + ROBOTS_TIME),
            obeys_robots: false,
            is_document: false,
            max_redirects: ROBOTS_REDIRECTS,
            max_bytes: Some(robots::MAX_BYTES),
        };
        let file = match self.follow(step, chain).await {
            Ok(file) => file,
            Err(FetchError::TooManyRedirects { .. }) => return none(),
            Err(_) => return Verdict::Unreadable("it can't be reached"),
        };
        let is_page = || {
            let kind = file.content_type().unwrap_or_default().to_ascii_lowercase();
            kind.starts_with("text/html") || file.body.trim_ascii_start().starts_with(b"<")
        };
        match file.status.as_u16() {
            200..=299 if is_page() => Verdict::Unreadable("a page is in its place"),
            200..=299 => {
                let agent = self.exchange.user_agent.to_str().unwrap_or_default();
                Verdict::Rules(Rules::parse(&file.body, agent).into())
            }
            429 | 500.. => Verdict::Unreadable("the server has an error in its place"),
            _ => none(),
        }
    }
}

fn check_count(count: usize, max: u64, is_loop: bool) -> Result<(), FetchError> {
    match u64::try_from(count).unwrap_or(u64::MAX) > max {
        true => Err(FetchError::TooManyRedirects { max, is_loop }),
        false => Ok(()),
    }
}

/// A refusal where an address was dialled is one of the redirect that led there.
fn of_redirect(error: FetchError, redirects: &[Hop]) -> FetchError {
    match error {
        FetchError::Refused { refusal, .. } => {
            FetchError::Refused { is_redirect: !redirects.is_empty(), refusal }
        }
        other => other,
    }
}

/// When to ask again, where the server says when, the request may be sent twice, and there is time.
fn worth_waiting(step: &Step, after: Option<Duration>, deadline: Instant) -> Option<Instant> {
    let may_repeat = matches!(step.method, Method::GET | Method::HEAD);
    let until = Instant::now().checked_add(after.filter(|_| may_repeat)?)?;
    (until < deadline).then_some(until)
}

fn fetched(
    url: Url,
    redirects: Vec<Hop>,
    opened: Opened,
    read: body::Read,
    retry_after: Option<Duration>,
) -> Fetched {
    let status: StatusCode = opened.head.status;
    Fetched {
        status,
        url,
        redirects,
        headers: opened.head.headers,
        body: read.bytes,
        wire_bytes: read.wire_bytes,
        is_truncated: read.is_truncated,
        is_incomplete: read.is_incomplete,
        retry_after,
        address: opened.address,
    }
}
