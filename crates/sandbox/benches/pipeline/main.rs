//! The cost of stages 1 to 6 for a lookup, beside the sum of its parts in the same run.
//!
//! `parts` is what nobody can do without: parse the arguments, validate them with the same schema, and
//! await a call that does nothing on the same runtime. The bars are in `docs/benchmarks.md`.

#![allow(missing_docs, reason = "the macros of criterion make undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod cases;
mod interleaved;

use std::{sync::Arc, time::Duration};

use cases::{ARGUMENTS, Parts, call, runtime, sandbox_of};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group};
use sandbox::{StaticLookup, ToolSandbox};
use serde_json::json;
use tool_core::{ByteCount, Limits, ToolCall, ToolRegistry};

fn whole(c: &mut Criterion) {
    let runtime = runtime();
    let parts = Parts::new();
    let mut group = c.benchmark_group("call");
    group.bench_function("parts", |b| {
        b.iter_batched(call, |call| runtime.block_on(parts.run(&call)), BatchSize::SmallInput);
    });
    for tools in [10, 10_000] {
        let sandbox = sandbox_of(tools);
        group.bench_function(BenchmarkId::new("pipeline", tools), |b| {
            b.iter_batched(
                call,
                |call| {
                    let result = runtime.block_on(sandbox.execute(call)).unwrap();
                    assert!(result.is_ok());
                    result
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn refusals(c: &mut Criterion) {
    let runtime = runtime();
    let mut group = c.benchmark_group("refusal");
    let cases = [("unknown", "lookupp"), ("unauthorized", "tool_1")];
    for tools in [10, 10_000] {
        let sandbox = sandbox_of(tools);
        for (what, name) in cases {
            group.bench_function(BenchmarkId::new(what, tools), |b| {
                b.iter_batched(
                    || ToolCall::from_text("call_1", name, ARGUMENTS),
                    |call| {
                        let result = runtime.block_on(sandbox.execute(call)).unwrap();
                        assert!(!result.is_ok());
                        result
                    },
                    BatchSize::SmallInput,
                );
            });
        }
    }
    group.finish();
}

fn argument_size(c: &mut Criterion) {
    let runtime = runtime();
    let limits = Limits::default().with_max_args(ByteCount(1 << 20)).unwrap();
    let mut registry = ToolRegistry::new();
    let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let tool = StaticLookup::new("lookup", [("key", "b")]).unwrap().with_parameters(open);
    registry.register(Arc::new(tool)).unwrap();
    let registry = Arc::new(registry);
    let scope = registry.scope(["lookup"]).unwrap();
    let sandbox = ToolSandbox::new(registry, scope, limits);
    let mut group = c.benchmark_group("argument_size");
    for kib in [1u64, 8, 64, 512] {
        let mut arguments = r#"{"key": "key""#.to_owned();
        let bytes = usize::try_from(kib * 1024).unwrap();
        while arguments.len() < bytes - 64 {
            arguments.push_str(&format!(r#", "{:08}": "a value of some length""#, arguments.len()));
        }
        arguments.push('}');
        group.throughput(Throughput::Bytes(kib * 1024));
        group.bench_function(BenchmarkId::from_parameter(format!("{kib}KiB")), |b| {
            b.iter_batched(
                || ToolCall::from_text("call_1", "lookup", arguments.clone()),
                |call| {
                    let result = runtime.block_on(sandbox.execute(call)).unwrap();
                    assert!(result.is_ok());
                    result
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots();
    targets = whole, refusals, argument_size
}

fn main() {
    benches();
    interleaved::report();
}
