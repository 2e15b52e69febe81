//! The cost of stages 1 to 6 for a lookup, beside the sum of its parts in the same run.
//!
//! `parts` is what nobody can do without: parse the arguments, validate them with the same schema, and
//! await a call that does nothing on the same runtime. The bars are in `docs/benchmarks.md`.

#![allow(missing_docs, reason = "the macros of criterion make undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::{hint::black_box, sync::Arc, time::Duration};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sandbox::{StaticLookup, ToolSandbox};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tool_core::{
    BoxFuture, ByteCount, CompiledSchema, Limits, ToolCall, ToolError, ToolOutput, ToolRegistry,
};

/// Eight properties of the kinds that real tools have.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "key": {"type": "string", "minLength": 1, "maxLength": 4096},
            "language": {"enum": ["en", "de", "fr"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "offset": {"type": "integer", "minimum": 0},
            "exact": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 8},
            "since": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            "weight": {"type": ["number", "null"]},
        },
        "required": ["key"],
        "additionalProperties": false,
    })
}

const ARGUMENTS: &str = r#"{"key": "capital", "language": "en", "limit": 10, "offset": 0,
 "exact": true, "tags": ["city", "europe"], "since": "2024-02-29", "weight": 0.5}"#;

fn lookup(name: &str) -> Arc<StaticLookup> {
    let lookup = StaticLookup::new(name, [("capital", "Paris")]).unwrap();
    Arc::new(lookup.with_parameters(schema()))
}

/// A sandbox with so many tools, of which the lookup and one in two others are authorized.
fn sandbox(tools: usize, limits: Limits) -> ToolSandbox {
    let mut registry = ToolRegistry::new();
    let mut allowed = vec!["lookup".to_owned()];
    for n in 1..tools {
        let name = format!("tool_{n}");
        let schema = json!({"type": "object"});
        let tool = StaticLookup::new(&name, [("a", "b")]).unwrap().with_parameters(schema);
        registry.register(Arc::new(tool)).unwrap();
        if n % 2 == 0 {
            allowed.push(name);
        }
    }
    registry.register(lookup("lookup")).unwrap();
    let registry = Arc::new(registry);
    let scope = registry.scope(allowed).unwrap();
    ToolSandbox::new(registry, scope, limits)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

/// A call through the same kind of future that does nothing.
fn no_op(value: &Value) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
    Box::pin(async move {
        black_box(value);
        Ok(ToolOutput::default())
    })
}

fn call() -> ToolCall {
    ToolCall::from_text("call_1", "lookup", ARGUMENTS)
}

fn whole(c: &mut Criterion) {
    let runtime = runtime();
    let compiled = CompiledSchema::compile(&schema()).unwrap();
    let mut group = c.benchmark_group("call");
    group.bench_function("parts", |b| {
        b.iter_batched(
            call,
            |call| {
                runtime.block_on(async {
                    let value: Value =
                        serde_json::from_str(&call.arguments.to_text()).unwrap();
                    assert!(compiled.is_valid(&value));
                    no_op(&value).await
                })
            },
            BatchSize::SmallInput,
        );
    });
    for tools in [10, 10_000] {
        let sandbox = sandbox(tools, Limits::default());
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
        let sandbox = sandbox(tools, Limits::default());
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
criterion_main!(benches);
