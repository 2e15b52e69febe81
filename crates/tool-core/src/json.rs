//! JSON read without a silent change.
//!
//! serde_json keeps the last of duplicate keys, turns an integer of 20 digits into a double, and
//! stops at its own depth. A checker that reads the first key and a tool that reads the last can be
//! played off against each other, so [`parse_strict`] refuses what it could not give back as it was:
//!
//! - an object with a key twice,
//! - an integer that fits neither `i64` nor `u64`; a number that would become infinite, or zero
//!   though it is not,
//! - nesting deeper than [`MAX_DEPTH`],
//! - everything that RFC 8259 does not allow (trailing commas, `NaN`, single quotes, lone
//!   surrogates, trailing text).
//!
//! A number with a fraction or an exponent is read as the nearest IEEE double, as every JSON
//! consumer does. A NUL in a string is legal JSON and is kept.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How deep arrays and objects may nest.
pub const MAX_DEPTH: usize = 128;

/// Why a text can't be taken as JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at byte {offset}")]
pub struct JsonProblem {
    message: String,
    offset: usize,
}

impl JsonProblem {
    fn new(message: impl Into<String>, offset: usize) -> Self {
        Self { message: message.into(), offset }
    }

    pub(crate) fn from_serde(text: &str, error: &serde_json::Error) -> Self {
        // serde_json's own text ends in " at line L column C"; the offset says it better.
        let full = error.to_string();
        let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message);
        Self::new(message, offset_of(text, error.line(), error.column()))
    }

    /// Where in the text, in bytes from its start.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        Some(self.offset)
    }
}

/// Line and column (1-based, in bytes) as an offset.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// Reads one JSON value, and refuses what would be changed by reading it.
///
/// # Errors
/// [`JsonProblem`] with the offset.
///
/// ```
/// use tool_core::parse_strict;
/// assert!(parse_strict(r#"{"path": "a"}"#).is_ok());
/// assert!(parse_strict(r#"{"path": "a", "path": "/etc"}"#).is_err());
/// assert!(parse_strict("123456789012345678901234567890").is_err());
/// ```
pub fn parse_strict(text: &str) -> Result<Value, JsonProblem> {
    let doubts = Doubts::default();
    let value = match parse(text, &doubts, Duplicates::Notice) {
        // Noticed is quicker than named, and naming is only needed here.
        Err(_) if doubts.duplicate.get() => parse(text, &doubts, Duplicates::Name),
        value => value,
    };
    let value = value.map_err(|error| JsonProblem::from_serde(text, &error))?;
    if doubts.number.get() {
        check_numbers(text.as_bytes())?;
    }
    Ok(value)
}

fn parse(text: &str, doubts: &Doubts, duplicates: Duplicates) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // Our own count of the depth bounds the recursion.
    reader.disable_recursion_limit();
    let value = Strict { depth: 0, doubts, duplicates }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Looks at every number of a text that is JSON. Only needed where the parser saw a double that an
/// integer may have become, or a zero that may have been none: those it can't tell apart.
fn check_numbers(bytes: &[u8]) -> Result<(), JsonProblem> {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at) + 1,
            b'-' | b'0'..=b'9' => {
                let end = end_of_number(bytes, at);
                check_number(&bytes[at..end]).map_err(|message| JsonProblem::new(message, at))?;
                at = end;
            }
            _ => at += 1,
        }
    }
    Ok(())
}

/// The index of the closing quote of the string that begins at `start`, or the end of the text.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    let length = bytes[start..].iter().take_while(|b| is_part(b)).count();
    start + length.max(1)
}

fn check_number(token: &[u8]) -> Result<(), &'static str> {
    // 18 digits fit everywhere, and without an exponent nothing that short leaves a double's range.
    let has_exponent = token.iter().any(|b| matches!(b, b'e' | b'E'));
    if token.len() <= 18 && !has_exponent {
        return Ok(());
    }
    let Ok(text) = str::from_utf8(token) else { return Ok(()) };
    if !has_exponent && !token.contains(&b'.') {
        let fits = text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok();
        return if fits { Ok(()) } else { Err("the integer does not fit in 64 bits") };
    }
    let Ok(value) = text.parse::<f64>() else { return Ok(()) };
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !mantissa.bytes().any(|b| matches!(b, b'1'..=b'9'));
    // One too large is refused by the parser itself.
    if value == 0.0 && !is_zero { Err("the number is too small for a double") } else { Ok(()) }
}

/// The integers that a double holds without them being a `u64` or an `i64` begin here.
const BEYOND_INTEGERS: f64 = 9_223_372_036_854_775_808.0;

/// What has to be looked at again.
#[derive(Default)]
struct Doubts {
    /// A double that an integer may have become, or a zero that may have been none.
    number: Cell<bool>,
    /// A key that stood there before.
    duplicate: Cell<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Duplicates {
    Notice,
    Name,
}

/// Builds a `Value`; refuses duplicate keys and depth; notes what has to be looked at again.
#[derive(Clone, Copy)]
struct Strict<'n> {
    depth: usize,
    doubts: &'n Doubts,
    duplicates: Duplicates,
}

impl Strict<'_> {
    /// One level further down.
    #[inline]
    fn inside<E: Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom(format_args!("nesting is deeper than {MAX_DEPTH}")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;
    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    #[inline]
    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    #[inline]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if value == 0.0 || value.abs() >= BEYOND_INTEGERS {
            self.doubts.number.set(true);
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    #[inline]
    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    #[inline]
    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if self.duplicates == Duplicates::Name && map.contains_key(&key) {
                let key = crate::clip(&key, 80);
                return Err(A::Error::custom(format_args!("duplicate key {key:?}")));
            }
            if map.insert(key, entries.next_value_seed(inside)?).is_some() {
                self.doubts.duplicate.set(true);
                return Err(A::Error::custom("duplicate key"));
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nested(depth: usize) -> String {
        "[".repeat(depth) + &"]".repeat(depth)
    }

    #[test]
    fn what_would_be_changed_is_refused() {
        let refused = [
            (r#"{"a": 1,}"#, "trailing comma", 8),
            ("{'a': 1}", "key must be a string", 1),
            ("NaN", "expected value", 0),
            ("[1e999]", "number out of range", 5),
            ("1e-999", "too small for a double", 0),
            ("18446744073709551616", "does not fit in 64 bits", 0),
            ("-9223372036854775809", "does not fit in 64 bits", 0),
            (r#"{"path":"a","path":"/etc"}"#, "duplicate key \"path\"", 18),
            (r#"{"p":1,"\u0070":2}"#, "duplicate key \"p\"", 15),
            (r#""\ud800""#, "hex escape", 7),
            ("{} {}", "trailing characters", 3),
            ("", "EOF", 0),
            ("[1", "EOF", 1),
        ];
        for (text, message, offset) in refused {
            let problem = parse_strict(text).unwrap_err();
            assert!(problem.message.contains(message), "{text}: {problem}");
            assert!(problem.offset.abs_diff(offset) <= 1, "{text}: {problem}");
        }
        let huge = "9".repeat(400);
        assert!(parse_strict(&huge).is_err());
        assert!(parse_strict(&nested(129)).unwrap_err().message.contains("deeper than 128"));
    }

    #[test]
    fn what_is_kept_as_it_is_is_accepted() {
        for text in [
            "18446744073709551615",
            "-9223372036854775808",
            "3.0",
            "0e-999",
            "1e300",
            "0.10000000000000000555",
            r#""a\u0000b""#,
            r#"{"a":"9999999999999999999999"}"#,
            r#"["\\","\"{[[["]"#,
        ] {
            assert!(parse_strict(text).is_ok(), "{text}");
        }
        assert!(parse_strict(&nested(128)).is_ok());
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e300f64..1e300).prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("\\PC{0,6}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn parse_after_print_is_identity(value in value()) {
            let text = value.to_string();
            let again = parse_strict(&text).unwrap();
            prop_assert_eq!(again.to_string(), text);
        }

        #[test]
        fn never_laxer_than_serde_json(text in "[\\[\\]{}:,\"a0-9eE.+\\\\ -]{0,24}") {
            if parse_strict(&text).is_ok() {
                prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
            }
        }
    }
}
