//! Answers in the text: `FINAL(…)`, `SUBMIT(…)` and `FINAL_VAR(…)`.
//!
//! The answer is what stands between the first bracket and the last one of the line; where the line
//! does not end with a bracket it goes on to the first line that does and balances it. One string
//! literal is read as such, with its escapes; everything else is the answer as it is written, because
//! nothing in a text is evaluated.

use super::Note;

/// An answer in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Final {
    /// The answer itself.
    Value(String),
    /// The name of the variable that has it.
    Variable(String),
}

const VALUES: [&str; 2] = ["FINAL(", "SUBMIT("];
const VARIABLE: &str = "FINAL_VAR(";

/// Whether a line begins an answer.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with(VARIABLE) || VALUES.iter().any(|start| line.starts_with(start))
}

/// Whether a text speaks of an answer, in any case.
pub(super) fn is_mention(line: &str) -> bool {
    let upper = line.to_uppercase();
    let is_call = |name: &str| {
        upper.match_indices(name).any(|(at, _)| {
            let rest = upper[at + name.len()..].trim_start_matches(['*', '`', ' ']);
            rest.starts_with(['(', ':'])
        })
    };
    ["FINAL", "FINAL_VAR", "SUBMIT"].into_iter().any(is_call)
}

/// Reads an answer that begins with the first of these lines; gives how many lines it has.
pub(super) fn read(lines: &[&str]) -> Result<(Final, usize), Note> {
    let (body, count) = body(lines).ok_or(Note::OpenFinal)?;
    let is_variable = lines.first().is_some_and(|line| line.trim().starts_with(VARIABLE));
    let body = body.trim();
    if is_variable {
        let name = body.trim_matches(['"', '\'', '`']).trim();
        let is_name = !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|it| it.is_alphanumeric() || it == '_');
        return if is_name {
            Ok((Final::Variable(name.to_owned()), count))
        } else {
            Err(Note::BadFinal)
        };
    }
    let value = literal(body).unwrap_or_else(|| body.to_owned());
    if value.trim().is_empty() { Err(Note::BadFinal) } else { Ok((Final::Value(value), count)) }
}

/// What stands between the brackets, and how many lines it takes.
fn body(lines: &[&str]) -> Option<(String, usize)> {
    let first = lines.first()?.trim();
    let (_, start) = first.split_once('(')?;
    if let Some(body) = start.strip_suffix(')') {
        return Some((body.to_owned(), 1));
    }
    let mut body = start.to_owned();
    for (at, line) in lines.iter().enumerate().skip(1) {
        body.push('\n');
        body.push_str(line.trim_end());
        let is_closed = balance(&body) < 0 || line.trim() == ")";
        if let (true, Some(whole)) = (is_closed, body.strip_suffix(')')) {
            return Some((whole.to_owned(), at + 1));
        }
    }
    None
}

/// How many brackets are open; quotes don't count, because text has apostrophes.
fn balance(text: &str) -> i64 {
    text.chars().fold(0, |open, it| match it {
        '(' => open + 1,
        ')' => open - 1,
        _ => open,
    })
}

/// The value of one string literal that is the whole text.
fn literal(text: &str) -> Option<String> {
    let inner = ["\"\"\"", "'''", "\"", "'"].into_iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        let is_one = quote.len() == 3 || !has_bare(inner, quote.chars().next()?);
        is_one.then_some(inner)
    })?;
    unescape(inner)
}

/// Whether a quote stands in a text without a backslash before it.
fn has_bare(text: &str, quote: char) -> bool {
    let mut is_escaped = false;
    for it in text.chars() {
        if it == quote && !is_escaped {
            return true;
        }
        is_escaped = it == '\\' && !is_escaped;
    }
    false
}

/// A text with its escapes read; `None` where it ends in the middle of one.
fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(it) = rest.next() {
        if it != '\\' {
            out.push(it);
            continue;
        }
        match rest.next()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            it @ ('\\' | '"' | '\'') => out.push(it),
            other => out.extend(['\\', other]),
        }
    }
    Some(out)
}
