//! Rows of the table that is printed.

use std::time::Duration;

/// The head of the table.
pub(crate) const HEAD: &str = "\
| work | median | compared with | median | ratio | bar |
| --- | ---: | --- | ---: | ---: | --- |";

/// Times of one kind of work.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) name: &'static str,
    times: Vec<Duration>,
}

impl Series {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, times: Vec::new() }
    }

    pub(crate) fn push(&mut self, time: Duration) {
        self.times.push(time);
    }

    pub(crate) fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[times.len() / 2]
    }
}

/// Prints a row; without a bar, it is there to compare.
pub(crate) fn row(work: &Series, peer: &Series, bar: Option<f64>) {
    let ratio = work.median().as_secs_f64() / peer.median().as_secs_f64();
    line(work.name, &time(work), peer.name, &time(peer), ratio, bar);
}

/// Prints a row of anything.
pub(crate) fn line(work: &str, ours: &str, peer: &str, theirs: &str, ratio: f64, bar: Option<f64>) {
    let bar = match bar {
        Some(bar) if ratio <= bar => format!("≤ {bar}, kept"),
        Some(bar) => format!("≤ {bar}, MISSED"),
        None => String::new(),
    };
    println!("| {work} | {ours} | {peer} | {theirs} | {ratio:.3} | {bar} |");
}

/// Prints a row that could not be measured.
pub(crate) fn missing(work: &str, peer: &str, why: &str) {
    println!("| {work} | | {peer} | {why} | | |");
}

fn time(series: &Series) -> String {
    let micros = series.median().as_secs_f64() * 1e6;
    if micros < 1000.0 { format!("{micros:.1} µs") } else { format!("{:.2} ms", micros / 1e3) }
}
