//! What reading the web safely costs: a page beside a bare client, and many pages side by side.
//!
//! `cargo xtask bench browser [-- ROUNDS]` prints medians of interleaved rounds, and ratios.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

mod many;
mod navigate;
mod subject;

fn main() {
    let rounds = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(200);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(navigate::run(rounds));
    runtime.block_on(many::run((rounds / 10).max(5)));
}
