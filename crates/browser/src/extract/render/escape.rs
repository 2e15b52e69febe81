//! Text of a page that must not become Markdown.
//!
//! Whatever a page writes stays text: no link, heading, code or HTML comes out of characters that the
//! page has as text. What is no markup where it stands is left as it is, for it is read by a model.

/// Adds a character of text to Markdown; `previous` and `rest` are what is around it.
pub(super) fn push(out: &mut String, c: char, previous: char, rest: &str, in_cell: bool) {
    let next = rest.chars().next().unwrap_or(' ');
    let escaped = match c {
        '\\' | '`' | '*' | '[' | ']' | '<' => true,
        '_' => !previous.is_alphanumeric() || !next.is_alphanumeric(),
        '~' => previous == '~' || next == '~',
        '&' => is_entity(rest),
        '|' => in_cell,
        _ => false,
    };
    if escaped {
        out.push('\\');
    }
    out.push(c);
}

/// Whether what comes after an ampersand makes a character reference of it.
fn is_entity(rest: &str) -> bool {
    let rest = rest.as_bytes();
    let length =
        rest.iter().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#');
    let length = length.count();
    length > 1 && rest.get(length) == Some(&b';')
}

/// A line of a paragraph that begins no block of Markdown.
pub(super) fn line(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = line.as_bytes().get(digits).copied().unwrap_or(b' ');
    let ends = |at: usize| line.as_bytes().get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    if (1..10).contains(&digits) && matches!(after, b'.' | b')') && ends(digits + 1) {
        let (number, rest) = line.split_at(digits);
        return format!("{number}\\{rest}");
    }
    let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
    let begins = match line.as_bytes().first() {
        Some(b'#') => hashes <= 6 && ends(hashes),
        Some(b'-' | b'+') => ends(1) || is_rule(line, '-'),
        Some(b'=') => is_rule(line, '='),
        Some(b'>') => true,
        Some(b'~') => line.starts_with("~~~"),
        _ => false,
    };
    if begins { format!("\\{line}") } else { line.to_owned() }
}

fn is_rule(line: &str, sign: char) -> bool {
    line.chars().all(|c| c == sign || c == ' ')
}

/// An address as the target of a link.
pub(super) fn target(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            '|' => out.push_str("%7C"),
            c if c.is_whitespace() || c.is_control() => out.push_str("%20"),
            c => out.push(c),
        }
    }
    out
}

/// A span of code: fenced by more backticks than it has in a row.
pub(super) fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text, '`') + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

/// A fence that the text does not have.
pub(super) fn fence(text: &str) -> String {
    "`".repeat((longest_run(text, '`') + 1).max(3))
}

fn longest_run(text: &str, sign: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == sign { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_would_begin_a_block_do_not() {
        for (text, escaped) in [
            ("# x", "\\# x"),
            ("#hashtag", "#hashtag"),
            ("1. x", "1\\. x"),
            ("2024 was", "2024 was"),
            ("- x", "\\- x"),
            ("-5 degrees", "-5 degrees"),
            ("---", "\\---"),
            ("> x", "\\> x"),
            ("~~~", "\\~~~"),
            ("===", "\\==="),
            ("plain", "plain"),
        ] {
            assert_eq!(line(text), escaped);
        }
    }

    #[test]
    fn code_is_fenced_by_more_than_it_has() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fence("x\n````\n"), "`````");
    }
}
