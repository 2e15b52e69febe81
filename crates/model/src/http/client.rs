//! The HTTP client of a provider, and the headers it always sends.

use std::time::Duration;

use reqwest::{
    Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};

use super::{HttpOptions, address};
use crate::{ApiKey, Dialect, ModelError};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client that follows no redirect and uses no proxy but the one that is named.
///
/// # Errors
/// [`ModelError::Config`] for a bad proxy.
pub(super) fn client(options: &HttpOptions) -> Result<reqwest::Client, ModelError> {
    let builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("remit/", env!("CARGO_PKG_VERSION")))
        .no_proxy();
    let builder = match &options.proxy {
        None => builder,
        Some(proxy) => {
            let address = address::http_address("model proxy", proxy)?;
            let proxy = reqwest::Proxy::all(address)
                .map_err(|error| ModelError::Config(format!("the model proxy: {error}")))?;
            builder.proxy(proxy)
        }
    };
    builder.build().map_err(|error| ModelError::Config(format!("the HTTP client: {error}")))
}

/// The headers of every request, the key among them, marked as not to be shown.
///
/// # Errors
/// [`ModelError::Config`] for a key that no header can carry.
pub(super) fn headers(dialect: Dialect, key: Option<&ApiKey>) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if dialect == Dialect::Anthropic {
        let version = HeaderValue::from_static("2023-06-01");
        headers.insert(HeaderName::from_static("anthropic-version"), version);
    }
    if let Some(key) = key {
        let (name, value) = match dialect {
            Dialect::OpenAi => (AUTHORIZATION, format!("Bearer {}", key.expose())),
            Dialect::Anthropic => (HeaderName::from_static("x-api-key"), key.expose().to_owned()),
        };
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| ModelError::Config("the key can't stand in a header".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Whether a key would cross a network in the open on its way to this address.
pub(super) fn is_in_the_open(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    let is_local = plain == "localhost"
        || plain.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    url.scheme() == "http" && !is_local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_in_the_open_without_tls_beyond_this_machine() {
        let check = |address: &str, expected: bool| {
            assert_eq!(is_in_the_open(&Url::parse(address).unwrap()), expected, "{address}");
        };
        check("https://api.example.com", false);
        check("http://localhost:11434", false);
        check("http://127.0.0.2:1", false);
        check("http://[::1]:1", false);
        check("http://192.168.0.7", true);
        check("http://localhost.example.com", true);
    }
}
