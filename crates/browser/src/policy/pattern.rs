//! Patterns of hosts: an exact host, or the names below a domain.
//!
//! `example.com` is that host alone. `*.example.com` is every name below it, and not `example.com`
//! itself, nor `evilexample.com`. A literal address is written as in a URL. A pattern is no prefix and no
//! URL: what is longer or shorter than a host is refused where it is configured.

use std::{fmt, str::FromStr};

use url::Host;

/// Which hosts are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Exact(Host<String>),
    /// Names that end in a dot and this domain.
    Below(String),
}

/// A text that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no host pattern; example.com, *.example.com, 192.0.2.1 and [2001:db8::1] are")]
pub struct PatternError {
    /// The text.
    pub text: String,
}

impl HostPattern {
    /// Whether a host, as the `url` crate gives it, is meant.
    #[must_use]
    pub fn matches(&self, host: &Host<&str>) -> bool {
        match (&self.shape, host) {
            (Shape::Exact(Host::Domain(own)), Host::Domain(other)) => own == other,
            (Shape::Exact(Host::Ipv4(own)), Host::Ipv4(other)) => own == other,
            (Shape::Exact(Host::Ipv6(own)), Host::Ipv6(other)) => own == other,
            (Shape::Below(domain), Host::Domain(other)) => {
                other.strip_suffix(domain.as_str()).is_some_and(|rest| {
                    rest.len() > 1 && rest.ends_with('.') && !rest.starts_with('.')
                })
            }
            _ => false,
        }
    }

    /// Whether it is one literal address.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self.shape, Shape::Exact(Host::Ipv4(_) | Host::Ipv6(_)))
    }
}

impl FromStr for HostPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let error = || PatternError { text: text.to_owned() };
        let (rest, is_below) = match text.strip_prefix("*.") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        if rest.is_empty() || rest.ends_with('.') || rest.contains(['*', '%', '/', '@']) {
            return Err(error());
        }
        let shape = match (Host::parse(rest).map_err(|_| error())?, is_below) {
            (Host::Domain(domain), true) => Shape::Below(domain),
            (host, false) => Shape::Exact(host),
            _ => return Err(error()),
        };
        Ok(Self { shape })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shape {
            Shape::Exact(host) => host.fmt(f),
            Shape::Below(domain) => write!(f, "*.{domain}"),
        }
    }
}

/// A pattern, and the one port that is meant, where one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PortPattern {
    pub(super) host: HostPattern,
    pub(super) port: Option<u16>,
}

impl PortPattern {
    pub(super) fn matches(&self, host: &Host<&str>, port: u16) -> bool {
        self.port.is_none_or(|own| own == port) && self.host.matches(host)
    }
}

impl FromStr for PortPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        // The colons of a bare IPv6 address are no border of a port, and it needs its brackets anyway.
        let split = text.rsplit_once(':').filter(|(host, _)| !host.ends_with(':'));
        match split {
            Some((host, port)) if !port.ends_with(']') => {
                let error = || PatternError { text: text.to_owned() };
                let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
                let port = port.parse().ok().filter(|_| is_number).ok_or_else(error)?;
                Ok(Self { host: host.parse()?, port: Some(port) })
            }
            _ => Ok(Self { host: text.parse()?, port: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_hosts_and_no_prefix() {
        let check = |pattern: &str, host: &str, expected: bool| {
            let host = Host::parse(host).unwrap();
            let host = match &host {
                Host::Domain(name) => Host::Domain(name.as_str()),
                Host::Ipv4(address) => Host::Ipv4(*address),
                Host::Ipv6(address) => Host::Ipv6(*address),
            };
            let pattern: HostPattern = pattern.parse().unwrap();
            assert_eq!(pattern.matches(&host), expected, "{pattern} {host}");
        };
        check("example.com", "example.com", true);
        check("EXAMPLE.com", "example.COM", true);
        check("example.com", "www.example.com", false);
        check("example.com", "example.com.evil.test", false);
        check("*.example.com", "www.example.com", true);
        check("*.example.com", "a.b.example.com", true);
        check("*.example.com", "example.com", false);
        check("*.example.com", "evilexample.com", false);
        check("*.example.com", "example.com.evil.test", false);
        check("münchen.example", "xn--mnchen-3ya.example", true);
        check("93.184.216.34", "93.184.216.34", true);
        check("0x7f.1", "127.0.0.1", true);
        check("[::1]", "[0:0:0:0:0:0:0:1]", true);
    }

    #[test]
    fn what_is_no_host_is_no_pattern() {
        for text in [
            "",
            "*",
            "*.",
            "https://example.com",
            "example.com/",
            "example.com/path",
            "a@example.com",
            "*.1.2.3.4",
            "*.*.com",
            "ex*mple.com",
            "example.com.",
            "exa mple.com",
            "::1",
            "%31.com",
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_port_may_stand_behind_it() {
        let check = |text: &str, port: Option<u16>| {
            assert_eq!(text.parse::<PortPattern>().unwrap().port, port, "{text}");
        };
        check("127.0.0.1:8080", Some(8080));
        check("[::1]:8080", Some(8080));
        check("[::1]", None);
        check("*.corp.example:1", Some(1));
        check("wiki.corp.example", None);
        for text in ["a.example:", "a.example:65536", "a.example:x", "::1", "1.2.3.4:+80"] {
            assert!(text.parse::<PortPattern>().is_err(), "{text}");
        }
    }
}
