//! What is searched for: a text or a regular expression, looked for in one line at a time.
//!
//! The engine is linear in the length of the line. Its programs and caches are bounded, so a pattern
//! that would need more is refused.

use regex::bytes::{Regex, RegexBuilder};
use tool_core::ToolError;

/// The most memory that a compiled pattern may take, in bytes.
const MAX_PROGRAM: usize = 1 << 20;

/// The most memory that matching may use to be quick, in bytes.
const MAX_CACHE: usize = 4 << 20;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern(Regex);

impl Pattern {
    /// Compiles `text`, as itself or as a regular expression.
    pub(super) fn new(text: &str, is_regex: bool, ignores_case: bool) -> Result<Self, ToolError> {
        if !is_regex && text.contains('\n') {
            return Err(ToolError::failed(
                "pattern: it holds a line break, and lines are searched one by one; give one line",
            ));
        }
        let source = if is_regex { text.to_owned() } else { regex::escape(text) };
        RegexBuilder::new(&source)
            .case_insensitive(ignores_case)
            .size_limit(MAX_PROGRAM)
            .dfa_size_limit(MAX_CACHE)
            .build()
            .map(Self)
            .map_err(|error| explain(&error))
    }

    /// Where the first match in a line begins, in bytes.
    pub(super) fn find(&self, line: &[u8]) -> Option<usize> {
        self.0.find(line).map(|found| found.start())
    }
}

fn explain(error: &regex::Error) -> ToolError {
    ToolError::failed(match error {
        regex::Error::CompiledTooBig(_) => {
            "pattern: it is too large when compiled; use smaller repetitions".to_owned()
        }
        error => format!(
            "pattern: not a regular expression: {error} (look-around and back-references are not \
             offered; leave `regex` out to search for the text itself)"
        ),
    })
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
    fn a_pattern_that_burns_time_elsewhere_is_quick_or_refused() {
        let line = vec![b'a'; 256 * 1024];
        assert_eq!(Pattern::new("^(a+)+$", true, false).unwrap().find(&line), Some(0));
        for refused in ["(?=a)b", "(a)\\1", "((a{100}){100}){100}", "("] {
            assert!(Pattern::new(refused, true, false).is_err(), "{refused}");
        }
        assert!(Pattern::new("a\nb", false, false).is_err());
    }
}
