//! What a secret looks like, compiled once.
//!
//! Four kinds: texts that are a key by their own shape, values behind a name that says so, passwords in
//! addresses, and private keys of several lines. A plain word beside "token" or "password" is no secret.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::hints::Hints;

/// What stands in a secret's place.
pub(super) const REMOVED: &[u8] = b"[redacted]";
/// How a private key begins.
const BEGIN: &[u8] = b"-----BEGIN";

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

/// What stands before a value: in quotes, assigned, in a header, in an address.
static BEFORE: LazyLock<[String; 4]> = LazyLock::new(|| {
    [
        format!(r#"["'](?i:[a-z0-9_-]*{NAMES})["']\s*[:=]\s*["']"#),
        format!(r#"\b(?i:[a-z0-9_]*{NAMES})\s?=\s?["']?"#),
        r#"(?i:authorization)["']?\s*[:=]\s*["']?(?i:basic|bearer|token|digest)\s+"#.to_owned(),
        r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:".to_owned(),
    ]
});

static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let ([quoted, assigned, header, address], keys) = (&*BEFORE, KEYS.join("|"));
    compile(&format!(
        r#"(?P<quoted>{quoted})(?:[^"'\\\r\n]|\\.)+|(?P<assigned>{assigned})[^\s"'&;,]{{6,}}|(?P<header>{header})[A-Za-z0-9+/=._~-]{{4,}}|(?P<address>{address})[^\s/@]+@|{keys}"#
    ))
});

/// A value that goes on at the end, or has not begun yet.
static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let [quoted, assigned, header, address] = &*BEFORE;
    compile(&format!(
        r#"(?:{quoted}(?P<quoted>(?:[^"'\\\r\n]|\\.)*\\?)|{assigned}(?P<assigned>[^\s"'&;,]*)|{header}(?P<header>[A-Za-z0-9+/=._~-]*)|{address}(?P<address>[^\s/@]*)|(?P<key>(?:sk-|[rs]k_(?:live|test)_|AKIA|ASIA|github_pat_|gh[opsur]_|glpat-|xox[abeoprs]-|AIza|npm_|hf_|eyJ)[A-Za-z0-9_.-]*))\z"#
    ))
});

/// A private key with its lines, perhaps without its end.
static BLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\:,.-]*?(?:(?P<end>-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)|(?P<open>\z)|[^A-Za-z0-9+/=\s\\:,.-])",
    )
});

/// `None` only where it would not compile, which a test excludes.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// A secret in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Secret {
    /// With the name before it.
    pub(super) start: usize,
    /// The secret itself.
    value: usize,
    pub(super) end: usize,
    /// Whether it is a private key of several lines.
    pub(super) is_block: bool,
    /// Whether nothing can be added to it.
    pub(super) is_whole: bool,
    /// What of its end stays.
    behind: &'static [u8],
}

/// The secrets of a text, in order; nothing where none can be judged. All but private keys are within
/// one line.
pub(super) fn secrets(text: &[u8]) -> Option<Vec<Secret>> {
    let (mut hints, secret, block) = (Hints::of(text)?, SECRET.as_ref()?, BLOCK.as_ref()?);
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(hint) = hints.next(at) {
        if text.get(hint.clone()) == Some(BEGIN) {
            let key = block.captures_at(text, hint.start);
            let key = key.and_then(|key| block_of(&key)).filter(|key| key.start == hint.start);
            at = key.map_or(hint.end, |key| key.end);
            all.extend(key);
        } else {
            let (start, end) = line(text, at, hint.start);
            let part = text.get(start..end).unwrap_or_default();
            all.extend(
                secret.captures_iter(part).filter_map(|found| secret_of(&found, part, start)),
            );
            at = end;
        }
    }
    Some(all)
}

/// The line around a place, from `from` on, up to where a private key begins.
fn line(text: &[u8], from: usize, at: usize) -> (usize, usize) {
    let before = text.get(from..at).unwrap_or_default();
    let start =
        before.iter().rposition(|byte| *byte == b'\n').map_or(from, |found| from + found + 1);
    let behind = text.get(at..).unwrap_or_default();
    let end = behind.iter().position(|byte| *byte == b'\n').unwrap_or(behind.len());
    let begin =
        behind.get(..end).and_then(|rest| rest.windows(BEGIN.len()).position(|part| part == BEGIN));
    (start, at + begin.unwrap_or(end))
}

fn block_of(found: &Captures<'_>) -> Option<Secret> {
    let (whole, is_over) = (found.get(0)?, found.name("end").is_some());
    let is_cut = !is_over && found.name("open").is_none();
    // The character that no key has is not a part of it.
    let end = whole.end() - usize::from(is_cut);
    Some(Secret {
        start: whole.start(),
        value: whole.start(),
        end,
        is_block: true,
        is_whole: found.name("open").is_none(),
        behind: b"",
    })
}

fn secret_of(found: &Captures<'_>, text: &[u8], offset: usize) -> Option<Secret> {
    let whole = found.get(0)?;
    let before = ["quoted", "assigned", "header", "address"];
    let before = before.iter().find_map(|name| found.name(name));
    if before.is_none() && is_in_a_word(text, whole.start()) {
        return None;
    }
    let behind: &[u8] = if found.name("address").is_some() { b"@" } else { b"" };
    Some(Secret {
        start: offset + whole.start(),
        value: offset + before.map_or(whole.start(), |before| before.end()),
        end: offset + whole.end(),
        is_block: false,
        is_whole: found.name("address").is_some(),
        behind,
    })
}

/// Whether `sk-` is the end of a word (`task-`), and not behind an escape sequence.
fn is_in_a_word(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(12)..at).unwrap_or_default();
    text.get(at..).is_some_and(|rest| rest.starts_with(b"sk-"))
        && before.last().is_some_and(u8::is_ascii_alphabetic)
        && !before.contains(&0x1b)
}

/// Where the value of a secret begins that may go on behind the end of the text; of a line that no
/// more is known of.
pub(super) fn open_value(text: &[u8]) -> Option<usize> {
    let from = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let found = OPEN.as_ref()?.captures(text.get(from..)?)?;
    let values = ["quoted", "assigned", "header", "address", "key"];
    let value = values.iter().find_map(|name| found.name(name))?;
    Some(from + value.start())
}

/// A part of a text without those of its secrets that are in it.
pub(super) fn without(text: &[u8], secrets: &[Secret], part: Range<usize>) -> Vec<u8> {
    let (mut clean, mut at) = (Vec::with_capacity(part.len()), part.start);
    let copy = |from: usize, to: usize, clean: &mut Vec<u8>| {
        clean.extend_from_slice(text.get(from..to.min(part.end)).unwrap_or_default());
    };
    for secret in secrets.iter().filter(|one| one.end > part.start && one.start < part.end) {
        copy(at, secret.value, &mut clean);
        clean.extend_from_slice(REMOVED);
        clean.extend_from_slice(secret.behind);
        at = secret.end;
    }
    copy(at, part.end, &mut clean);
    clean
}

/// A text without its secrets.
pub(super) fn clean(text: &[u8]) -> Cow<'_, [u8]> {
    match secrets(text) {
        // Nothing is shown where nothing can be judged.
        None => Cow::Borrowed(REMOVED),
        Some(secrets) if secrets.is_empty() => Cow::Borrowed(text),
        Some(secrets) => Cow::Owned(without(text, &secrets, 0..text.len())),
    }
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
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE+/==\n-----END RSA PRIVATE KEY-----\nb",
                "a\n[redacted]\nb",
            ),
            (
                r#"{"key": "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"}"#,
                r#"{"key": "[redacted]\n"}"#,
            ),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb\n", "[redacted]"),
            ("x -----BEGIN PRIVATE KEY----- (see the manual)", "x [redacted](see the manual)"),
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
            "a task-management-system-v2 and a risk-assessment-framework1",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
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
