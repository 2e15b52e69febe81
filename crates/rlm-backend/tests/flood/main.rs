//! Floods: what a session prints is bounded in this process's memory, whatever its length.
//!
//! `cargo test -p rlm-backend --test flood [-- --bytes N]`: a program in a session writes so many bytes
//! to each of its streams at once; the head and the tail are kept, the counts are exact, and this
//! process grows by less than 32 MiB. `cargo xtask soak flood` writes 10 GB.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "sessions are for Linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "in a test a panic is the report, and what was measured is printed"
)]

#[cfg(target_os = "linux")]
#[path = "../common/host.rs"]
mod host;

#[cfg(target_os = "linux")]
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

#[cfg(target_os = "linux")]
use rlm_backend::{CallOutcome, Captured, Language, StateAfter};

/// How many bytes a stream gets if the command line does not say.
const BYTES: u64 = 300_000_000;
/// How much this process may grow.
const ROOM: u64 = 32 << 20;

#[cfg(target_os = "linux")]
fn main() {
    let bytes = host::number_after("--bytes").unwrap_or(BYTES);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let write = format!("printf BEGIN; head -c {bytes} /dev/zero; printf END");
        let command = format!("{{ {write}; }} & {{ {write}; }} >&2; wait");
        flood(Language::Bash, &command, bytes).await;
        let write = "import sys\ndef write(stream):\n  stream.write('BEGIN')\n  for _ in range(COUNT): stream.write('x' * SIZE)\n  stream.write('END')";
        let size = bytes.clamp(1, 100_000_000);
        let write = write.replace("SIZE", &size.to_string());
        let write = write.replace("COUNT", &(bytes / size).to_string());
        let code = format!("{write}\nwrite(sys.stdout); write(sys.stderr)");
        flood(Language::Python, &code, bytes / size * size).await;
    });
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// Runs one, and looks at what came of it.
#[cfg(target_os = "linux")]
async fn flood(language: Language, code: &str, bytes: u64) {
    let mut session = host::Session::start(language).await;
    session.run("x=1").await;
    let watch = Watch::start();
    let begun = Instant::now();
    let outcome = session.run(code).await;
    let (took, grown) = (begun.elapsed(), watch.end());
    let CallOutcome { stdout, stderr, state, .. } = &outcome;
    assert_eq!(*state, StateAfter::Kept, "{:?} {:?}", outcome.ending, outcome.error);
    check(stdout, bytes);
    check(stderr, bytes);
    println!(
        "{language:?}: {bytes} bytes to each stream in {took:.1?}, memory grew by at most {} KiB",
        grown >> 10
    );
    assert!(grown < ROOM, "memory grew by {grown} bytes");
    session.end();
}

#[cfg(target_os = "linux")]
fn check(captured: &Captured, bytes: u64) {
    assert_eq!(captured.total_bytes(), bytes + "BEGINEND".len() as u64);
    let kept = (captured.head().len() + captured.tail().len()) as u64;
    assert_eq!(captured.omitted_bytes() + kept, captured.total_bytes());
    let last = if captured.tail().is_empty() { captured.head() } else { captured.tail() };
    assert!(captured.head().starts_with(b"BEGIN") && last.ends_with(b"END"));
}

/// Looks at this process's size all the time.
#[cfg(target_os = "linux")]
struct Watch {
    before: u64,
    most: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

#[cfg(target_os = "linux")]
impl Watch {
    fn start() -> Self {
        let before = host::resident();
        let (most, is_over) = (Arc::new(AtomicU64::new(before)), Arc::new(AtomicBool::new(false)));
        let (seen, end) = (Arc::clone(&most), Arc::clone(&is_over));
        let thread = thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                seen.fetch_max(host::resident(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { before, most, is_over, thread }
    }

    /// By how much it grew at most.
    fn end(self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        let most = self.most.load(Ordering::Relaxed).max(host::resident());
        most - self.before
    }
}
