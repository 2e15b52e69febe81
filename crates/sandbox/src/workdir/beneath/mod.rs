//! The only place that opens things: beneath a directory's descriptor, by the means of the system.
//!
//! Both sides offer the same: [`Root`], which opens a regular file or a directory beneath itself, and
//! [`DirReader`], which gives the names in a directory and what each of them is.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(target_os = "linux")]
mod steps;

#[cfg(target_os = "linux")]
pub(super) use linux::{DirReader, Root};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{DirReader, Root};
