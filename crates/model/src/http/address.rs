//! The address of an API, from the base address that an operator wrote.
//!
//! | base | OpenAI | Anthropic |
//! | --- | --- | --- |
//! | `https://host` or `https://host/` | `/v1/chat/completions` | `/v1/messages` |
//! | `https://host/v1` | `/v1/chat/completions` | `/v1/messages` |
//! | `https://host/some/path/` | `/some/path/chat/completions` | `/some/path/v1/messages` |
//! | one that names the API's own path | as it is | as it is |
//!
//! A query stays. User and password in an address are refused: a secret has one place, the key.

use reqwest::Url;

use crate::{Dialect, ModelError};

/// The address that requests go to.
///
/// # Errors
/// [`ModelError::Config`] where the base is not an HTTP address.
pub(super) fn api_address(dialect: Dialect, base: &str) -> Result<Url, ModelError> {
    let mut url = http_address("model url", base)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let full = match dialect {
        Dialect::OpenAi if path.ends_with("/chat/completions") => path,
        Dialect::OpenAi if path.is_empty() => "/v1/chat/completions".to_owned(),
        Dialect::OpenAi => format!("{path}/chat/completions"),
        Dialect::Anthropic if path.ends_with("/messages") => path,
        Dialect::Anthropic if path.ends_with("/v1") => format!("{path}/messages"),
        Dialect::Anthropic => format!("{path}/v1/messages"),
    };
    url.set_path(&full);
    url.set_fragment(None);
    Ok(url)
}

/// An `http` or `https` address without user and password.
///
/// # Errors
/// [`ModelError::Config`] that names `what` and what would be accepted.
pub(super) fn http_address(what: &str, text: &str) -> Result<Url, ModelError> {
    let refuse = |problem: String| {
        let expected = "expected something like https://api.example.com/v1";
        ModelError::Config(format!("the {what} {:?} {problem}; {expected}", presentable(text)))
    };
    let url = Url::parse(text).map_err(|error| refuse(format!("is no address ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refuse("is neither http nor https".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("has a user or a password in it".to_owned()));
    }
    Ok(url)
}

/// The text without what may be a secret in it: user and password, query, fragment.
fn presentable(text: &str) -> String {
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let plain = &text[..end];
    let shown = match plain.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => plain.to_owned(),
    };
    tool_core::clip(&shown, 200).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_way_to_write_a_base_works() {
        let check = |dialect, base: &str, expected: &str| {
            assert_eq!(api_address(dialect, base).unwrap().as_str(), expected, "{base}");
        };
        let openai = Dialect::OpenAi;
        check(openai, "http://h:8080", "http://h:8080/v1/chat/completions");
        check(openai, "http://h:8080/", "http://h:8080/v1/chat/completions");
        check(openai, "https://h/v1", "https://h/v1/chat/completions");
        check(openai, "https://h/v1/", "https://h/v1/chat/completions");
        check(openai, "https://h/a/b//", "https://h/a/b/chat/completions");
        check(openai, "https://h/x?api-version=1", "https://h/x/chat/completions?api-version=1");
        check(openai, "https://h/v1/chat/completions", "https://h/v1/chat/completions");
        let anthropic = Dialect::Anthropic;
        check(anthropic, "https://h", "https://h/v1/messages");
        check(anthropic, "https://h/v1/", "https://h/v1/messages");
        check(anthropic, "https://h/api/anthropic", "https://h/api/anthropic/v1/messages");
        check(anthropic, "https://h/v1/messages", "https://h/v1/messages");
    }

    #[test]
    fn a_bad_base_is_a_config_error_without_its_secrets() {
        for bad in
            ["", "h:80", "localhost", "ftp://h", "file:///etc/passwd", "http://", "http://h:99999"]
        {
            assert!(
                matches!(api_address(Dialect::OpenAi, bad), Err(ModelError::Config(_))),
                "{bad}"
            );
        }
        for secret in ["https://me:secret@h/v1", "ftp://h/?key=secret", "https:// h#secret"] {
            let error = api_address(Dialect::OpenAi, secret).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
