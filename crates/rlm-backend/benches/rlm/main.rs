//! What recursive queries cost next to the model, which is a program here that answers at once.
//!
//! `cargo xtask bench rlm [-- [--small] [--reference PYTHON]]` prints a table. `--reference` names an
//! interpreter that has the package `rlms`, which then runs the same scripted trajectories; without it
//! those rows say so. `--small` leaves out the contexts of 40 and 100 million characters.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "sessions are for Linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod reference;
#[cfg(target_os = "linux")]
mod tasks;

#[cfg(target_os = "linux")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_small = words.iter().any(|word| word == "--small");
    let reference = words.iter().position(|word| word == "--reference");
    let reference = reference.and_then(|at| words.get(at + 1)).map(String::as_str);
    // As the command line has it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("| work | measured | compared with | that | ratio | bar |");
    println!("| --- | ---: | --- | ---: | ---: | --- |");
    runtime.block_on(async {
        bench::turns().await;
        bench::round_trips().await;
        bench::batches().await;
        let sizes: &[usize] = if is_small { &[1] } else { &[1, 40, 100] };
        for &millions in sizes {
            tasks::loading(millions).await;
            tasks::all(millions, reference).await;
        }
    });
}

#[cfg(not(target_os = "linux"))]
fn main() {}
