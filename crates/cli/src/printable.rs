//! Text of models and files, made safe for a terminal.
//!
//! Escape sequences, other control characters, and the marks that turn the direction of writing are
//! shown as `\u{…}`, so that nothing a model writes can hide or repaint what a person reads.

use tool_core::clip;

/// Keeps line breaks and tabs.
pub(crate) fn lines(text: &str) -> String {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// Everything on one line.
pub(crate) fn one_line(text: &str) -> String {
    escape(text, |_| false)
}

/// At most `max` bytes of a text, on one line, with dots where some are missing.
pub(crate) fn clipped(text: &str, max: usize) -> String {
    let kept = clip(text, max);
    let dots = if kept.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", one_line(kept))
}

fn escape(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_kept(c) || !is_hidden(c) {
            safe.push(c);
        } else {
            safe.extend(c.escape_unicode());
        }
    }
    safe
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_or_repaints() {
        assert_eq!(lines("a\n\tb\u{1b}[2J"), "a\n\tb\\u{1b}[2J");
        assert_eq!(one_line("a\nb\u{202e}\u{9b}"), "a\\u{a}b\\u{202e}\\u{9b}");
        assert_eq!(one_line("καλημέρα"), "καλημέρα");
    }
}
