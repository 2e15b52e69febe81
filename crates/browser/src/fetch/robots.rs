//! `robots.txt` (RFC 9309): what its rules say of a path, for one product.
//!
//! The group of our product counts, or else that of `*`; of its rules the longest that fits, and `allow`
//! where two are as long. What can't be read at all refuses; what is not there allows.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// What is read of a file at most, in bytes (the RFC asks for 500 KiB at least).
pub(super) const MAX_BYTES: usize = 500 << 10;
/// How long rules are kept: the RFC allows a day.
const KEPT: Duration = Duration::from_secs(3600);
/// How many origins are kept.
const MAX_ORIGINS: usize = 256;

/// Rules for one product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rules {
    rules: Vec<(String, bool)>,
}

/// What is known of an origin.
#[derive(Debug, Clone)]
pub(super) enum Verdict {
    /// Its rules; none where it has no file.
    Rules(Arc<Rules>),
    /// Its file can't be read, and why.
    Unreadable(&'static str),
}

/// What is kept of the origins that were asked.
#[derive(Debug, Default)]
pub(super) struct Known {
    origins: Mutex<HashMap<String, (Instant, Verdict)>>,
}

impl Known {
    pub(super) fn get(&self, origin: &str) -> Option<Verdict> {
        let origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, verdict) = origins.get(origin)?;
        (since.elapsed() < KEPT).then(|| verdict.clone())
    }

    pub(super) fn put(&self, origin: String, verdict: Verdict) {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if origins.len() >= MAX_ORIGINS {
            origins.retain(|_, (since, _)| since.elapsed() < KEPT);
        }
        if origins.len() < MAX_ORIGINS {
            origins.insert(origin, (Instant::now(), verdict));
        }
    }
}

impl Rules {
    /// The rules of a file for the product that a user agent names first.
    pub(super) fn parse(file: &[u8], user_agent: &str) -> Self {
        let file = String::from_utf8_lossy(file.get(..MAX_BYTES).unwrap_or(file));
        let product = product(user_agent);
        let (mut ours, mut everyones) = (None::<Self>, Self::default());
        let (mut is_ours, mut is_everyones, mut names_agents) = (false, false, false);
        for line in file.trim_start_matches('\u{feff}').split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if !names_agents {
                        (is_ours, is_everyones, names_agents) = (false, false, true);
                    }
                    is_everyones |= value == "*";
                    if self::product(value) == product && !product.is_empty() {
                        is_ours = true;
                        ours.get_or_insert_with(Self::default);
                    }
                }
                "allow" | "disallow" => {
                    names_agents = false;
                    let rule = || (normalized(value), key == "allow");
                    if value.is_empty() {
                        continue;
                    }
                    if let (true, Some(ours)) = (is_ours, &mut ours) {
                        ours.rules.push(rule());
                    }
                    if is_everyones {
                        everyones.rules.push(rule());
                    }
                }
                "sitemap" => {}
                // A rule that we don't know, such as a delay, is a rule of its group all the same.
                _ => names_agents = false,
            }
        }
        ours.unwrap_or(everyones)
    }

    /// Whether a path with its query may be read.
    pub(super) fn allow(&self, path: &str) -> bool {
        let path = normalized(path);
        if path == "/robots.txt" {
            return true;
        }
        let fitting = self.rules.iter().filter(|(pattern, _)| fits(pattern, &path));
        fitting.max_by_key(|(pattern, allows)| (pattern.len(), *allows)).is_none_or(|rule| rule.1)
    }
}

/// The product token of a user agent, in lower case.
fn product(text: &str) -> String {
    let is_token = |c: &char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
    text.chars().take_while(is_token).collect::<String>().to_ascii_lowercase()
}

/// Whether a path begins with what a pattern says: `*` is anything, `$` at its end the end.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            match rest.split_once(part) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
    }
    match (last, is_whole) {
        (None, whole) => !whole || rest.is_empty(),
        (Some(part), true) => rest.ends_with(part),
        (Some(part), false) => rest.contains(part),
    }
}

/// The one way in which a path is compared: bytes that need no encoding as they are, all others encoded.
fn normalized(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let encoded = (byte == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match encoded {
            Some(value) if is_plain(value) => out.push(char::from(value)),
            Some(value) => out.push_str(&format!("%{value:02X}")),
            None if byte.is_ascii_graphic() => out.push(char::from(byte)),
            None => out.push_str(&format!("%{byte:02X}")),
        }
        at += if encoded.is_some() { 3 } else { 1 };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(file: &str, path: &str) -> bool {
        Rules::parse(file.as_bytes(), "remit/0.1").allow(path)
    }

    #[test]
    fn the_longest_rule_counts_and_allow_wins_a_draw() {
        let file = "User-agent: *\nDisallow: /\nAllow: /a\nDisallow: /a/b$\nDisallow: /*.gif$\nallow: /p\ndisallow: /p\n";
        let check = |path: &str, expected: bool| assert_eq!(allows(file, path), expected, "{path}");
        check("/", false);
        check("/a", true);
        check("/a/b", false);
        check("/a/b/c", true);
        check("/x.gif", false);
        check("/a/very/long/path.gif", false);
        check("/a/very/long/path.gif?x", true);
        check("/p", true);
        check("/robots.txt", true);
    }

    #[test]
    fn our_group_counts_and_groups_of_one_product_are_one() {
        let file = "user-agent: remit\ndisallow: /x\n\nUser-Agent: *\nDisallow: /\n\nUser-agent: other\nUser-agent: Remit/2\nDisallow: /y # why\n";
        assert!(allows(file, "/"));
        assert!(!allows(file, "/x") && !allows(file, "/y/z"));
        let delay = "user-agent: *\ncrawl-delay: 10\nuser-agent: bad\ndisallow: /\n";
        assert!(allows(delay, "/"));
        assert!(allows("User-agent: remitter\nDisallow: /\n", "/"));
        assert!(allows("User-agent: remit\nUser-agent: *\nDisallow:\n", "/"));
        assert!(allows("", "/") && allows("Disallow: /\n", "/"));
        assert!(!allows("\u{feff}User-agent: *\r\nDisallow: /\r\n", "/"));
    }

    #[test]
    fn paths_are_compared_in_one_spelling() {
        let check = |rule: &str, path: &str, expected: bool| {
            let file = format!("user-agent: *\ndisallow: {rule}\n");
            assert_eq!(allows(&file, path), !expected, "{rule} {path}");
        };
        check("/ä", "/%C3%A4", true);
        check("/%c3%a4", "/%C3%A4/x", true);
        check("/%61", "/a", true);
        check("/a%2fb", "/a/b", false);
        check("/a*c*e", "/abcde", true);
        check("/a*c*e$", "/abcdef", false);
        check("/a*$", "/abc", true);
        check("/*", "/", true);
        check("/a$", "/ab", false);
    }
}
