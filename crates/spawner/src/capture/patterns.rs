//! What a secret looks like, compiled once.
//!
//! Three kinds: texts that are a key by their own shape, values behind a name that says so, and
//! passwords in addresses. A plain word beside "token" or "password" is no secret.

use std::{borrow::Cow, sync::LazyLock};

use regex::bytes::{Captures, Regex, RegexBuilder};

/// What stands in a secret's place.
const REMOVED: &[u8] = b"[redacted]";

/// Keys that are recognized by their own shape.
const KEYS: &[&str] = &[
    r"sk-(?:proj-|ant-|svcacct-|or-)?[A-Za-z0-9_-]{16,}",
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gh[opsur]_[A-Za-z0-9]{20,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"npm_[A-Za-z0-9]{36}",
    r"hf_[A-Za-z0-9]{30,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
];

/// Names whose value is a secret.
const NAMES: &str = "(?:pass(?:word|wd|phrase)|secret(?:[_-]?(?:access)?[_-]?key)?|api[_-]?key|\
                     access[_-]?key|private[_-]?key|client[_-]?secret|auth[_-]?token|\
                     access[_-]?token|refresh[_-]?token|id[_-]?token|bearer[_-]?token|token)";

/// What any secret has: literals alone, which are looked for at the speed of memory. Names are looked for
/// in lower, upper and camel case.
const HINTS: &[&str] = &[
    "sk-",
    "sk_",
    "rk_",
    "AKIA",
    "ASIA",
    "github_pat_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat-",
    "xox",
    "AIza",
    "npm_",
    "hf_",
    "eyJ",
    "://",
    "assw",
    "assW",
    "ASSW",
    "assp",
    "assP",
    "ASSP",
    "ecret",
    "ECRET",
    "oken",
    "OKEN",
    "_key",
    "_KEY",
    "_Key",
    "-key",
    "-KEY",
    "-Key",
    "pikey",
    "piKey",
    "PIKEY",
    "PIKey",
    "esskey",
    "essKey",
    "ESSKEY",
    "atekey",
    "ateKey",
    "ATEKEY",
    "uthoriz",
    "UTHORIZ",
];

static HINT: LazyLock<Option<Regex>> = LazyLock::new(|| compile(&HINTS.join("|")));

static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let keys = KEYS.join("|");
    let quoted =
        format!(r#"(?P<quoted>["'](?i:[a-z0-9_-]*{NAMES})["']\s*[:=]\s*["'])(?:[^"'\\\r\n]|\\.)+"#);
    let assigned = format!(r#"(?P<assigned>\b(?i:[a-z0-9_]*{NAMES})\s?=\s?["']?)[^\s"'&;,]{{6,}}"#);
    let header = r#"(?P<header>(?i:authorization)["']?\s*[:=]\s*["']?(?i:basic|bearer|token|digest)\s+)[A-Za-z0-9+/=._~-]{4,}"#;
    let address = r"(?P<address>[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@";
    compile(&format!("{quoted}|{assigned}|{header}|{address}|{keys}"))
});

/// `None` only where it would not compile, which a test excludes.
fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// A text without its secrets.
pub(super) fn clean(text: &[u8]) -> Cow<'_, [u8]> {
    let (Some(hint), Some(secret)) = (HINT.as_ref(), SECRET.as_ref()) else {
        // Nothing is shown where nothing can be judged.
        return Cow::Borrowed(REMOVED);
    };
    if !hint.is_match(text) {
        return Cow::Borrowed(text);
    }
    secret.replace_all(text, |found: &Captures<'_>| {
        let before = ["quoted", "assigned", "header", "address"];
        let before = before.iter().find_map(|name| found.name(name));
        let behind: &[u8] = if found.name("address").is_some() { b"@" } else { b"" };
        [before.map_or(&b""[..], |kept| kept.as_bytes()), REMOVED, behind].concat()
    })
}

/// Where the secret begins that stands across `at`, if one does.
pub(super) fn secret_across(text: &[u8], at: usize) -> Option<usize> {
    let (hint, secret) = (HINT.as_ref()?, SECRET.as_ref()?);
    if !hint.is_match(text) {
        return None;
    }
    let mut all = secret.find_iter(text);
    all.find(|found| found.start() < at && found.end() > at).map(|found| found.start())
}

/// A text without what looks like a secret: keys of known shapes, values of names like `password`,
/// headers that authorize, passwords in addresses.
#[must_use]
pub fn redacted(text: &str) -> String {
    String::from_utf8_lossy(&clean(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key is put together, so that this file does not hold one.
    fn key(prefix: &str, length: usize) -> String {
        format!("{prefix}{}", "aB3".repeat(length).get(..length).unwrap())
    }

    #[test]
    fn secrets_of_every_shape_are_removed() {
        let keys = [
            key("sk-proj-", 40),
            key("sk-ant-", 40),
            format!("AKIA{}", "A1".repeat(8)),
            key("github_pat_", 40),
            key("gho_", 36),
            key("xoxb-", 24),
            key("AIza", 35),
        ];
        for key in &keys {
            let text = redacted(&format!("the key is {key}, so"));
            assert_eq!(text, "the key is [redacted], so");
        }
        let cases = [
            (r#"{"password": "hunter2"}"#, r#"{"password": "[redacted]"}"#),
            (r#"{'api_key': 'abc', "n": 1}"#, r#"{'api_key': '[redacted]', "n": 1}"#),
            (r#""client_secret":"a\"b""#, r#""client_secret":"[redacted]""#),
            ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"),
            ("authorization: bearer abc.def", "authorization: bearer [redacted]"),
            ("git clone https://user:pass@host/x", "git clone https://user:[redacted]@host/x"),
            ("export DB_PASSWORD=hunter22 &", "export DB_PASSWORD=[redacted] &"),
        ];
        for (text, expected) in cases {
            assert_eq!(redacted(text), expected);
        }
    }

    #[test]
    fn plain_words_stay() {
        let texts = [
            "token: 5 tokens used",
            "the password is asked for, then the secret garden",
            "sk-learn and hf_hub; see https://host:8080/a@b",
            "max_tokens = 5",
            "    def token(self):\n\n        return 1\n",
            r#"{"tokens": 5, "key": "value"}"#,
        ];
        for text in texts {
            assert_eq!(redacted(text), text);
        }
    }
}
