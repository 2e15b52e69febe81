//! Executors that count, hang, panic and flood.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, channel},
    },
    sync::{Mutex, mpsc::Sender},
    time::Duration,
};

use sandbox::{BlockingPool, ExecutorTool, PoolConfig, ToolExecutor, ToolSandbox};
use serde_json::{Value, json};
use tool_core::{
    BoxFuture, ExecContext, Limits, OutputPolicy, Tool, ToolError, ToolName, ToolOutput,
    ToolRegistry, ToolSpec, ValidatedArgs,
};

type Body = dyn Fn(&ValidatedArgs, &ExecContext) -> Result<ToolOutput, ToolError> + Send + Sync;

/// A blocking executor made of a closure, which counts how often it was entered.
pub(crate) struct Closure {
    name: ToolName,
    entered: Arc<AtomicUsize>,
    body: Box<Body>,
}

impl std::fmt::Debug for Closure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Closure").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ToolExecutor for Closure {
    fn name(&self) -> &ToolName {
        &self.name
    }

    fn execute(&self, args: &ValidatedArgs, ctx: &ExecContext) -> Result<ToolOutput, ToolError> {
        self.entered.fetch_add(1, Ordering::SeqCst);
        (self.body)(args, ctx)
    }
}

/// An asynchronous tool that never becomes ready.
#[derive(Debug)]
struct Forever(ToolSpec);

impl Tool for Forever {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn execute(
        &self,
        _: ValidatedArgs,
        _: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(std::future::pending())
    }
}

/// Collects tools, and makes a sandbox in which all but the named ones are authorized.
pub(crate) struct Bench {
    pub(crate) registry: ToolRegistry,
    pub(crate) pool: BlockingPool,
    pub(crate) entered: Arc<AtomicUsize>,
    pub(crate) limits: Limits,
    _releases: Vec<Sender<()>>,
}

pub(crate) fn any_object() -> Value {
    json!({"type": "object", "additionalProperties": true})
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with_pool(PoolConfig::default())
    }

    pub(crate) fn with_pool(config: PoolConfig) -> Self {
        Self {
            registry: ToolRegistry::new(),
            pool: BlockingPool::new(config),
            entered: Arc::default(),
            limits: Limits::default(),
            _releases: Vec::new(),
        }
    }

    pub(crate) fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn tool(
        mut self,
        spec: ToolSpec,
        body: impl Fn(&ValidatedArgs, &ExecContext) -> Result<ToolOutput, ToolError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let (name, entered) = (spec.name().clone(), Arc::clone(&self.entered));
        let executor = Arc::new(Closure { name, entered, body: Box::new(body) });
        let tool = ExecutorTool::new(spec, executor, self.pool.clone()).unwrap();
        self.registry.register(Arc::new(tool)).unwrap();
        self
    }

    /// A tool that takes any object and answers with a text.
    pub(crate) fn echo(self, name: &str) -> Self {
        let spec = ToolSpec::new(name, "", any_object()).unwrap();
        self.tool(spec, |args, _| Ok(ToolOutput::json(Value::Object(args.as_object().clone()))))
    }

    /// A tool that ignores its cancellation flag until the bench is dropped.
    pub(crate) fn hanging(mut self, name: &str) -> Self {
        let (release, held): (_, Receiver<()>) = channel();
        self._releases.push(release);
        let held = Mutex::new(held);
        let spec = ToolSpec::new(name, "", any_object()).unwrap();
        self.tool(spec, move |_, _| {
            // One caller waits for the channel, all others for the lock: none looks at its flag.
            let held = held.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let _ = held.recv();
            Ok(ToolOutput::default())
        })
    }

    /// A tool that works until it is cancelled.
    pub(crate) fn obedient(self, name: &str, stopped: Arc<AtomicUsize>) -> Self {
        let spec = ToolSpec::new(name, "", any_object()).unwrap();
        self.tool(spec, move |_, ctx| {
            while !ctx.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            stopped.fetch_add(1, Ordering::SeqCst);
            Err(ToolError::Cancelled)
        })
    }

    /// A tool that answers with so many bytes of text.
    pub(crate) fn flooding(self, name: &str, bytes: usize, policy: OutputPolicy) -> Self {
        let spec = ToolSpec::new(name, "", any_object()).unwrap().with_output_policy(policy);
        self.tool(spec, move |_, _| Ok(ToolOutput::text("x".repeat(bytes))))
    }

    pub(crate) fn forever(mut self, name: &str) -> Self {
        let spec = ToolSpec::new(name, "", any_object()).unwrap();
        self.registry.register(Arc::new(Forever(spec))).unwrap();
        self
    }

    /// The sandbox, and the guard that releases what hangs.
    pub(crate) fn build(self, allowed: &[&str]) -> Ready {
        let registry = Arc::new(self.registry);
        let scope = registry.scope(allowed).unwrap();
        let sandbox = ToolSandbox::new(registry, scope, self.limits);
        Ready { sandbox, pool: self.pool, entered: self.entered, _releases: self._releases }
    }
}

/// A sandbox under test.
pub(crate) struct Ready {
    pub(crate) sandbox: ToolSandbox,
    pub(crate) pool: BlockingPool,
    entered: Arc<AtomicUsize>,
    _releases: Vec<Sender<()>>,
}

impl Ready {
    /// How often any executor was entered.
    pub(crate) fn entered(&self) -> usize {
        self.entered.load(Ordering::SeqCst)
    }

    /// The result of one line of JSON.
    pub(crate) async fn line(&self, text: &str) -> tool_core::ToolResult {
        self.sandbox.execute_text(text.as_bytes()).await.unwrap()
    }
}
