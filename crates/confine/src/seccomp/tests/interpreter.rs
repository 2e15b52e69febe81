//! An interpreter for the classic BPF that seccomp takes, and the length of a program's longest
//! path. Written from the kernel's description and not from the compiler: it knows operations by
//! their numbers.
//!
//! It refuses what the kernel's checker refuses: an unknown operation, a load that is not aligned
//! or outside of the data, a jump past the end, a last instruction that is no return.

use super::super::Instruction;

/// What the kernel gives a filter: `struct seccomp_data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Data {
    pub(super) number: u32,
    pub(super) arch: u32,
    pub(super) args: [u64; 6],
}

impl Data {
    /// As it is in memory. The instruction pointer, at 8 to 15, is zero.
    fn bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[0..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.arch.to_le_bytes());
        for (place, arg) in bytes[16..].chunks_exact_mut(8).zip(self.args) {
            place.copy_from_slice(&arg.to_le_bytes());
        }
        bytes
    }

    /// The 32 bits at a byte offset.
    fn word(&self, offset: usize) -> u32 {
        let bytes = self.bytes();
        u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[offset + i]))
    }
}

/// How a run ended: what the program returned and how many instructions that took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) code: u32,
    pub(super) steps: usize,
}

/// Runs a program that [`check`] has accepted.
pub(super) fn run(program: &[Instruction], data: &Data) -> Run {
    let (mut place, mut steps, mut a) = (0, 0, 0u32);
    loop {
        let Instruction { code, jt, jf, k } = program[place];
        steps += 1;
        let skip = |holds: bool| usize::from(if holds { jt } else { jf });
        place += 1 + match code {
            0x20 => {
                a = data.word(k as usize);
                0
            }
            0x54 => {
                a &= k;
                0
            }
            0x05 => k as usize,
            0x15 => skip(a == k),
            0x35 => skip(a >= k),
            0x45 => skip(a & k != 0),
            0x06 => return Run { code: k, steps },
            _ => panic!("operation {code:#x} at {place}"),
        };
    }
}

/// Checks a program as the kernel does before it takes it.
pub(super) fn check(program: &[Instruction]) {
    assert!((1..=4096).contains(&program.len()), "{} instructions", program.len());
    assert_eq!(program.last().map(|i| i.code), Some(0x06), "the last instruction is no return");
    for (place, Instruction { code, jt, jf, k }) in program.iter().enumerate() {
        let furthest = match code {
            0x20 => {
                assert!(k.is_multiple_of(4) && *k < 64, "a load at offset {k}");
                0
            }
            0x54 | 0x06 => 0,
            0x05 => *k as usize,
            0x15 | 0x35 | 0x45 => usize::from(*jt.max(jf)),
            _ => panic!("operation {code:#x} at {place}"),
        };
        assert!(place + furthest < program.len(), "a jump past the end at {place}");
    }
}

/// The most instructions that any call at all can take: the longest path from the first one.
pub(super) fn longest_path(program: &[Instruction]) -> usize {
    let mut longest = vec![0; program.len()];
    for (place, Instruction { code, jt, jf, k }) in program.iter().enumerate().rev() {
        let after = |skip: usize| longest[place + 1 + skip];
        longest[place] = 1 + match code {
            0x06 => 0,
            0x05 => after(*k as usize),
            0x15 | 0x35 | 0x45 => after(usize::from(*jt)).max(after(usize::from(*jf))),
            _ => after(0),
        };
    }
    longest[0]
}
