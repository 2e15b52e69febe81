//! Finding words in text: a needle counts only where it is not a part of a longer word.

/// Whether `needle` stands in `text` as a word of its own.
pub(super) fn has_word(text: &str, needle: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(needle).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + needle.len()..]);
        !is_part(before.chars().next_back())
            && (needle.ends_with('!') || !is_part(after.chars().next()))
    })
}

/// Whether an absolute path that begins with `needle` begins somewhere in `text`.
pub(super) fn starts_a_path(text: &str, needle: &str) -> bool {
    let is_path = |c: char| c.is_alphanumeric() || "._-~/}".contains(c);
    text.match_indices(needle).any(|(at, _)| !text[..at].ends_with(is_path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_not_a_part_of_a_longer_one() {
        assert!(has_word("// ABC: later", "ABC"));
        assert!(has_word("ABC", "ABC"));
        assert!(has_word("abc!()", "abc!"));
        assert!(has_word("abc!x", "abc!"));
        assert!(!has_word("MABCO ABC_D ABCs", "ABC"));
        assert!(!has_word("my_abc!()", "abc!"));
    }

    #[test]
    fn a_path_begins_where_no_other_goes_on() {
        assert!(starts_a_path("in (/a/b)", "/a/"));
        assert!(starts_a_path("/a/b", "/a/"));
        assert!(!starts_a_path("x/a/b ../a/b $DIR}/a/b", "/a/"));
    }
}
