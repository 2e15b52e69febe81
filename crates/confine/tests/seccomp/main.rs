//! The filter in a real kernel: calls are made under it and looked at from outside of the list.
//!
//! A filter holds for the thread that loads it and for what that thread starts, so each test loads
//! it in a thread of its own and the test process stays free.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it skips or can't prove"
)]

mod cases;
mod kernel;
mod programs;
mod refused;

use std::thread;

use confine::seccomp::{Arch, Filter, Profile};

/// Runs something in a thread under the filter.
fn confined<T: Send>(profile: Profile, run: impl FnOnce() -> T + Send) -> T {
    let arch = Arch::native().expect("the tests run on an architecture of the table");
    let filter = Filter::compile(arch, profile).expect("the list compiles");
    let body = move || {
        kernel::load(&filter).expect("the kernel takes the filter");
        run()
    };
    thread::scope(|scope| scope.spawn(body).join().expect("the thread ends well"))
}

/// Runs something in a thread of its own without the filter, for comparison.
fn free<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(run).join().expect("the thread ends well"))
}
