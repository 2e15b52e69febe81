//! From segments to instructions.
//!
//! The program: is it our architecture, else kill; a tree of comparisons that halves the segments
//! at each step; at each leaf a return, or the tests of that call's rules, in order, each leading
//! to its answer or to the next rule. A test that neighbouring rules begin with is made once, and
//! half an argument that is loaded already is not loaded again.

use super::assembler::{Assembler, Label};
use super::filter::{Instruction, op};
use super::plan::{Leaf, Segment, plan};
use super::{Arch, ArgTest, FilterError, Profile, Rule, Verdict};

/// Byte offsets in `struct seccomp_data`: the number, the architecture, the first argument.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGS: u32 = 16;

/// The program for these rules.
///
/// # Errors
/// When the rules contradict each other or are too many; see [`FilterError`].
pub(super) fn compile<'r>(
    rules: impl IntoIterator<Item = &'r Rule>,
    arch: Arch,
    profile: Profile,
) -> Result<Vec<Instruction>, FilterError> {
    let segments = plan(rules, arch, profile)?;
    let mut assembler = Assembler::default();
    let tree = tree(&mut assembler, &segments)?;
    let number = assembler.load(NUMBER, tree)?;
    let kill = assembler.verdict(Verdict::Kill);
    let same = assembler.branch(op::IF_EQUAL, arch.audit(), number, kill)?;
    assembler.load(ARCH, same)?;
    assembler.finish()
}

/// Finds the segment of the call number, which is loaded. There is at least one segment.
fn tree(assembler: &mut Assembler, segments: &[Segment<'_>]) -> Result<Label, FilterError> {
    let (below, above) = segments.split_at(segments.len() / 2);
    match (below, above) {
        ([], [only]) => leaf(assembler, &only.leaf),
        (_, [first, ..]) => {
            let yes = tree(assembler, above)?;
            let no = tree(assembler, below)?;
            assembler.branch(op::IF_AT_LEAST, first.first, yes, no)
        }
        (_, []) => Ok(assembler.verdict(Verdict::Kill)),
    }
}

fn leaf(assembler: &mut Assembler, leaf: &Leaf<'_>) -> Result<Label, FilterError> {
    match leaf {
        Leaf::Verdict(verdict) => Ok(assembler.verdict(*verdict)),
        Leaf::Rules { tested, otherwise } => {
            let otherwise = Entry::plain(assembler.verdict(*otherwise));
            let cases: Vec<Case> = tested.iter().map(|rule| Case::of(rule)).collect();
            Ok(first_match(assembler, &cases, otherwise)?.at)
        }
    }
}

/// A rule, or what is left of it once some of its tests are known to hold.
#[derive(Clone, Copy, Debug)]
struct Case {
    tests: &'static [ArgTest],
    verdict: Verdict,
}

impl Case {
    fn of(rule: &Rule) -> Self {
        Self { tests: rule.tests, verdict: rule.verdict }
    }

    /// The same case after its first test.
    fn rest(self) -> Self {
        Self { tests: self.tests.get(1..).unwrap_or_default(), ..self }
    }
}

/// The verdict of the first case whose tests hold, else on to `otherwise`. Neighbours that begin
/// with the same test share it.
fn first_match(
    assembler: &mut Assembler,
    cases: &[Case],
    otherwise: Entry,
) -> Result<Entry, FilterError> {
    let mut next = otherwise;
    for group in cases.chunk_by(|a, b| a.tests.first() == b.tests.first()).rev() {
        next = match group {
            [Case { tests: [test, ..], .. }, ..] => {
                let rest: Vec<Case> = group.iter().map(|case| case.rest()).collect();
                let yes = first_match(assembler, &rest, next)?;
                one(assembler, *test, yes, next)?
            }
            [Case { verdict, .. }, ..] => Entry::plain(assembler.verdict(*verdict)),
            [] => next,
        };
    }
    Ok(next)
}

/// One test, as tests of the halves it is about. The low half comes first: it decides more often.
fn one(
    assembler: &mut Assembler,
    test: ArgTest,
    yes: Entry,
    no: Entry,
) -> Result<Entry, FilterError> {
    match test {
        ArgTest::Equals { arg, mask, value } => {
            let [low, high] = halves(arg, mask, value);
            let yes = equals(assembler, high, yes, no)?;
            equals(assembler, low, yes, no)
        }
        ArgTest::HasAny { arg, bits } => {
            let [low, high] = halves(arg, bits, 0);
            let no = has_any(assembler, high, yes, no)?;
            has_any(assembler, low, yes, no)
        }
    }
}

/// The half's bits under the mask are the value. Without a mask there is nothing to test.
fn equals(
    assembler: &mut Assembler,
    half: Half,
    yes: Entry,
    no: Entry,
) -> Result<Entry, FilterError> {
    let Half { offset, mask, value } = half;
    match mask {
        0 => Ok(yes),
        u32::MAX => {
            let (yes, no) = (yes.with(offset), no.with(offset));
            let test = assembler.branch(op::IF_EQUAL, value, yes, no)?;
            Entry::load(assembler, offset, test)
        }
        _ => {
            let test = assembler.branch(op::IF_EQUAL, value, yes.at, no.at)?;
            let test = assembler.and(mask, test)?;
            Entry::load(assembler, offset, test)
        }
    }
}

/// One of the half's bits under the mask is set. Without a mask it is not.
fn has_any(
    assembler: &mut Assembler,
    half: Half,
    yes: Entry,
    no: Entry,
) -> Result<Entry, FilterError> {
    let Half { offset, mask, .. } = half;
    if mask == 0 {
        return Ok(no);
    }
    let test = assembler.branch(op::IF_ANY_BIT, mask, yes.with(offset), no.with(offset))?;
    Entry::load(assembler, offset, test)
}

/// Where to go on, and a short cut for whoever has loaded a certain half of an argument already.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Label,
    short_cut: Option<(u32, Label)>,
}

impl Entry {
    /// A place that loads nothing.
    fn plain(at: Label) -> Self {
        Self { at, short_cut: None }
    }

    /// A place that loads a half and goes on at `then`.
    fn load(assembler: &mut Assembler, offset: u32, then: Label) -> Result<Self, FilterError> {
        let at = assembler.load(offset, then)?;
        Ok(Self { at, short_cut: Some((offset, then)) })
    }

    /// Where to go on with this half loaded.
    fn with(self, offset: u32) -> Label {
        match self.short_cut {
            Some((loaded, then)) if loaded == offset => then,
            _ => self.at,
        }
    }
}

/// Half of an argument: where it is in the call's data, and what is asked of it.
#[derive(Clone, Copy, Debug)]
struct Half {
    offset: u32,
    mask: u32,
    value: u32,
}

/// The low and the high half of an argument.
fn halves(arg: u8, mask: u64, value: u64) -> [Half; 2] {
    let offset = ARGS + 8 * u32::from(arg);
    let (low_mask, high_mask) = split(mask);
    let (low_value, high_value) = split(value);
    [
        Half { offset, mask: low_mask, value: low_value },
        Half { offset: offset + 4, mask: high_mask, value: high_value },
    ]
}

/// The low and the high 32 bits.
fn split(whole: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = whole.to_le_bytes();
    (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
}
