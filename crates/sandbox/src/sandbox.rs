//! The whole life of a call: stages 1 to 6, a person's yes, and the trail.

use std::{sync::Arc, time::Instant};

use tokio_util::sync::CancellationToken;
use tool_core::{
    AdmittedCall, AuthorizationScope, CallId, Circumstances, ExecContext, Gate, Limits,
    MalformedCall, OutputPolicy, ProgressSink, RawArguments, Stage, ToolCall, ToolError,
    ToolOutput, ToolRegistry, ToolResult, ToolSpec, parse_call,
};

use crate::{
    approval::{ApprovalDesk, Approver},
    audit::{AuditError, AuditEvent, AuditLog, CallFacts},
    envelope,
};

/// Executes calls within an operator's scope, and answers every one of them.
///
/// `Err` means that the sandbox itself is broken (its audit trail can't be written), and that nothing
/// is executed any more; everything that can go wrong with a call is an error *result*.
///
/// ```
/// use std::sync::Arc;
/// use sandbox::{StaticLookup, ToolSandbox};
/// use tool_core::{ErrorKind, Limits, ToolCall, ToolRegistry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut registry = ToolRegistry::new();
/// registry.register(Arc::new(StaticLookup::new("lookup", [("capital", "Paris")])?))?;
/// let registry = Arc::new(registry);
/// let scope = registry.scope(["lookup"])?;
/// let sandbox = ToolSandbox::new(registry, scope, Limits::default());
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// # runtime.block_on(async {
/// let answer = sandbox.execute(ToolCall::from_text("1", "lookup", r#"{"key": "capital"}"#)).await?;
/// assert_eq!(answer.for_model(), "Paris");
/// let refused = sandbox.execute(ToolCall::from_text("2", "Lookup", "{}")).await?;
/// assert_eq!(refused.error_kind(), Some(ErrorKind::UnknownTool));
/// # Ok::<(), sandbox::AuditError>(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ToolSandbox {
    gate: Gate,
    desk: Option<ApprovalDesk>,
    audit: Option<AuditLog>,
    circumstances: Arc<Circumstances>,
}

impl ToolSandbox {
    /// A sandbox for these tools, this scope (made by [`ToolRegistry::scope`]) and these ceilings.
    #[must_use]
    pub fn new(registry: Arc<ToolRegistry>, scope: AuthorizationScope, limits: Limits) -> Self {
        let gate = Gate::new(registry, scope, limits);
        let scope = Arc::clone(gate.scope());
        let cancellation = CancellationToken::new();
        let circumstances = Arc::new(Circumstances { limits, cancellation, scope, progress: None });
        Self { gate, desk: None, audit: None, circumstances }
    }

    /// Asks a person before every call of these capabilities.
    #[must_use]
    pub fn with_approval(mut self, ask: AuthorizationScope, approver: Arc<dyn Approver>) -> Self {
        self.desk = Some(ApprovalDesk::new(ask, approver));
        self
    }

    /// Writes a trail.
    #[must_use]
    pub fn with_audit(mut self, audit: AuditLog) -> Self {
        self.audit = Some(audit);
        self
    }

    /// Cancels every call, running or to come, when the token is cancelled.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.circumstances =
            Arc::new(Circumstances { cancellation, ..(*self.circumstances).clone() });
        self
    }

    /// Shows what calls do while they run to somebody who watches.
    #[must_use]
    pub fn with_progress(mut self, sink: Arc<dyn ProgressSink>) -> Self {
        let progress = Some(sink);
        self.circumstances = Arc::new(Circumstances { progress, ..(*self.circumstances).clone() });
        self
    }

    /// What a model is offered.
    #[must_use]
    pub fn offered(&self) -> Vec<ToolSpec> {
        self.gate.offered()
    }

    /// The tools that exist, offered or not.
    #[must_use]
    pub fn registry(&self) -> &Arc<ToolRegistry> {
        self.gate.registry()
    }

    /// The ceilings.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.gate.limits()
    }

    /// Reads one call from its JSON text, and executes it.
    ///
    /// # Errors
    /// The audit trail can't be written.
    pub async fn execute_text(&self, text: &[u8]) -> Result<ToolResult, AuditError> {
        match parse_call(text) {
            Ok(call) => self.execute(call).await,
            Err(malformed) => self.refuse_malformed(&malformed, text),
        }
    }

    /// Answers a text that is no call. `text` is what the trail measures.
    ///
    /// # Errors
    /// The audit trail can't be written.
    pub fn refuse_malformed(
        &self,
        malformed: &MalformedCall,
        text: &[u8],
    ) -> Result<ToolResult, AuditError> {
        let started = Instant::now();
        let text = RawArguments::Text(String::from_utf8_lossy(text).into_owned());
        let facts = self.facts(&malformed.id, &malformed.name, &text);
        let result =
            ToolResult::error(malformed.id.clone(), malformed.name.clone(), &malformed.into());
        self.answered(started, facts.as_ref(), result)
    }

    /// Executes one call: stages 1 to 6.
    ///
    /// # Errors
    /// The audit trail can't be written.
    pub async fn execute(&self, call: ToolCall) -> Result<ToolResult, AuditError> {
        let started = Instant::now();
        let facts = self.facts(&call.id, &call.name, &call.arguments);
        let admitted = match self.admit(&call).await {
            Ok(admitted) => admitted,
            Err(refusal) => {
                let result = ToolResult::error(call.id, call.name, &refusal);
                return self.answered(started, facts.as_ref(), result);
            }
        };
        let reading = admitted.reading();
        self.admitted(facts.as_ref())?;
        let given_up = GivenUp { sandbox: self, facts: facts.as_ref(), started };
        // The time a person took does not count.
        let begun = if self.desk.is_some() { Instant::now() } else { started };
        let outcome = self.run(&call.id, begun, admitted).await;
        std::mem::forget(given_up);
        let mut result = match outcome {
            Ok(output) => ToolResult::ok(call.id, call.name, output),
            Err(error) => ToolResult::error(call.id, call.name, &error),
        };
        result.reading = reading;
        self.answered(started, facts.as_ref(), result)
    }

    /// Stages 1 to 4, and a person's yes where one is needed.
    async fn admit(&self, call: &ToolCall) -> Result<AdmittedCall, ToolError> {
        let admitted = self.gate.admit(call)?;
        if self.cancellation().is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        if let Some(desk) = &self.desk {
            // On the heap, so that a call that nobody is asked about does not carry the room for it.
            Box::pin(self.ask(desk, call, &admitted)).await?;
        }
        Ok(admitted)
    }

    async fn ask(
        &self,
        desk: &ApprovalDesk,
        call: &ToolCall,
        admitted: &AdmittedCall,
    ) -> Result<(), ToolError> {
        tokio::select! {
            biased;
            () = self.cancellation().cancelled() => Err(ToolError::Cancelled),
            decision = desk.check(&call.id, admitted) => decision,
        }
    }

    fn cancellation(&self) -> &CancellationToken {
        &self.circumstances.cancellation
    }

    /// Stages 5 and 6. The deadline counts from `started`.
    async fn run(
        &self,
        id: &CallId,
        started: Instant,
        admitted: AdmittedCall,
    ) -> Result<ToolOutput, ToolError> {
        let policy = admitted.tool().spec().output_policy();
        let circumstances = Arc::clone(&self.circumstances);
        let ctx = ExecContext::new(id.clone(), started, admitted.timeout(), circumstances);
        let output = envelope::run(admitted, ctx, self.cancellation()).await?;
        bound_output(output, policy, self.gate.limits())
    }

    fn facts(&self, id: &CallId, tool: &str, arguments: &RawArguments) -> Option<CallFacts> {
        self.audit.as_ref().map(|_| CallFacts::new(id.as_str(), tool, arguments))
    }

    fn admitted(&self, facts: Option<&CallFacts>) -> Result<(), AuditError> {
        let (Some(audit), Some(facts)) = (&self.audit, facts) else { return Ok(()) };
        let scope = self.gate.scope();
        audit.append(facts.record(AuditEvent::Admitted, Stage::Schema, "admitted", scope))
    }

    /// Stamps the result and writes it down; a result that can't be written down is withheld.
    fn answered(
        &self,
        started: Instant,
        facts: Option<&CallFacts>,
        mut result: ToolResult,
    ) -> Result<ToolResult, AuditError> {
        result.duration = started.elapsed();
        let (Some(audit), Some(facts)) = (&self.audit, facts) else { return Ok(result) };
        let (stage, outcome) = match &result.outcome {
            Ok(_) => (Stage::OutputSize, "ok"),
            Err(error) => (Stage::of(error.kind), error.kind.as_str()),
        };
        let mut record = facts.record(AuditEvent::Answered, stage, outcome, self.gate.scope());
        record.reading = result.reading;
        record.output_bytes = result.outcome.as_ref().ok().map(ToolOutput::len_bytes);
        record.duration_ms = Some(result.duration.as_secs_f64() * 1e3);
        audit.append(record)?;
        Ok(result)
    }
}

/// Writes down that a call was given up, where its caller drops it before the answer.
struct GivenUp<'a> {
    sandbox: &'a ToolSandbox,
    facts: Option<&'a CallFacts>,
    started: Instant,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        let result = ToolResult::error("", "", &ToolError::Cancelled);
        if let Err(error) = self.sandbox.answered(self.started, self.facts, result) {
            // The next call finds the trail poisoned and is not executed.
            tracing::error!(%error, "a call that was given up could not be written down");
        }
    }
}

/// Stage 6: real bytes, refused or cut by the tool's own policy.
fn bound_output(
    output: ToolOutput,
    policy: OutputPolicy,
    limits: &Limits,
) -> Result<ToolOutput, ToolError> {
    let (bytes, max) = (output.len_bytes(), limits.max_output());
    if bytes <= max {
        return Ok(output);
    }
    let cut = match policy {
        OutputPolicy::Refuse => None,
        OutputPolicy::Truncate => output.truncated_to(max),
    };
    cut.ok_or(ToolError::OutputTooLarge { bytes, max })
}
