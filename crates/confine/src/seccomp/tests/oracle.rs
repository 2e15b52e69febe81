//! What the rules say, evaluated directly: the first rule of the call that matches decides.

use super::super::{Arch, ArgTest, Errno, Profile, Rule, Verdict};
use super::interpreter::Data;

/// The answer to a call.
pub(super) fn decide<'r>(
    rules: impl IntoIterator<Item = &'r Rule>,
    arch: Arch,
    profile: Profile,
    data: &Data,
) -> Verdict {
    if data.arch != arch.audit() {
        return Verdict::Kill;
    }
    if data.number > 469 {
        return Verdict::Refuse(Errno::NoSys);
    }
    rules
        .into_iter()
        .filter(|rule| rule.when.holds(profile) && rule.call.number(arch) == Some(data.number))
        .find(|rule| rule.tests.iter().all(|test| matches(test, &data.args)))
        .map_or(Verdict::Allow, |rule| rule.verdict)
}

/// Whether a test holds.
pub(super) fn matches(test: &ArgTest, args: &[u64; 6]) -> bool {
    match *test {
        ArgTest::Equals { arg, mask, value } => args[usize::from(arg)] & mask == value,
        ArgTest::HasAny { arg, bits } => args[usize::from(arg)] & bits != 0,
    }
}

/// Arguments for which all these tests hold, on top of others.
pub(super) fn satisfy(tests: &[ArgTest], mut args: [u64; 6]) -> [u64; 6] {
    for test in tests {
        match *test {
            ArgTest::Equals { arg, mask, value } => {
                let arg = &mut args[usize::from(arg)];
                *arg = *arg & !mask | value;
            }
            ArgTest::HasAny { arg, bits } => {
                args[usize::from(arg)] |= 1 << bits.trailing_zeros();
            }
        }
    }
    args
}
