//! `[browser]`: what an operator can set of the web, and what of it makes no sense.

use std::{path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_core::OutOfRange;
use url::Url;

use crate::{PolicyError, PolicyRules, UrlPolicy};

/// The methods that `api` can be given.
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// `[browser]`: the web. A bound of this section is the operator's: no call can raise it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BrowserConfig {
    /// Whether the tool exists.
    pub enabled: bool,
    /// The hosts that may be read: `example.com`, or `*.example.com` for the names below it. Where empty, every public host.
    pub allow_hosts: Vec<String>,
    /// The hosts that may not be read, also where another list accepts them.
    pub deny_hosts: Vec<String>,
    /// Hosts of internal networks that may be read, with a port or without: `wiki.corp.example:8090`, `127.0.0.1:8000`.
    pub internal_hosts: Vec<String>,
    /// The ports that may be used.
    pub ports: Vec<u16>,
    /// The methods that `api` may use, of GET, HEAD, POST, PUT, PATCH and DELETE.
    pub api_methods: Vec<String>,
    /// The time of one call, in seconds.
    pub timeout_secs: u64,
    /// The time until a connection is there, in milliseconds.
    pub connect_timeout_ms: u64,
    /// The time from a request to the head of its answer, in milliseconds.
    pub first_byte_timeout_ms: u64,
    /// The most bytes of a body, decompressed; what is longer is cut.
    pub max_bytes: u64,
    /// The most bytes of a document that can't be cut, such as a PDF.
    pub max_document_bytes: u64,
    /// The most bytes of the head of an answer.
    pub max_header_bytes: u64,
    /// The most redirects that are followed.
    pub max_redirects: u64,
    /// The most requests to one host at once.
    pub per_host: u64,
    /// The least time between two visits to one host, in milliseconds.
    pub host_delay_ms: u64,
    /// How we say who we are; where absent, remit and its version.
    pub user_agent: Option<String>,
    /// Whether robots.txt is obeyed.
    pub robots: bool,
    /// A proxy that every connection goes through: `http://host:port`. No variable of the environment names one.
    pub proxy: Option<String>,
    /// A file of certificates in PEM form that are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// How long a page that was read is kept for further reading, in seconds.
    pub keep_secs: u64,
    /// The most bytes of all pages that are kept.
    pub keep_bytes: u64,
    /// The engine of `click`, `type`, `press`, `scroll`, `screenshot` and `snapshot`; where absent, there are none of these.
    pub engine: Option<EngineKind>,
    /// The program of the engine; where absent, it is looked for where distributions put it.
    pub engine_program: Option<PathBuf>,
    /// The most live pages at a time. Each is a browser of its own.
    pub max_pages: u64,
    /// The memory of one live page with all its processes and files, in MiB.
    pub page_memory_mib: u64,
    /// After how long without use a live page is closed, in seconds.
    pub page_idle_secs: u64,
}

/// A real browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// Chromium.
    Chromium,
}

/// A value of `[browser]` that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserConfigError {
    /// A number out of its range.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// The lists of hosts and ports.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A method.
    #[error("{given:?} is no method of api; GET, HEAD, POST, PUT, PATCH and DELETE are")]
    Method {
        /// As it is written.
        given: String,
    },
    /// A text that can't be used.
    #[error("{message}")]
    Text {
        /// The key.
        key: &'static str,
        /// What is wrong, and what would be accepted.
        message: String,
    },
}

impl BrowserConfigError {
    /// The key of the section whose value is to be mended.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Range(number) => number.key,
            Self::Text { key, .. } => key,
            Self::Policy(PolicyError::Pattern { list, .. }) => list,
            Self::Policy(PolicyError::Ports) => "ports",
            Self::Method { .. } => "api_methods",
        }
    }
}

impl Default for BrowserConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            allow_hosts: Vec::new(),
            deny_hosts: Vec::new(),
            internal_hosts: Vec::new(),
            ports: PolicyRules::default().ports,
            api_methods: ["GET", "POST"].map(str::to_owned).to_vec(),
            timeout_secs: 30,
            connect_timeout_ms: 10_000,
            first_byte_timeout_ms: 20_000,
            max_bytes: 512 << 10,
            max_document_bytes: 16 << 20,
            max_header_bytes: 64 << 10,
            max_redirects: 10,
            per_host: 4,
            host_delay_ms: 100,
            user_agent: None,
            robots: false,
            proxy: None,
            ca_file: None,
            keep_secs: 300,
            keep_bytes: 64 << 20,
            engine: None,
            engine_program: None,
            max_pages: 4,
            page_memory_mib: 2048,
            page_idle_secs: 600,
        }
    }
}

impl BrowserConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The first that can't be used.
    pub fn check(&self) -> Result<(), BrowserConfigError> {
        let ranges = [
            ("timeout_secs", self.timeout_secs, 1, 3600),
            ("connect_timeout_ms", self.connect_timeout_ms, 1, 3_600_000),
            ("first_byte_timeout_ms", self.first_byte_timeout_ms, 1, 3_600_000),
            ("max_bytes", self.max_bytes, 1024, 64 << 20),
            ("max_document_bytes", self.max_document_bytes, 1024, 256 << 20),
            ("max_header_bytes", self.max_header_bytes, 8192, 1 << 20),
            ("max_redirects", self.max_redirects, 0, 50),
            ("per_host", self.per_host, 1, 1024),
            ("host_delay_ms", self.host_delay_ms, 0, 60_000),
            ("keep_secs", self.keep_secs, 0, 86_400),
            ("keep_bytes", self.keep_bytes, 0, 4 << 30),
            ("max_pages", self.max_pages, 1, 64),
            ("page_memory_mib", self.page_memory_mib, 512, 65_536),
            ("page_idle_secs", self.page_idle_secs, 1, 86_400),
        ];
        OutOfRange::check(&ranges)?;
        self.policy()?;
        self.check_methods()?;
        self.check_agent()?;
        self.proxy_address().map(drop)
    }

    /// The policy of its lists.
    ///
    /// # Errors
    /// A pattern or a port that is none.
    pub fn policy(&self) -> Result<UrlPolicy, PolicyError> {
        UrlPolicy::new(&PolicyRules {
            allow_hosts: self.allow_hosts.clone(),
            deny_hosts: self.deny_hosts.clone(),
            internal_hosts: self.internal_hosts.clone(),
            ports: self.ports.clone(),
        })
    }

    /// How we say who we are.
    #[must_use]
    pub fn user_agent(&self) -> &str {
        const OURS: &str = concat!("remit/", env!("CARGO_PKG_VERSION"));
        self.user_agent.as_deref().unwrap_or(OURS)
    }

    /// The time of one call.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    fn check_methods(&self) -> Result<(), BrowserConfigError> {
        let bad = self.api_methods.iter().find(|given| !METHODS.contains(&given.as_str()));
        match bad {
            Some(given) => Err(BrowserConfigError::Method { given: given.clone() }),
            None => Ok(()),
        }
    }

    fn check_agent(&self) -> Result<(), BrowserConfigError> {
        let agent = self.user_agent();
        let is_plain = agent.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if is_plain && !agent.trim().is_empty() && agent.len() <= 256 {
            return Ok(());
        }
        let message = "user_agent must have 1 to 256 printable ASCII characters".to_owned();
        Err(BrowserConfigError::Text { key: "user_agent", message })
    }

    /// Host and port of the proxy, where there is one.
    pub(crate) fn proxy_address(&self) -> Result<Option<(String, u16)>, BrowserConfigError> {
        let Some(text) = &self.proxy else { return Ok(None) };
        let error = || BrowserConfigError::Text {
            key: "proxy",
            message: "proxy must be http://host:port, without a path, a user name or a password"
                .to_owned(),
        };
        let url = Url::parse(text).map_err(|_| error())?;
        let is_bare = url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none();
        let host = match url.host() {
            Some(url::Host::Ipv6(address)) => address.to_string(),
            Some(host) => host.to_string(),
            None => return Err(error()),
        };
        match url.port_or_known_default() {
            Some(port) if is_bare && url.scheme() == "http" => Ok(Some((host, port))),
            _ => Err(error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_accepted_and_off() {
        let config = BrowserConfig::default();
        config.check().unwrap();
        assert!(!config.enabled && config.engine.is_none());
        assert_eq!((config.timeout_secs, config.max_bytes), (30, 524_288));
    }

    #[test]
    fn bad_values_are_refused_with_their_key() {
        let check = |text: &str, key: &str| {
            let config: BrowserConfig = toml::from_str(text).unwrap();
            assert_eq!(config.check().unwrap_err().key(), key, "{text}");
        };
        check("timeout_secs = 0", "timeout_secs");
        check("max_bytes = 10", "max_bytes");
        check("ports = []", "ports");
        check("ports = [80, 0]", "ports");
        check("allow_hosts = [\"https://example.com\"]", "allow_hosts");
        check("deny_hosts = [\"*\"]", "deny_hosts");
        check("internal_hosts = [\"10.0.0.0/8\"]", "internal_hosts");
        check("api_methods = [\"get\"]", "api_methods");
        check("api_methods = [\"TRACE\"]", "api_methods");
        check("user_agent = \"a\\nb\"", "user_agent");
        check("user_agent = \" \"", "user_agent");
        check("proxy = \"http://u:p@proxy:1\"", "proxy");
        check("proxy = \"socks5://proxy:1\"", "proxy");
        check("proxy = \"proxy:1\"", "proxy");
    }

    #[test]
    fn a_proxy_has_a_host_and_a_port() {
        let check = |proxy: &str, host: &str, port: u16| {
            let config =
                BrowserConfig { proxy: Some(proxy.to_owned()), ..BrowserConfig::default() };
            let expected = Some((host.to_owned(), port));
            assert_eq!(config.proxy_address().unwrap(), expected);
        };
        check("http://proxy.example:3128", "proxy.example", 3128);
        check("http://proxy.example/", "proxy.example", 80);
        check("http://[::1]:3128", "::1", 3128);
    }
}
