//! Writes a classic BPF program from its end to its beginning.
//!
//! Jumps of classic BPF lead forwards only, so backwards every target is already there when a jump
//! to it is written, and its distance is known. A conditional jump skips at most 255 instructions;
//! for a target further away a copy of the return, or an unconditional jump, is put within reach.

use super::filter::{Instruction, MAX_INSTRUCTIONS, op};
use super::{FilterError, Verdict};

/// The furthest a conditional jump leads.
const MAX_SKIP: usize = u8::MAX as usize;

/// A place in the program: how many instructions come after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(usize);

/// The program so far, its last instruction first.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    reversed: Vec<Instruction>,
}

impl Assembler {
    /// The program ends with this verdict. Uses a return that is there and in reach.
    pub(super) fn verdict(&mut self, verdict: Verdict) -> Label {
        let instruction = plain(op::RETURN, verdict.code());
        match self.reversed.iter().rposition(|there| *there == instruction) {
            Some(place) if self.in_reach(Label(place)) => Label(place),
            _ => self.push(instruction),
        }
    }

    /// Loads 32 bits at a byte offset of the call's data, then goes on at `next`.
    pub(super) fn load(&mut self, offset: u32, next: Label) -> Result<Label, FilterError> {
        self.straight(plain(op::LOAD, offset), next)
    }

    /// Keeps only some bits of what was loaded, then goes on at `next`.
    pub(super) fn and(&mut self, mask: u32, next: Label) -> Result<Label, FilterError> {
        self.straight(plain(op::AND, mask), next)
    }

    /// Goes on at `yes` or `no`. The comparison is one of `op::IF_…`.
    pub(super) fn branch(
        &mut self,
        comparison: u16,
        k: u32,
        yes: Label,
        no: Label,
    ) -> Result<Label, FilterError> {
        let yes = self.near(yes)?;
        let no = self.near(no)?;
        let (jt, jf) = (self.skip(yes)?, self.skip(no)?);
        Ok(self.push(Instruction { code: comparison, jt, jf, k }))
    }

    /// The program, which begins with what was written last.
    ///
    /// # Errors
    /// When it is longer than the kernel takes.
    pub(super) fn finish(mut self) -> Result<Vec<Instruction>, FilterError> {
        if self.reversed.len() > MAX_INSTRUCTIONS {
            return Err(self.too_long());
        }
        self.reversed.reverse();
        Ok(self.reversed)
    }

    /// An instruction that has no jump of its own and must stand right before `next`.
    fn straight(&mut self, instruction: Instruction, next: Label) -> Result<Label, FilterError> {
        if self.distance(next) > 0 {
            self.jump(next)?;
        }
        Ok(self.push(instruction))
    }

    /// The target itself if a branch can reach it, else something near that leads to it.
    fn near(&mut self, target: Label) -> Result<Label, FilterError> {
        if self.in_reach(target) {
            return Ok(target);
        }
        match self.reversed.get(target.0) {
            Some(end) if end.code == op::RETURN => Ok(self.push(*end)),
            _ => self.jump(target),
        }
    }

    /// Whether a branch can reach the target, also if one more instruction comes in between.
    fn in_reach(&self, target: Label) -> bool {
        self.distance(target) < MAX_SKIP
    }

    fn jump(&mut self, target: Label) -> Result<Label, FilterError> {
        let distance = u32::try_from(self.distance(target)).map_err(|_| self.too_long())?;
        Ok(self.push(plain(op::JUMP, distance)))
    }

    fn skip(&self, target: Label) -> Result<u8, FilterError> {
        u8::try_from(self.distance(target)).map_err(|_| self.too_long())
    }

    /// How many instructions the next one would have to skip to go on at the target.
    fn distance(&self, target: Label) -> usize {
        self.reversed.len() - 1 - target.0
    }

    fn push(&mut self, instruction: Instruction) -> Label {
        self.reversed.push(instruction);
        Label(self.reversed.len() - 1)
    }

    fn too_long(&self) -> FilterError {
        FilterError::TooLong { instructions: self.reversed.len(), max: MAX_INSTRUCTIONS }
    }
}

/// An instruction without a conditional jump.
const fn plain(code: u16, k: u32) -> Instruction {
    Instruction { code, jt: 0, jf: 0, k }
}
