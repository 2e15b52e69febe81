//! What a launch costs: plain, confined, and by `bwrap` where that is installed.
//!
//! `cargo xtask bench confine [-- ROUNDS]` prints medians, from the launch of a static program that
//! does nothing to its end. The rows of a round run one after another with a pause between them, so
//! that what one leaves to be done is not counted for the next; the last table has no pauses. Every
//! judged row has its ratio and its bar. Memory of the host is small (10 MiB) or large (1 GiB) by
//! turns.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise, and prints what it measured"
)]

#[path = "confine/peer.rs"]
mod peer;
#[path = "confine/table.rs"]
mod table;

use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use confine::{Command, Confinement, Mechanism, Outcome, Prepared, Stream};

use peer::{Bubblewrap, plain};
use table::{Bars, Times};

/// How many rounds there are if the command line does not say.
const ROUNDS: usize = 200;

/// How often the host's memory changes.
const TURNS: usize = 4;

/// The pause after each launch.
const PAUSE: Duration = Duration::from_millis(25);

/// How often each row is repeated without a pause.
const BURST: usize = 100;

fn main() {
    let rounds = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(ROUNDS);
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::new(directory.path());
    let (mut small, mut large) = (Times::new(), Times::new());
    for _ in 0..TURNS {
        for (times, bytes) in [(&mut small, 10 << 20), (&mut large, 1 << 30)] {
            let ballast = vec![1_u8; bytes];
            (0..rounds.div_ceil(TURNS)).for_each(|_| bench.round(times));
            drop(black_box(ballast));
        }
    }
    println!("medians of {rounds} rounds, {PAUSE:?} between launches; load {}", load());
    table::print("host with 10 MiB", &small);
    table::print("host with 1 GiB", &large);
    println!("one after another, {BURST} of each, per launch");
    table::print("host with 10 MiB", &bench.bursts());
    Bars { small: &small, large: &large }.print();
}

/// Everything that is launched.
struct Bench<'a> {
    directory: &'a Path,
    program: String,
    full: Prepared,
    ungrouped: Prepared,
    landlock: Prepared,
    bubblewrap: Option<Bubblewrap>,
}

impl<'a> Bench<'a> {
    /// Prepares all of it.
    fn new(directory: &'a Path) -> Self {
        let program = peer::static_program(directory);
        let full = full(directory);
        let ungrouped = without_groups(Confinement::builder(directory));
        let landlock = Confinement::builder(directory).without(Mechanism::Namespaces);
        let bubblewrap = Bubblewrap::find(&full, directory, &program);
        Self {
            full,
            ungrouped: ungrouped.prepare().unwrap(),
            landlock: without_groups(landlock).prepare().unwrap(),
            bubblewrap,
            directory,
            program,
        }
    }

    /// Launches each once.
    fn round(&self, times: &mut Times) {
        let first = full(self.directory);
        times.measure("plain posix_spawn", || plain(&self.program, &[]));
        times.measure("full", || self.confined(&self.full));
        times.measure("full, no control groups", || self.confined(&self.ungrouped));
        times.measure("full, first launch", || self.confined(&first));
        times.measure("Landlock level, no control groups", || self.confined(&self.landlock));
        if let Some(bubblewrap) = &self.bubblewrap {
            times.measure("bwrap", || bubblewrap.run());
        }
    }

    /// Launches each many times in a row; what is measured is the mean.
    fn bursts(&self) -> Times {
        let mut times = Times::new();
        times.burst("plain posix_spawn", || plain(&self.program, &[]));
        times.burst("full", || self.confined(&self.full));
        times.burst("full, no control groups", || self.confined(&self.ungrouped));
        times.burst("Landlock level, no control groups", || self.confined(&self.landlock));
        if let Some(bubblewrap) = &self.bubblewrap {
            times.burst("bwrap", || bubblewrap.run());
        }
        times
    }

    /// Starts it under this crate and waits.
    fn confined(&self, prepared: &Prepared) {
        let command = Command::new(&self.program).stdout(Stream::Null).stderr(Stream::Null);
        let mut child = prepared.spawn(command).unwrap();
        assert_eq!(child.wait().unwrap().outcome, Outcome::Code(0));
    }
}

/// All there is.
fn full(directory: &Path) -> Prepared {
    Confinement::builder(directory).prepare().unwrap()
}

/// The same with limits on each process alone.
fn without_groups(confinement: Confinement) -> Confinement {
    confinement.without(Mechanism::MemoryGroup).without(Mechanism::ProcessGroup)
}

/// How long something takes.
fn time(launch: impl FnOnce()) -> Duration {
    let started = Instant::now();
    launch();
    let took = started.elapsed();
    thread::sleep(PAUSE);
    took
}

/// How busy the machine was.
fn load() -> String {
    std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}
