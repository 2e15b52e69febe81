//! Starting an agent: what it may, what it gets, then its work, then its task.

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use tool_core::{AuthorizationScope, Tool, clip};

use super::{AgentPool, Ask, Ledger, Reservation, SpawnError, requests};
use crate::{
    AgentId, AgentRecord, AgentRequest, AgentState, ChainRequest, SubagentTool,
    agent::{
        Agent, ChainWork, Launch, LaunchError, Owned, Start, Times, Work, joined, scoped_chain,
        supervise, write_down,
    },
    capture::{Capture, redacted},
    config::Provider,
    narrow,
    record::{now_ms, output_path},
    scope::holds_some,
};

/// How much of a task is kept in a record, in bytes.
const MAX_TASK_SHOWN: usize = 200;
/// The longest name of a model.
const MAX_MODEL: usize = 128;

/// Starts an agent.
pub(super) async fn spawn(
    pool: &AgentPool,
    request: AgentRequest,
) -> Result<Arc<Agent>, SpawnError> {
    let shared = &pool.shared;
    if request.task.trim().is_empty() {
        return Err(SpawnError::NoTask);
    }
    check_model(request.model.as_deref())?;
    let provider = provider(pool, request.provider.as_deref())?;
    if provider.is_llm() && request.workdir.is_some() {
        let name = &provider.name;
        let message = format!(
            "provider {name:?} is a chain; its tools have their own directory, so give no workdir"
        );
        return Err(SpawnError::Provider { message });
    }
    let scope = scope(pool, &provider, &request)?;
    let workdir = workdir(pool, &request)?;
    let reservation = reserve(pool, &provider, &request)?;
    let id = AgentId::new().map_err(LaunchError::Files)?;
    let start = Start {
        id,
        provider,
        task: request.task.clone(),
        model: request.model.clone(),
        scope,
        workdir,
    };
    let (begun, start) = begin_or_fall_back(pool, start, &request, &reservation).await?;
    let output = output_path(shared.store.folder(), id);
    let capture =
        Capture::create(&output, reservation.granted.output).map_err(LaunchError::Files)?;
    let mut record = record(pool, &request, &start, &begun, reservation.granted);
    record.fallback_for = begun.fallback_for;
    write_down(&shared.store, &record);
    let agent = Arc::new(Agent::new(record, output, Some(Arc::clone(&start.provider))));
    shared.directory.add(Arc::clone(&agent));
    let owned = Owned {
        agent: Arc::clone(&agent),
        capture,
        times: times(pool, &start.provider, reservation.granted.time),
        reservation,
        store: Arc::clone(&shared.store),
        directory: Arc::clone(&shared.directory),
        launch: begun.launch.map(|mut launch| {
            launch.begin();
            Arc::new(launch)
        }),
    };
    tokio::spawn(supervise(owned, begun.work));
    requests::listen(shared);
    Ok(agent)
}

/// Work that has begun.
struct Begun {
    work: Work,
    launch: Option<Launch>,
    fallback_for: Option<String>,
}

/// Begins with the provider, or where its program is missing with the one that takes its place.
async fn begin_or_fall_back(
    pool: &AgentPool,
    mut start: Start,
    request: &AgentRequest,
    reservation: &Reservation,
) -> Result<(Begun, Start), SpawnError> {
    let asked = start.provider.name.clone();
    // Each provider is tried once, so a circle ends.
    for _ in 0..=pool.shared.providers.len() {
        let next = match begin(pool, &start, reservation).await {
            Ok(mut begun) => {
                begun.fallback_for = (start.provider.name != asked).then_some(asked);
                return Ok((begun, start));
            }
            Err(LaunchError::NoProgram { .. }) if start.provider.config.fallback.is_some() => {
                start.provider.config.fallback.clone()
            }
            Err(error) => return Err(error.into()),
        };
        start.provider = provider(pool, next.as_deref())?;
        start.scope = scope(pool, &start.provider, request)?;
    }
    let (provider, program) = (asked, start.provider.program.clone());
    Err(LaunchError::NoProgram { provider, program }.into())
}

async fn begin(
    pool: &AgentPool,
    start: &Start,
    reservation: &Reservation,
) -> Result<Begun, LaunchError> {
    let (launch, work) = if start.provider.is_llm() {
        (None, begin_chain(pool, start, reservation)?)
    } else {
        let (start, shared) = (start.clone(), Arc::clone(&pool.shared));
        // Looking at the machine and waiting for the launcher's answer, in one go.
        let started = tokio::task::spawn_blocking(move || {
            let launch = Launch::prepare(&start, &*shared.host, &shared.last_prepared)?;
            let program = launch.spawn()?;
            // Dropped like this, the program goes before its place.
            Ok::<_, LaunchError>((program, launch))
        });
        let (program, launch) = joined(started.await)??;
        let work = launch.work(program)?;
        (Some(launch), work)
    };
    Ok(Begun { work, launch, fallback_for: None })
}

fn begin_chain(
    pool: &AgentPool,
    start: &Start,
    reservation: &Reservation,
) -> Result<Work, LaunchError> {
    let granted = reservation.granted;
    let cancellation = CancellationToken::new();
    let may_spawn = holds_some(&start.scope, crate::tool::NAME);
    let subagent = may_spawn.then(|| SubagentTool::view(pool.view_of(start.id), granted.depth + 1));
    let subagent = subagent.transpose().map_err(|error| LaunchError::Chain(error.to_string()))?;
    let parts = pool.shared.host.chain(ChainRequest {
        model: start.model.as_deref().or(start.provider.config.model.as_deref()),
        scope: &start.scope,
        subagent: subagent.map(|tool| Arc::new(tool) as Arc<dyn Tool>),
        cancellation: cancellation.clone(),
    });
    let chain = scoped_chain(
        parts.map_err(LaunchError::Chain)?,
        &start.scope,
        Some(granted.tokens.max(1)),
        granted.time,
    );
    let chain = chain.map_err(LaunchError::Chain)?;
    Ok(Work::Chain(ChainWork::start(chain, start.task.clone(), cancellation)))
}

/// The provider of a name, or the default one.
fn provider(pool: &AgentPool, named: Option<&str>) -> Result<Arc<Provider>, SpawnError> {
    let shared = &pool.shared;
    let valid = || shared.providers.keys().cloned().collect::<Vec<_>>().join(", ");
    let name = named.or(shared.config.default_provider()).ok_or_else(|| SpawnError::Provider {
        message: format!("name a provider (valid: {})", valid()),
    })?;
    shared.providers.get(name).cloned().ok_or_else(|| SpawnError::Provider {
        message: format!("there is no provider {:?} (valid: {})", clip(name, 64), valid()),
    })
}

/// What the agent may call: what it asks for, or what the operator says, of what its parent holds.
fn scope(
    pool: &AgentPool,
    provider: &Provider,
    request: &AgentRequest,
) -> Result<AuthorizationScope, SpawnError> {
    let (host, parent) = (&pool.shared.host, &request.parent_scope);
    let closed = |names: &[String]| host.scope(names).map_err(SpawnError::Capability);
    let by_operator = provider.config.allow.as_ref().or(pool.shared.config.allow.as_ref());
    // The operator's list is a ceiling, and no demand.
    let ceiling = match by_operator {
        Some(names) => parent.intersect(&closed(names)?),
        None => parent.clone(),
    };
    match &request.allow {
        Some(names) => Ok(narrow(&ceiling, Some(&closed(names)?))?),
        None => Ok(narrow(&ceiling, None)?),
    }
}

/// Where the agent works: the operator's directory, or a part of it.
fn workdir(pool: &AgentPool, request: &AgentRequest) -> Result<Option<PathBuf>, SpawnError> {
    let within = &pool.shared.config.workdir;
    let Some(asked) = &request.workdir else { return Ok(within.clone()) };
    let outside = |within: PathBuf| SpawnError::Outside { asked: asked.clone(), within };
    let Some(within) = within else { return Err(outside(PathBuf::from("a private directory"))) };
    let wrong = |path: &std::path::Path| {
        let path = path.to_owned();
        move |source| SpawnError::Launch(LaunchError::Workdir { path, source })
    };
    let root = within.canonicalize().map_err(wrong(within))?;
    let path = root.join(asked);
    let real = path.canonicalize().map_err(wrong(&path))?;
    if real.starts_with(&root) { Ok(Some(real)) } else { Err(outside(root)) }
}

fn reserve(
    pool: &AgentPool,
    provider: &Provider,
    request: &AgentRequest,
) -> Result<Reservation, SpawnError> {
    let config = &pool.shared.config;
    let most = config.timeout_secs.min(provider.config.timeout_secs.unwrap_or(u64::MAX));
    let most = Duration::from_secs(most);
    let tokens = request.tokens.unwrap_or(u64::MAX).clamp(1, config.max_tokens);
    let ask = Ask {
        depth: request.depth,
        time: request.timeout.unwrap_or(most).clamp(Duration::from_millis(1), most),
        tokens: if provider.is_llm() { tokens } else { 0 },
        output: config.max_output_bytes,
    };
    Ledger::reserve(&pool.shared.ledger, ask)
}

/// A name that could be taken for a flag, or for more than a name, is refused.
fn check_model(model: Option<&str>) -> Result<(), SpawnError> {
    let Some(model) = model else { return Ok(()) };
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:/@+".contains(&byte);
    let is_name = !model.is_empty()
        && model.len() <= MAX_MODEL
        && !model.starts_with('-')
        && model.bytes().all(is_fine);
    if is_name { Ok(()) } else { Err(SpawnError::Model(clip(model, MAX_MODEL).to_owned())) }
}

fn times(pool: &AgentPool, provider: &Provider, timeout: Duration) -> Times {
    let config = &pool.shared.config;
    Times {
        timeout,
        grace: config.grace(),
        stall: Duration::from_secs(config.stall_secs),
        restarts: provider.config.restarts,
        restart_pause: provider.restart_pause,
    }
}

fn record(
    pool: &AgentPool,
    request: &AgentRequest,
    start: &Start,
    begun: &Begun,
    granted: Ask,
) -> AgentRecord {
    let place = begun.launch.as_ref().map(|launch| launch.place.path().to_owned());
    AgentRecord {
        id: start.id,
        provider: start.provider.name.clone(),
        fallback_for: None,
        model: start.model.clone().or_else(|| start.provider.config.model.clone()),
        task: clip(&redacted(&request.task), MAX_TASK_SHOWN).to_owned(),
        parent: pool.viewer,
        depth: request.depth,
        scope: crate::scope::shortest(start.scope.allowed().map(str::to_owned).collect()),
        workdir: place.unwrap_or_default().to_string_lossy().into_owned(),
        state: AgentState::Running,
        pid: begun.work.pid(),
        exit: None,
        reason: None,
        started_ms: now_ms(),
        ended_ms: None,
        timeout_ms: u64::try_from(granted.time.as_millis()).unwrap_or(u64::MAX),
        max_tokens: start.provider.is_llm().then_some(granted.tokens),
        stdout_bytes: 0,
        stderr_bytes: 0,
        kept_bytes: None,
        restarts: 0,
        tokens: None,
        cost_usd: None,
        session: None,
        worktree: None,
    }
}
