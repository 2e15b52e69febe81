//! Starts, confines, watches and ends child processes; reports what the kernel really enforced.

pub mod seccomp;
