//! Why a list of rules can't become a filter.
//!
//! None of this happens with the list this crate has, which its tests compile for every
//! architecture and profile; it happens to whoever changes the list.

use thiserror::Error;

/// A list of rules that makes no filter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A rule follows one for the same call that always matches.
    #[error("a rule for {call} is never reached: the one before it always matches")]
    Unreachable {
        /// The call's name.
        call: &'static str,
    },
    /// A test can't succeed: it compares bits that its mask removes, or looks for no bit at all.
    #[error("a rule for {call} never matches: its test asks for bits outside of its mask")]
    NeverMatches {
        /// The call's name.
        call: &'static str,
    },
    /// A test names an argument that no call has.
    #[error("a rule for {call} tests argument {arg}; the last one is 5")]
    NoSuchArgument {
        /// The call's name.
        call: &'static str,
        /// The argument it names, counted from 0.
        arg: u8,
    },
    /// A call's number is above the newest number the filter lets through.
    #[error("{call} is call number {number}, above the newest one reviewed, {newest}")]
    NumberTooLarge {
        /// The call's name.
        call: &'static str,
        /// Its number.
        number: u32,
        /// The largest number a filter knows.
        newest: u32,
    },
    /// The program is longer than the kernel takes, or a jump in it is.
    #[error("the filter needs {instructions} instructions; the kernel takes {max}")]
    TooLong {
        /// How many instructions there were when it became too long.
        instructions: usize,
        /// The most there may be.
        max: usize,
    },
}
