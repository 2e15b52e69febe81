//! Attempts on processes: those of the host, and processes of ours that should not live on.
//!
//! They use `victim` (a process outside, by its number) and `address` (of a secret in its memory).

mod survive;
mod terminal;
mod victim;

use crate::attempt::Attempt;

/// The tables of this group.
pub(crate) const TABLES: &[&[Attempt]] = &[victim::ATTEMPTS, terminal::ATTEMPTS, survive::ATTEMPTS];
