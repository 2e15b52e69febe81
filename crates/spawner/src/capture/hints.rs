//! Where a secret may be: literals that every secret has one of, looked for at the speed of memory.
//!
//! Two searches, because one for up to 32 literals takes a fraction of one for more. Says nothing of
//! what is no hint; whether a hint belongs to a secret is for the patterns to say.

use std::{ops::Range, sync::LazyLock};

use regex::bytes::Regex;

use super::patterns::compile;

/// What any key, address or private key has: literals alone, which are looked for at the speed of memory.
const KEY_HINTS: &[&str] = &[
    "sk-",
    "sk_",
    "rk_",
    "AKIA",
    "ASIA",
    "github_pat_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat-",
    "xox",
    "AIza",
    "npm_",
    "hf_",
    "eyJ",
    "://",
    "-----BEGIN",
];

/// What any name has, in lower, upper and camel case.
const NAME_HINTS: &[&str] = &[
    "assw", "assW", "ASSW", "assp", "assP", "ASSP", "ecret", "ECRET", "oken", "OKEN", "_key",
    "_KEY", "_Key", "-key", "-KEY", "-Key", "pikey", "piKey", "PIKEY", "PIKey", "esskey", "essKey",
    "ESSKEY", "atekey", "ateKey", "ATEKEY", "uthoriz", "UTHORIZ",
];

static HINTS: LazyLock<[Option<Regex>; 2]> =
    LazyLock::new(|| [KEY_HINTS, NAME_HINTS].map(|hints| compile(&hints.join("|"))));

/// The hints of a text, in order.
pub(super) struct Hints<'t> {
    text: &'t [u8],
    /// Each search, and what it found last.
    searches: [(&'static Regex, Option<Range<usize>>); 2],
}

impl<'t> Hints<'t> {
    /// Nothing where a text can't be searched.
    pub(super) fn of(text: &'t [u8]) -> Option<Self> {
        let [keys, names] = &*HINTS;
        let search = |regex: &'static Regex| (regex, regex.find(text).map(|found| found.range()));
        Some(Self { text, searches: [search(keys.as_ref()?), search(names.as_ref()?)] })
    }

    /// The first one from a place on, which is never before the last place.
    pub(super) fn next(&mut self, from: usize) -> Option<Range<usize>> {
        for (regex, last) in &mut self.searches {
            if last.as_ref().is_some_and(|last| last.start < from) {
                *last = regex.find_at(self.text, from).map(|found| found.range());
            }
        }
        self.searches.iter().filter_map(|(_, found)| found.clone()).min_by_key(|found| found.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_of_both_kinds_come_in_their_order() {
        let text = b"token hf_x ://y api_key AKIA PASSWORD";
        let (mut hints, mut found, mut at) = (Hints::of(text).unwrap(), Vec::new(), 0);
        while let Some(hint) = hints.next(at) {
            at = hint.end;
            found.push(std::str::from_utf8(&text[hint]).unwrap());
        }
        assert_eq!(found, ["oken", "hf_", "://", "_key", "AKIA", "ASSW"]);
    }

    #[test]
    fn each_search_is_small_enough_to_be_fast() {
        assert!(KEY_HINTS.len() <= 32 && NAME_HINTS.len() <= 32);
    }
}
