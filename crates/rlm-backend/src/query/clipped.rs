//! A text with its middle left out.

/// How the notes end that stand for what was left out, here and in outputs.
pub(super) const GAP_END: &str = " left out ...]\n";

/// At most about `max` characters of a text: its head and its tail, and between them how much was
/// left out.
pub(crate) fn clipped(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let total = text.chars().count();
    if total <= max {
        return text.to_owned();
    }
    let half = max / 2;
    let head = text.char_indices().nth(half).map_or(text.len(), |(at, _)| at);
    let last = half.checked_sub(1).and_then(|nth| text.char_indices().nth_back(nth));
    let (head, tail) = (&text[..head], &text[last.map_or(text.len(), |(at, _)| at)..]);
    let left_out = total - 2 * half;
    format!("{head}\n[... {left_out} characters{GAP_END}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_stay_and_the_middle_is_counted() {
        assert_eq!(clipped("é".repeat(10).as_str(), 10), "é".repeat(10));
        let text = format!("{}x{}", "é".repeat(6), "z".repeat(6));
        assert_eq!(clipped(&text, 4), "éé\n[... 9 characters left out ...]\nzz");
    }
}
