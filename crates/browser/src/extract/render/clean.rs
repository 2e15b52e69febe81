//! Characters that a reader does not see, taken out of text.
//!
//! Zero-width characters, tag characters and the rest of what Unicode calls ignorable can carry a whole
//! message past a reader's eyes. They are dropped and counted, except where they shape what is seen: a
//! joiner between emoji or within scripts that use it, one variation selector after a character that
//! can have one, the tags of a flag. A soft hyphen is dropped, too; a no-break space becomes a space.

/// Takes characters one at a time and remembers what it needs to judge the next.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    previous: Option<char>,
    in_flag: bool,
    /// How many characters were dropped that nobody would have seen.
    pub(super) dropped: usize,
}

impl Cleaner {
    /// What of a character is kept; `next` is the one after it.
    pub(super) fn keep(&mut self, c: char, next: Option<char>) -> Option<char> {
        // Nearly all text is below the first of these.
        if c < '\u{80}' {
            self.in_flag = false;
            let kept =
                if c < ' ' && !c.is_ascii_whitespace() || c == '\u{7F}' { None } else { Some(c) };
            self.dropped += usize::from(kept.is_none());
            self.previous = kept.or(self.previous);
            return kept;
        }
        let kept = self.judge(c, next);
        match kept {
            Some(_) => self.previous = Some(c),
            None if c != '\u{AD}' => self.dropped += 1,
            None => {}
        }
        kept
    }

    fn judge(&mut self, c: char, next: Option<char>) -> Option<char> {
        let before = self.previous.unwrap_or(' ');
        if !is_tag(c) {
            self.in_flag = c == '\u{1F3F4}';
        }
        let stays = match c {
            '\u{A0}' | '\u{202F}' | '\u{2007}' => return Some(' '),
            '\u{2028}' | '\u{2029}' | '\u{85}' => return Some('\n'),
            '\u{AD}' | '\u{FFF9}'..='\u{FFFB}' | '\u{80}'..='\u{9F}' => false,
            '\u{200C}' => uses_joiners(before) && next.is_some_and(uses_joiners),
            '\u{200D}' => {
                (uses_joiners(before) || is_emoji(before))
                    && next.is_some_and(|next| uses_joiners(next) || is_emoji(next))
            }
            '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => has_variants(before),
            '\u{E0000}'..='\u{E007F}' => self.in_flag,
            c => !is_ignorable(c),
        };
        stays.then_some(c)
    }
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0020}'..='\u{E007F}')
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2190}'..='\u{2BFF}' | '\u{FE0F}' | '\u{20E3}')
}

/// Scripts in which a joiner changes how a word looks: Arabic and its relatives, and those of India.
fn uses_joiners(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{18AF}' | '\u{FB50}'..='\u{FEFC}')
}

fn has_variants(c: char) -> bool {
    is_emoji(c) && c != '\u{FE0F}'
        || matches!(
            c,
            '#' | '*' | '0'..='9' | '©' | '®' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        )
        || matches!(c, '\u{1800}'..='\u{18AF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}')
        || matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0080}'..='\u{E00FF}' | '\u{E01F0}'..='\u{E0FFF}'
    )
}

/// A text without what nobody sees, and how many characters that were.
pub(in crate::extract) fn clean(text: &str) -> (String, usize) {
    let mut cleaner = Cleaner::default();
    let mut characters = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = characters.next() {
        out.extend(cleaner.keep(c, characters.peek().copied()));
    }
    (out, cleaner.dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_dropped_and_counted() {
        for (text, kept, dropped) in [
            ("plain", "plain", 0),
            ("zero\u{200B}width", "zerowidth", 1),
            ("soft\u{AD}hyphen", "softhyphen", 0),
            ("a\u{A0}b", "a b", 0),
            ("x\u{E0049}\u{E0067}", "x", 2),
            ("🏴\u{E0067}\u{E0062}\u{E007F}", "🏴\u{E0067}\u{E0062}\u{E007F}", 0),
            ("👩\u{200D}💻 ❤\u{FE0F}", "👩\u{200D}💻 ❤\u{FE0F}", 0),
            ("می\u{200C}خواهم", "می\u{200C}خواهم", 0),
            ("a\u{200D}b\u{FE0F}", "ab", 2),
            ("葛\u{E0100}\u{E0101}", "葛\u{E0100}", 1),
            ("\u{202E}abc\u{202C}", "abc", 2),
        ] {
            assert_eq!(clean(text), (kept.to_owned(), dropped), "{text:?}");
        }
    }
}
