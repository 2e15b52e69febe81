//! JSON, laid out for reading, with every number and every key as it stands.
//!
//! The layout is made from the text itself and not from values, so that nothing is lost: large numbers
//! keep their digits, and a key that is there twice stays there twice. What is not JSON stays as it is;
//! whether it is, is checked with a stack of brackets, so depth costs nothing.

use super::budget::Budget;

/// JSON with a line for each member and element, or none where the text is not JSON or the budget does
/// not last.
pub(super) fn pretty(text: &str, budget: &Budget) -> Option<String> {
    let mut writer = Writer { out: String::with_capacity(text.len() * 2), depth: 0 };
    let mut tokens = Tokens { text: text.trim_start_matches('\u{FEFF}') };
    let mut open: Vec<u8> = Vec::new();
    let mut wants = Wants::Value;
    while let Some(token) = tokens.next()? {
        budget.spend(1 + token.len() / 16).then_some(())?;
        wants = step(wants, token, &mut open, &mut writer)?;
    }
    (wants == Wants::End).then_some(writer.out)
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    Comma,
    End,
}

fn step(wants: Wants, token: &str, open: &mut Vec<u8>, writer: &mut Writer) -> Option<Wants> {
    let first = *token.as_bytes().first()?;
    let takes_value = matches!(wants, Wants::Value | Wants::ValueOrEnd);
    match first {
        b'{' | b'[' if takes_value => {
            writer.open(token, wants == Wants::ValueOrEnd);
            open.push(first);
            Some(if first == b'{' { Wants::KeyOrEnd } else { Wants::ValueOrEnd })
        }
        b'}' | b']' => {
            let opened = open.pop()?;
            let fits = matches!((opened, first), (b'{', b'}') | (b'[', b']'));
            let empty = matches!(wants, Wants::KeyOrEnd | Wants::ValueOrEnd);
            (fits && (empty || wants == Wants::Comma)).then_some(())?;
            writer.close(token, empty);
            Some(after(open))
        }
        b',' if wants == Wants::Comma => {
            writer.out.push(',');
            writer.line();
            Some(if open.last() == Some(&b'{') { Wants::Key } else { Wants::Value })
        }
        b':' if wants == Wants::Colon => {
            writer.out.push_str(": ");
            Some(Wants::Value)
        }
        b'"' if matches!(wants, Wants::Key | Wants::KeyOrEnd) => {
            writer.value(token, wants == Wants::KeyOrEnd);
            Some(Wants::Colon)
        }
        b'{' | b'[' | b',' | b':' => None,
        _ if takes_value => {
            writer.value(token, wants == Wants::ValueOrEnd);
            Some(after(open))
        }
        _ => None,
    }
}

fn after(open: &[u8]) -> Wants {
    if open.is_empty() { Wants::End } else { Wants::Comma }
}

struct Writer {
    out: String,
    depth: usize,
}

/// Deepest indentation, in levels: what is deeper stands no farther to the right.
const MAX_INDENT: usize = 32;

impl Writer {
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', 2 * self.depth.min(MAX_INDENT)));
    }

    fn value(&mut self, token: &str, first: bool) {
        if first {
            self.line();
        }
        self.out.push_str(token);
    }

    fn open(&mut self, token: &str, first: bool) {
        self.value(token, first);
        self.depth += 1;
    }

    fn close(&mut self, token: &str, empty: bool) {
        self.depth = self.depth.saturating_sub(1);
        if !empty {
            self.line();
        }
        self.out.push_str(token);
    }
}

/// The signs, strings, numbers and words of a text.
struct Tokens<'a> {
    text: &'a str,
}

impl<'a> Tokens<'a> {
    /// The next token; an inner none at the end, an outer one where there is no token.
    #[expect(clippy::option_option, reason = "the end is not the same as a mistake")]
    fn next(&mut self) -> Option<Option<&'a str>> {
        let text = self.text.trim_start_matches([' ', '\t', '\n', '\r']);
        let Some(&first) = text.as_bytes().first() else { return Some(None) };
        let length = match first {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => string(text)?,
            _ => word(text)?,
        };
        let (token, rest) = text.split_at_checked(length)?;
        self.text = rest;
        Some(Some(token))
    }
}

/// The length of the string that a text begins with.
fn string(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            b'\n' | b'\r' => return None,
            _ => {}
        }
    }
    None
}

/// The length of the number or word that a text begins with. `NaN` and the infinities are no JSON, but
/// are written by enough programs.
fn word(text: &str) -> Option<usize> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length = text.bytes().take_while(|&byte| fits(byte)).count();
    let word = text.get(..length)?;
    let is_word = matches!(word, "true" | "false" | "null" | "NaN" | "Infinity" | "-Infinity");
    (is_word || is_number(word)).then_some(length)
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        && word.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plenty() -> Budget {
        Budget::new(std::time::Duration::from_secs(60))
    }

    #[test]
    fn a_budget_that_does_not_last_leaves_the_text_alone() {
        let long = format!("[{}1]", "1,".repeat(10_000));
        assert_eq!(pretty(&long, &Budget::new(std::time::Duration::ZERO)), None);
    }

    #[test]
    fn json_is_laid_out_and_keeps_what_it_says() {
        for (text, laid_out) in [
            ("{}", "{}"),
            ("\u{FEFF}[1,2]", "[\n  1,\n  2\n]"),
            ("{\"a\":1,\"a\":[]}", "{\n  \"a\": 1,\n  \"a\": []\n}"),
            ("123456789012345678901234567890.10", "123456789012345678901234567890.10"),
            ("[NaN,-Infinity]", "[\n  NaN,\n  -Infinity\n]"),
            ("{\"a\":{\"b\":\"}\\\"\"}}", "{\n  \"a\": {\n    \"b\": \"}\\\"\"\n  }\n}"),
        ] {
            assert_eq!(pretty(text, &plenty()).as_deref(), Some(laid_out), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_none() {
        for text in
            ["", "{", "[1,]", "{\"a\"}", "{a:1}", "[1 2]", "1 2", "[}", "nul", "\"a", ",", "[,1]"]
        {
            assert_eq!(pretty(text, &plenty()), None, "{text}");
        }
    }

    #[test]
    fn depth_costs_nothing() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(pretty(&deep, &plenty()).is_some_and(|text| text.len() < 100_000 * 140));
    }
}
