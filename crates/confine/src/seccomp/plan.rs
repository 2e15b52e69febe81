//! From rules to ranges of call numbers: what is to be decided for each number, before any
//! instruction.
//!
//! In: rules, an architecture, a profile. Out: segments in ascending order that together cover all
//! numbers from 0. Neighbours with the same answer become one segment, so the mount calls 428 to
//! 433 cost one comparison and not six.

use std::collections::BTreeMap;

use super::{Arch, ArgTest, Errno, FilterError, Profile, Rule, Verdict};

/// What to do for a call number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leaf<'r> {
    /// The arguments don't matter.
    Verdict(Verdict),
    /// The first of these that matches, else `otherwise`. Each has at least one test.
    Rules { tested: Vec<&'r Rule>, otherwise: Verdict },
}

/// All numbers from `first` to where the next segment begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment<'r> {
    pub(super) first: u32,
    pub(super) leaf: Leaf<'r>,
}

/// The segments, the first of which begins at 0.
///
/// # Errors
/// When a rule can't be what its author meant; see [`FilterError`].
pub(super) fn plan<'r>(
    rules: impl IntoIterator<Item = &'r Rule>,
    arch: Arch,
    profile: Profile,
) -> Result<Vec<Segment<'r>>, FilterError> {
    let mut segments = Segments::default();
    for (number, rules) in by_number(rules, arch, profile)? {
        segments.set(number, leaf(rules)?);
    }
    segments.begin(Arch::NEWEST + 1, Leaf::Verdict(Verdict::Refuse(Errno::NoSys)));
    Ok(segments.0)
}

/// The rules that are there on this architecture and in this profile, under their call's number.
fn by_number<'r>(
    rules: impl IntoIterator<Item = &'r Rule>,
    arch: Arch,
    profile: Profile,
) -> Result<BTreeMap<u32, Vec<&'r Rule>>, FilterError> {
    let mut by_number: BTreeMap<u32, Vec<&Rule>> = BTreeMap::new();
    for rule in rules.into_iter().filter(|rule| rule.when.holds(profile)) {
        let Some(number) = rule.call.number(arch) else { continue };
        check(rule, number)?;
        by_number.entry(number).or_default().push(rule);
    }
    Ok(by_number)
}

/// Refuses a rule that can't be meant.
fn check(rule: &Rule, number: u32) -> Result<(), FilterError> {
    let call = rule.call.name();
    if number > Arch::NEWEST {
        return Err(FilterError::NumberTooLarge { call, number, newest: Arch::NEWEST });
    }
    for test in rule.tests {
        let arg = test.arg();
        if arg > 5 {
            return Err(FilterError::NoSuchArgument { call, arg });
        }
        let possible = match *test {
            ArgTest::Equals { mask, value, .. } => value & !mask == 0,
            ArgTest::HasAny { bits, .. } => bits != 0,
        };
        if !possible {
            return Err(FilterError::NeverMatches { call });
        }
    }
    Ok(())
}

/// One call's rules, in order, as a leaf.
fn leaf(rules: Vec<&Rule>) -> Result<Leaf<'_>, FilterError> {
    let mut tested = Vec::new();
    let mut otherwise = None;
    for rule in rules {
        if otherwise.is_some() {
            return Err(FilterError::Unreachable { call: rule.call.name() });
        }
        if rule.tests.is_empty() {
            otherwise = Some(rule.verdict);
        } else {
            tested.push(rule);
        }
    }
    let otherwise = otherwise.unwrap_or(Verdict::Allow);
    if tested.is_empty() {
        return Ok(Leaf::Verdict(otherwise));
    }
    Ok(Leaf::Rules { tested, otherwise })
}

/// Segments that grow towards larger numbers.
#[derive(Debug)]
struct Segments<'r>(Vec<Segment<'r>>);

impl Default for Segments<'_> {
    fn default() -> Self {
        Self(vec![Segment { first: 0, leaf: Leaf::Verdict(Verdict::Allow) }])
    }
}

impl<'r> Segments<'r> {
    /// One number has this leaf; what follows it is allowed.
    fn set(&mut self, number: u32, leaf: Leaf<'r>) {
        self.begin(number, leaf);
        self.begin(number + 1, Leaf::Verdict(Verdict::Allow));
    }

    /// From this number on it is this leaf. The number is not below that of the last segment, which
    /// vanishes where it would be empty.
    fn begin(&mut self, first: u32, leaf: Leaf<'r>) {
        self.0.pop_if(|last| last.first == first);
        if self.0.last().is_none_or(|last| last.leaf != leaf) {
            self.0.push(Segment { first, leaf });
        }
    }
}
