//! A no of the policy, with what would be accepted.
//!
//! Its text goes to a model: it names what the model wrote and the rule, never an address that a
//! resolver gave, which would be a map of somebody's network.

use super::AddressClass;

/// Why a URL, a host or an address may not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Something stands in the text that no URL holds, and that parsers disagree about.
    #[error("a URL may not hold {what}; write it percent-encoded")]
    Character {
        /// What: `a space`, `a control character`, …
        what: &'static str,
    },
    /// Longer than any URL that servers take.
    #[error("the URL has {bytes} bytes; at most {max} are accepted")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest.
        max: usize,
    },
    /// No absolute URL.
    #[error("this is no URL ({problem}); an absolute one with http:// or https:// is accepted")]
    Malformed {
        /// What the parser says.
        problem: String,
    },
    /// Another scheme.
    #[error("the scheme {scheme:?} is refused; http and https are accepted")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// A user name or a password.
    #[error("a URL with a user name or a password is refused; leave out what stands before the @")]
    Userinfo,
    /// A port that is not in the list.
    #[error("the port {port} is refused; accepted: {accepted}")]
    Port {
        /// The port.
        port: u16,
        /// Those in the list.
        accepted: String,
    },
    /// A name that is not one of the open internet.
    #[error("the host {host:?} is refused: {reason}")]
    Name {
        /// The host.
        host: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An address that is not globally routable, or a name that stands for one.
    #[error(
        "the host {host:?} is refused: {}, and only public addresses are accepted",
        class.as_str()
    )]
    Address {
        /// The host, as it was asked for.
        host: String,
        /// What kind of address it is.
        class: AddressClass,
    },
    /// In the operator's list of refused hosts.
    #[error("the host {host:?} is refused by the operator's list")]
    Denied {
        /// The host.
        host: String,
    },
    /// Not in the operator's list of accepted hosts.
    #[error("the host {host:?} is not in the operator's list of accepted hosts")]
    NotAllowed {
        /// The host.
        host: String,
    },
    /// A redirect from outside to a host that the operator calls internal.
    #[error("a redirect to the internal host {host:?} is refused; only a call can name it")]
    RedirectInside {
        /// The host.
        host: String,
    },
}
