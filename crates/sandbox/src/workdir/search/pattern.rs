//! What is searched for: a text or a regular expression, looked for in one line at a time.
//!
//! The engine is linear in the length of the line, and a search in one line can't be interrupted. So
//! what one line can cost is bounded by the product of the pattern's size and the line's: a pattern is
//! small, and looked for in long lines; or large, and looked for in the beginning of a line; or
//! refused. The worst patterns that fit take about a second for a line.

use regex::bytes::{Regex, RegexBuilder};
use tool_core::ToolError;

/// How large a pattern may be when compiled, in bytes, and how much of a line it is looked for in.
const SIZES: [(usize, u64); 2] = [(64 << 10, 256 << 10), (1 << 20, 16 << 10)];

/// The most memory that matching may use to be quick, in bytes.
const MAX_CACHE: usize = 4 << 20;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    max_line: u64,
}

impl Pattern {
    /// Compiles `text`, as itself or as a regular expression.
    pub(super) fn new(text: &str, is_regex: bool, ignores_case: bool) -> Result<Self, ToolError> {
        if !is_regex && text.contains('\n') {
            return Err(ToolError::failed(
                "pattern: it holds a line break, and lines are searched one by one; give one line",
            ));
        }
        let source = if is_regex { text.to_owned() } else { regex::escape(text) };
        let mut builder = RegexBuilder::new(&source);
        builder.case_insensitive(ignores_case).dfa_size_limit(MAX_CACHE);
        for (size, max_line) in SIZES {
            match builder.size_limit(size).build() {
                Ok(regex) => return Ok(Self { regex, max_line }),
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(error) => return Err(malformed(&error)),
            }
        }
        Err(ToolError::failed("pattern: it is too large when compiled; use smaller repetitions"))
    }

    /// How much of a line it may be looked for in, in bytes.
    pub(super) fn max_line(&self) -> u64 {
        self.max_line
    }

    /// Where the first match in a line begins, in bytes.
    pub(super) fn find(&self, line: &[u8]) -> Option<usize> {
        self.regex.find(line).map(|found| found.start())
    }
}

fn malformed(error: &regex::Error) -> ToolError {
    ToolError::failed(format!(
        "pattern: not a regular expression: {error} (look-around and back-references are not \
         offered; leave `regex` out to search for the text itself)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_itself_and_a_pattern_is_a_pattern() {
        let check = |text, is_regex, ignores_case, line: &[u8], expected| {
            let pattern = Pattern::new(text, is_regex, ignores_case).unwrap();
            assert_eq!(pattern.find(line), expected, "{text}");
        };
        check("a.c", false, false, b"abc a.c", Some(4));
        check("a.c", true, false, b"abc a.c", Some(0));
        check("A.C", false, true, b"abc a.c", Some(4));
        check("^b", true, false, b"ab", None);
        check("b$", true, false, b"ab", Some(1));
        check("\\xff|b", true, false, b"\xff b", Some(2));
    }

    #[test]
    fn a_large_pattern_is_looked_for_in_less() {
        let max_line = |text| Pattern::new(text, true, false).unwrap().max_line();
        assert!(max_line("a{40}") > max_line("a{4000}"));
    }

    #[test]
    fn a_pattern_that_burns_time_elsewhere_is_quick_or_refused() {
        let line = vec![b'a'; 256 * 1024];
        assert_eq!(Pattern::new("^(a+)+$", true, false).unwrap().find(&line), Some(0));
        for refused in ["(?=a)b", "(a)\\1", "((a{100}){100}){100}", "("] {
            assert!(Pattern::new(refused, true, false).is_err(), "{refused}");
        }
        assert!(Pattern::new("a\nb", false, false).is_err());
    }
}
