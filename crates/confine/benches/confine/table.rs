//! Times by row, their medians, and the bars that they are judged by.

use std::time::{Duration, Instant};

use crate::{BURST, time};

/// The times of each row, in the order of the first round.
pub(crate) struct Times {
    rows: Vec<(&'static str, Vec<Duration>)>,
}

impl Times {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new() }
    }

    /// Measures one launch.
    pub(crate) fn measure(&mut self, row: &'static str, launch: impl FnOnce()) {
        self.add(row, time(launch));
    }

    /// Measures many without a pause.
    pub(crate) fn burst(&mut self, row: &'static str, launch: impl Fn()) {
        let started = Instant::now();
        (0..BURST).for_each(|_| launch());
        let count = u32::try_from(BURST).unwrap();
        self.add(row, started.elapsed() / count);
    }

    fn add(&mut self, row: &'static str, took: Duration) {
        match self.rows.iter_mut().find(|(name, _)| *name == row) {
            Some((_, times)) => times.push(took),
            None => self.rows.push((row, vec![took])),
        }
    }

    /// The median of a row, in milliseconds.
    fn median(&self, row: &str) -> Option<f64> {
        let (_, times) = self.rows.iter().find(|(name, _)| *name == row)?;
        let mut times = times.clone();
        times.sort_unstable();
        Some(times[times.len() / 2].as_secs_f64() * 1000.0)
    }

    /// What a row adds to a plain start.
    fn added(&self, row: &str) -> Option<f64> {
        Some(self.median(row)? - self.median(PLAIN)?)
    }

    /// What a row adds, as a part of what bubblewrap adds.
    fn against_bubblewrap(&self, row: &str) -> Option<f64> {
        Some(self.added(row)? / self.added("bwrap")?)
    }
}

/// The row that others are compared with.
const PLAIN: &str = "plain posix_spawn";

/// Prints every row.
pub(crate) fn print(title: &str, times: &Times) {
    println!("{title:36} {:>9} {:>9} {:>9} {:>11}", "median", "adds", "x plain", "x bwrap adds");
    for (row, _) in &times.rows {
        let (Some(median), Some(plain)) = (times.median(row), times.median(PLAIN)) else {
            continue;
        };
        let adds = median - plain;
        let against = times.against_bubblewrap(row);
        let against = against.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let times_plain = median / plain;
        println!("  {row:34} {median:>6.2} ms {adds:>6.2} ms {times_plain:>9.2} {against:>11}");
    }
}

/// What has to be reached.
pub(crate) struct Bars<'a> {
    pub(crate) small: &'a Times,
    pub(crate) large: &'a Times,
}

impl Bars<'_> {
    /// Prints every bar with the ratio that was measured.
    pub(crate) fn print(&self) {
        println!("{:60} {:>7} {:>7}", "judged", "ratio", "bar");
        for row in ["full", "full, no control groups", "full, first launch"] {
            let what = format!("{row}: adds, against what bwrap adds");
            judge(&what, self.small.against_bubblewrap(row), 0.25);
        }
        for row in ["full", "full, no control groups", "full, first launch"] {
            let ratio = self.large.median(row).zip(self.small.median(row));
            judge(&format!("{row}: 1 GiB against 10 MiB"), ratio.map(|(l, s)| l / s), 1.2);
        }
        for row in ["full", "full, no control groups"] {
            let ratio = self.small.median(row).zip(self.small.median(PLAIN));
            judge(&format!("{row}: against a plain start"), ratio.map(|(f, p)| f / p), 3.0);
        }
    }
}

/// Prints one line.
fn judge(what: &str, ratio: Option<f64>, bar: f64) {
    match ratio {
        Some(ratio) => {
            let verdict = if ratio <= bar { "met" } else { "missed" };
            println!("  {what:58} {ratio:>7.2} {bar:>7.2} {verdict}");
        }
        None => println!("  {what:58} {:>7} {bar:>7.2} not measured: bwrap is not installed", "-"),
    }
}
