//! Cutting text without cutting characters.
//!
//! Sizes are bytes of UTF-8; every cut falls on a character border, so what is kept is never longer
//! than asked for and is valid text.

/// The longest prefix of `text` that has at most `max` bytes.
#[must_use]
pub fn clip(text: &str, max: usize) -> &str {
    &text[..floor_char_boundary(text, max)]
}

/// The head and the tail of `text`, together at most `max` bytes, about half each; `None` when the
/// text fits as it is.
///
/// ```
/// assert_eq!(tool_core::head_and_tail("abcdef", 4), Some(("ab", "ef")));
/// assert_eq!(tool_core::head_and_tail("abcdef", 6), None);
/// ```
#[must_use]
pub fn head_and_tail(text: &str, max: usize) -> Option<(&str, &str)> {
    if text.len() <= max {
        return None;
    }
    let head = clip(text, max.div_ceil(2));
    let tail_room = max - head.len();
    let mut start = text.len() - tail_room.min(max / 2);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    Some((head, &text[start..]))
}

/// `str::floor_char_boundary`, which is newer than our oldest supported compiler.
fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Shortens `text` in place to at most `max` bytes, and ends it with `…` when something was cut.
pub(crate) fn clip_with_ellipsis(mut text: String, max: usize) -> String {
    const ELLIPSIS: &str = "…";
    if text.len() > max {
        let kept = clip(&text, max.saturating_sub(ELLIPSIS.len())).len();
        text.truncate(kept);
        text.push_str(ELLIPSIS);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn truncation_never_exceeds(text in "\\PC{0,80}", max in 0usize..90) {
            prop_assert!(clip(&text, max).len() <= max);
            match head_and_tail(&text, max) {
                None => prop_assert!(text.len() <= max),
                Some((head, tail)) => {
                    prop_assert!(head.len() + tail.len() <= max);
                    prop_assert!(text.starts_with(head) && text.ends_with(tail));
                    prop_assert!(max - head.len() - tail.len() <= 6, "keeps what it may");
                }
            }
            if max >= 3 {
                prop_assert!(clip_with_ellipsis(text.clone(), max).len() <= max);
            }
        }
    }
}
