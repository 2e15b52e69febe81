//! The ratio that the bar speaks of: the pipeline to the sum of its parts, taken in turns.
//!
//! On a shared machine two numbers of different minutes can't be compared. Here every round times a
//! batch of each case, one after the other; what is printed is the median and the fastest round of each
//! case, and the median over the rounds of its ratio to `parts` in the same round.

use std::{
    hint::black_box,
    pin::pin,
    task::{Context, Waker},
    time::{Duration, Instant},
};

use sandbox::ToolSandbox;
use tool_core::{ErrorKind, ToolCall};

use crate::cases::{ARGUMENTS, Parts, call, runtime, sandbox_of};

const ROUNDS: usize = 600;
const BATCH: u32 = 100;

type Run<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// Times all cases in turns, and prints a table.
#[expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
pub(crate) fn report() {
    let parts = Parts::new();
    let (few, many) = (sandbox_of(10), sandbox_of(10_000));
    let unknown = Some(ErrorKind::UnknownTool);
    let unauthorized = Some(ErrorKind::Unauthorized);
    let mut cases: Vec<(&str, Run<'_>)> = vec![
        ("parts", Box::new(|| time_parts(&parts))),
        ("pipeline, 10 tools", Box::new(|| time(&few, "lookup", None))),
        ("pipeline, 10,000 tools", Box::new(|| time(&many, "lookup", None))),
        ("unknown, 10 tools", Box::new(|| time(&few, "lookupp", unknown))),
        ("unknown, 10,000 tools", Box::new(|| time(&many, "lookupp", unknown))),
        ("unauthorized, 10 tools", Box::new(|| time(&few, "tool_1", unauthorized))),
        ("unauthorized, 10,000 tools", Box::new(|| time(&many, "tool_1", unauthorized))),
        // Last: what it leaves in the caches must not fall on another case.
        ("parts, a thread a call", Box::new(|| time_threads(&parts))),
    ];
    let rounds: Vec<Vec<f64>> =
        (0..ROUNDS).map(|_| cases.iter_mut().map(|(_, run)| nanos(run())).collect()).collect();
    println!("interleaved, {ROUNDS} rounds of {BATCH} calls a case; nanoseconds a call");
    for (index, (name, _)) in cases.iter().enumerate() {
        let column: Vec<f64> = rounds.iter().map(|round| round[index]).collect();
        let ratios: Vec<f64> = rounds.iter().map(|round| round[index] / round[0]).collect();
        let fastest = column.iter().copied().fold(f64::INFINITY, f64::min);
        println!(
            "{name:28} median {:7.0}  fastest {fastest:7.0}  to parts {:5.2}",
            median(column),
            median(ratios)
        );
    }
}

fn time_parts(parts: &Parts) -> Duration {
    let calls: Vec<ToolCall> = (0..BATCH).map(|_| call()).collect();
    let runtime = runtime();
    let started = Instant::now();
    for call in calls {
        black_box(runtime.block_on(parts.run(&call)));
    }
    started.elapsed()
}

/// The same parts, each call on a thread that is made for it: how a pipeline works that can only end a
/// call by leaving its thread.
fn time_threads(parts: &Parts) -> Duration {
    let calls: Vec<ToolCall> = (0..BATCH).map(|_| call()).collect();
    let started = Instant::now();
    for call in calls {
        let ready = std::thread::scope(|scope| scope.spawn(|| run_once(parts.run(&call))).join());
        assert!(ready.is_ok_and(|ready| ready));
    }
    started.elapsed()
}

/// Polls a future that is ready at once.
fn run_once<F: Future>(future: F) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    black_box(pin!(future).poll(&mut context)).is_ready()
}

fn time(sandbox: &ToolSandbox, name: &str, expected: Option<ErrorKind>) -> Duration {
    let calls: Vec<ToolCall> =
        (0..BATCH).map(|_| ToolCall::from_text("call_1", name, ARGUMENTS)).collect();
    let runtime = runtime();
    let started = Instant::now();
    for call in calls {
        let result = black_box(runtime.block_on(sandbox.execute(call))).unwrap();
        assert_eq!(result.error_kind(), expected);
    }
    started.elapsed()
}

fn nanos(batch: Duration) -> f64 {
    batch.as_secs_f64() * 1e9 / f64::from(BATCH)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
