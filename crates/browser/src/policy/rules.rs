//! The rules: schemes, ports, names and addresses, and an operator's lists.
//!
//! A refused host is refused whatever else says. An internal host is accepted only where its own line
//! names it; that line opens neither another port nor another name, and no redirect from outside leads
//! there. Everything else must be public, and in the list of accepted hosts where there is one.

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
};

use url::{Host, Url};

use super::{
    AddressClass, HostPattern, PatternError, Refusal, address,
    pattern::PortPattern,
    text::{self, MAX_BYTES},
};

/// The ports of the web.
const PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// Last labels that no public name has.
const INNER: &[&str] = &[
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "onion",
    "arpa",
];

/// What an operator can set of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRules {
    /// Host patterns that are accepted; where empty, every public host is.
    pub allow_hosts: Vec<String>,
    /// Host patterns that are refused, also where another list accepts them.
    pub deny_hosts: Vec<String>,
    /// Host patterns of internal hosts, with a port or without, that are accepted.
    pub internal_hosts: Vec<String>,
    /// The ports that are accepted.
    pub ports: Vec<u16>,
}

impl Default for PolicyRules {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            deny_hosts: Vec::new(),
            internal_hosts: Vec::new(),
            ports: PORTS.to_vec(),
        }
    }
}

/// Rules that make no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A pattern.
    #[error("{list}: {source}")]
    Pattern {
        /// The list that holds it.
        list: &'static str,
        /// What is wrong.
        source: PatternError,
    },
    /// A port that is none, or no port at all.
    #[error("ports: at least one, and none of them 0, is accepted")]
    Ports,
}

/// Which URLs, hosts and addresses may be used.
///
/// ```
/// use browser::{Refusal, UrlPolicy};
/// let policy = UrlPolicy::default();
/// assert!(policy.check_text("https://example.com/a?b=c").is_ok());
/// assert!(matches!(policy.check_text("http://0x7f.1/"), Err(Refusal::Address { .. })));
/// assert!(matches!(policy.check_text("file:///etc/passwd"), Err(Refusal::Scheme { .. })));
/// ```
#[derive(Debug, Clone)]
pub struct UrlPolicy {
    allow: Vec<HostPattern>,
    deny: Vec<HostPattern>,
    internal: Vec<PortPattern>,
    ports: BTreeSet<u16>,
}

impl Default for UrlPolicy {
    fn default() -> Self {
        let ports = PORTS.into_iter().collect();
        Self { allow: Vec::new(), deny: Vec::new(), internal: Vec::new(), ports }
    }
}

/// How a host was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// As a public host: only globally routable addresses may be dialled.
    Public,
    /// As an internal name: addresses of internal networks may be dialled, too.
    Internal,
    /// As a literal address that the operator wrote down: exactly that one may be dialled.
    Literal,
}

impl Admission {
    /// Whether the operator's list of internal hosts let it in.
    #[must_use]
    pub fn is_internal(self) -> bool {
        self != Self::Public
    }
}

impl UrlPolicy {
    /// The policy of these rules.
    ///
    /// # Errors
    /// A pattern that is none, a port 0, or no port.
    pub fn new(rules: &PolicyRules) -> Result<Self, PolicyError> {
        if rules.ports.is_empty() || rules.ports.contains(&0) {
            return Err(PolicyError::Ports);
        }
        Ok(Self {
            allow: parse_all("allow_hosts", &rules.allow_hosts)?,
            deny: parse_all("deny_hosts", &rules.deny_hosts)?,
            internal: parse_all("internal_hosts", &rules.internal_hosts)?,
            ports: rules.ports.iter().copied().collect(),
        })
    }

    /// Checks a URL as a model wrote it, and gives it parsed. Of its host only what the text says is
    /// known here: a name's addresses are judged where they are dialled.
    ///
    /// # Errors
    /// The refusal.
    pub fn check_text(&self, text: &str) -> Result<Url, Refusal> {
        let url = text::parse(text)?;
        self.check_url(&url)?;
        Ok(url)
    }

    /// Checks the target of a redirect, and gives it parsed.
    ///
    /// # Errors
    /// The refusal; also where it leads from outside to an internal host.
    pub fn check_redirect(&self, from: &Url, location: &[u8]) -> Result<Url, Refusal> {
        let url = text::parse_location(from, location)?;
        let to = self.check_url(&url)?;
        let is_inside = || self.check_url(from).is_ok_and(Admission::is_internal);
        if to.is_internal() && !is_inside() {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(Refusal::RedirectInside { host });
        }
        Ok(url)
    }

    /// Checks a parsed URL: its scheme, its userinfo, its host and its port.
    ///
    /// # Errors
    /// The refusal.
    pub fn check_url(&self, url: &Url) -> Result<Admission, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme { scheme: url.scheme().chars().take(32).collect() });
        }
        if url.as_str().len() > 4 * MAX_BYTES {
            return Err(Refusal::TooLong { bytes: url.as_str().len(), max: 4 * MAX_BYTES });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Userinfo);
        }
        match (url.host(), url.port_or_known_default()) {
            (Some(host), Some(port)) => self.check_host(&host, port),
            _ => Err(Refusal::Malformed { problem: "it has no host".to_owned() }),
        }
    }

    /// Checks a host and a port, and says how it was accepted.
    ///
    /// # Errors
    /// The refusal.
    pub fn check_host(&self, host: &Host<&str>, port: u16) -> Result<Admission, Refusal> {
        if self.deny.iter().any(|pattern| pattern.matches(host)) {
            return Err(Refusal::Denied { host: host.to_string() });
        }
        if let Host::Domain(name) = host {
            check_letters(name)?;
        }
        if let Some(pattern) = self.internal_line(host, port) {
            let is_literal = pattern.host.is_literal();
            return Ok(if is_literal { Admission::Literal } else { Admission::Internal });
        }
        match host {
            Host::Domain(name) => check_public(name)?,
            Host::Ipv4(literal) => check_literal(host, IpAddr::V4(*literal))?,
            Host::Ipv6(literal) => check_literal(host, IpAddr::V6(*literal))?,
        }
        self.check_port(port)?;
        if !self.allow.is_empty() && !self.allow.iter().any(|pattern| pattern.matches(host)) {
            return Err(Refusal::NotAllowed { host: host.to_string() });
        }
        Ok(Admission::Public)
    }

    /// Checks one address that a host stands for, as it is about to be dialled.
    ///
    /// # Errors
    /// The refusal.
    pub fn check_address(
        &self,
        host: &Host<&str>,
        port: u16,
        address: &SocketAddr,
    ) -> Result<(), Refusal> {
        let admission = self.check_host(host, port)?;
        let refused = |class| Refusal::Address { host: host.to_string(), class };
        if let SocketAddr::V6(address) = address
            && address.scope_id() != 0
        {
            return Err(refused(AddressClass::LinkLocal));
        }
        let literal: Host<&str> = match address.ip() {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        };
        if self.deny.iter().any(|pattern| pattern.matches(&literal)) {
            return Err(Refusal::Denied { host: host.to_string() });
        }
        match (admission, address::class(address.ip())) {
            (Admission::Literal, _) if *host == literal => Ok(()),
            (_, None) => Ok(()),
            (Admission::Internal, Some(class)) if class.is_internal_network() => Ok(()),
            (_, Some(class)) => Err(refused(class)),
        }
    }

    fn internal_line(&self, host: &Host<&str>, port: u16) -> Option<&PortPattern> {
        let is_meant = |line: &&PortPattern| {
            line.matches(host, port) && (line.port.is_some() || self.ports.contains(&port))
        };
        self.internal.iter().find(is_meant)
    }

    fn check_port(&self, port: u16) -> Result<(), Refusal> {
        if self.ports.contains(&port) {
            return Ok(());
        }
        let accepted: Vec<String> = self.ports.iter().take(16).map(u16::to_string).collect();
        Err(Refusal::Port { port, accepted: accepted.join(", ") })
    }
}

fn parse_all<T>(list: &'static str, patterns: &[String]) -> Result<Vec<T>, PolicyError>
where
    T: std::str::FromStr<Err = PatternError>,
{
    let parse = |text: &String| text.parse();
    patterns
        .iter()
        .map(parse)
        .collect::<Result<_, _>>()
        .map_err(|source| PolicyError::Pattern { list, source })
}

/// What no host name has, internal or not.
fn check_letters(name: &str) -> Result<(), Refusal> {
    let refuse = |reason| Err(Refusal::Name { host: name.chars().take(256).collect(), reason });
    if name.ends_with('.') {
        return refuse("a name may not end in a dot");
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        return refuse("it is no host name");
    }
    Ok(())
}

/// What no public name is.
fn check_public(name: &str) -> Result<(), Refusal> {
    let refuse = |reason| Err(Refusal::Name { host: name.to_owned(), reason });
    let Some((_, last)) = name.rsplit_once('.') else {
        return refuse("a name of one label is not public");
    };
    if INNER.contains(&last) || name == "metadata.goog" {
        return refuse("it is not a public name");
    }
    Ok(())
}

fn check_literal(host: &Host<&str>, literal: IpAddr) -> Result<(), Refusal> {
    match address::class(literal) {
        None => Ok(()),
        Some(class) => Err(Refusal::Address { host: host.to_string(), class }),
    }
}
