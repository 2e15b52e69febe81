//! The parts of the benchmark. What is compared is measured in turn, round by round.

use std::time::{Duration, Instant};

use rlm_backend::{DockerConfig, PullPolicy, SandboxConfig};
use testkit::docker::{IMAGE, TestEngine};

use crate::{
    command::Docker,
    subject::Tool,
    table::{Series, row},
};

/// How many calls of a kind follow each other in a round.
const IN_A_ROW: usize = 10;
/// Longer than a container takes to come up for the pool.
const REFILL: Duration = Duration::from_secs(2);

/// How much is measured.
pub(crate) struct Size {
    /// Rounds of what takes microseconds.
    pub(crate) calls: usize,
    /// Rounds of what starts a container.
    pub(crate) starts: usize,
}

/// Sessions in containers.
fn contained(engine: &TestEngine, warm_sessions: u64, share_pipes: bool) -> Tool {
    Tool::new(SandboxConfig {
        backend: "docker".to_owned(),
        warm_sessions,
        docker: DockerConfig {
            host: Some(engine.host()),
            image: IMAGE.to_owned(),
            pull: PullPolicy::Never,
            share_pipes,
            ..DockerConfig::default()
        },
        ..SandboxConfig::default()
    })
}

/// Calls in a session that is there.
pub(crate) async fn calls(engine: &TestEngine, size: &Size) {
    let local = Tool::new(SandboxConfig { warm_sessions: 0, ..SandboxConfig::default() });
    let tools = [contained(engine, 0, true), contained(engine, 0, false), local];
    let mut sessions = Vec::new();
    for tool in &tools {
        sessions.push(tool.create().await);
    }
    let mut code = [
        Series::new("`execute_code(\"1+1\")` in Docker"),
        Series::new("the same over the engine's stream"),
        Series::new("the same on the local backend"),
    ];
    let mut bash = [
        Series::new("`execute_bash(\"true\")` in Docker"),
        Series::new("the same over the engine's stream"),
        Series::new("the same on the local backend"),
    ];
    let mut exec = Series::new("`docker exec CONTAINER true`");
    let docker = Docker::new(engine);
    let container = docker.stay();
    for round in 0..=size.calls / IN_A_ROW {
        for (at, tool) in tools.iter().enumerate() {
            for _ in 0..IN_A_ROW {
                let begun = Instant::now();
                tool.two(&sessions[at]).await;
                keep(round, &mut code[at], begun.elapsed());
                let begun = Instant::now();
                tool.bash_true(&sessions[at]).await;
                keep(round, &mut bash[at], begun.elapsed());
            }
        }
        keep(round, &mut exec, container.exec("true"));
    }
    for (tool, session) in tools.iter().zip(&sessions) {
        tool.destroy(session).await;
    }
    row(&code[0], &code[2], Some(3.0));
    row(&code[1], &code[2], None);
    row(&bash[0], &exec, Some(0.05));
    row(&bash[1], &exec, Some(0.05));
}

/// Sessions from the pool.
pub(crate) async fn from_the_pool(engine: &TestEngine, size: &Size) {
    let tool = contained(engine, 1, true);
    let docker = Docker::new(engine);
    let mut made = Series::new("`session_create`, from the pool");
    let mut run = Series::new("`docker run --rm IMAGE true`");
    for round in 0..=size.starts {
        let alone = docker.run(&["true"]);
        tokio::time::sleep(REFILL).await;
        let begun = Instant::now();
        let session = tool.create().await;
        keep(round, &mut made, begun.elapsed());
        keep(round, &mut run, alone);
        tool.two(&session).await;
        tool.destroy(&session).await;
    }
    row(&made, &run, Some(0.02));
}

/// Sessions without a pool, until their first result.
pub(crate) async fn cold(engine: &TestEngine, size: &Size) {
    let tool = contained(engine, 0, true);
    let docker = Docker::new(engine);
    let mut first = Series::new("cold `session_create` and its first `1+1`");
    let mut run = Series::new("`docker run --rm IMAGE python3 -c 1`");
    for round in 0..=size.starts {
        let begun = Instant::now();
        let session = tool.create().await;
        tool.two(&session).await;
        keep(round, &mut first, begun.elapsed());
        tool.destroy(&session).await;
        keep(round, &mut run, docker.run(&["python3", "-c", "1"]));
    }
    row(&first, &run, Some(1.2));
}

/// The first round warms up.
fn keep(round: usize, series: &mut Series, time: Duration) {
    if round > 0 {
        series.push(time);
    }
}
