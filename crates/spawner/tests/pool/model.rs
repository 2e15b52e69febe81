//! A pool against a model of it: random starts, ends, terminations, reads and restarts.

use std::{collections::BTreeSet, sync::Arc};

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use spawner::{
    AgentError, AgentId, AgentPool, AgentRequest, AgentState, Collect, NoHost, SpawnError,
    SubagentConfig,
};

use crate::support::{config, ended};

const MAX_LIVE: usize = 3;
const MAX_TOTAL: usize = 6;

#[derive(Debug, Clone)]
enum Step {
    Spawn(Kind),
    /// Waits for an agent that ends by itself.
    Await(usize),
    Terminate(usize),
    Collect(usize),
    Drop(usize),
    Restart,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Well,
    Badly,
    Sleeps,
}

/// What the model knows of an agent. One that ends by itself may have, until it was waited for.
#[derive(Debug)]
struct Expected {
    id: AgentId,
    kind: Kind,
    end: Option<AgentState>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop_oneof![Just(Kind::Well), Just(Kind::Badly), Just(Kind::Sleeps)];
    let step = prop_oneof![
        4 => kind.prop_map(Step::Spawn),
        2 => (0_usize..8).prop_map(Step::Await),
        2 => (0_usize..8).prop_map(Step::Terminate),
        2 => (0_usize..8).prop_map(Step::Collect),
        1 => (0_usize..8).prop_map(Step::Drop),
        1 => Just(Step::Restart),
    ];
    proptest::collection::vec(step, 1..12)
}

struct World {
    config: SubagentConfig,
    pool: AgentPool,
    agents: Vec<Expected>,
    /// Started by this pool and by those before it.
    started: usize,
}

impl World {
    fn new(state: &std::path::Path) -> Self {
        let mut config = config(
            &format!("max_live = {MAX_LIVE}\nmax_total = {MAX_TOTAL}\nprovider = \"helper\""),
            "args = [\"exit\", \"0\"]",
        );
        for (name, args) in [("badly", &["exit", "7"][..]), ("sleeps", &["sleep"])] {
            let mut provider = config.providers["helper"].clone();
            provider.args = Some(args.iter().map(ToString::to_string).collect());
            config.providers.insert(name.to_owned(), provider);
        }
        config.state_dir = Some(state.to_owned());
        let pool = AgentPool::new(config.clone(), Arc::new(NoHost)).unwrap();
        Self { config, pool, agents: Vec::new(), started: 0 }
    }

    async fn step(&mut self, step: &Step) {
        match *step {
            Step::Spawn(kind) => self.spawn(kind).await,
            Step::Await(index) => self.settle(index).await,
            Step::Terminate(index) => self.terminate(index).await,
            Step::Collect(index) => self.collect(index).await,
            Step::Drop(index) => self.drop_handle(index).await,
            Step::Restart => self.restart().await,
        }
        self.check();
    }

    /// Who ends by itself is waited for first, so that the number of places is known.
    async fn spawn(&mut self, kind: Kind) {
        for index in 0..self.agents.len() {
            self.settle(index).await;
        }
        let live = self.agents.iter().filter(|agent| agent.end.is_none()).count();
        let name = match kind {
            Kind::Well => "helper",
            Kind::Badly => "badly",
            Kind::Sleeps => "sleeps",
        };
        match self.pool.spawn(AgentRequest::new("x").with_provider(name)).await {
            Ok(id) => {
                assert!(live < MAX_LIVE && self.started < MAX_TOTAL);
                self.started += 1;
                self.agents.push(Expected { id, kind, end: None });
            }
            Err(SpawnError::Bound { bound, .. }) => match bound {
                "max_live" => assert_eq!(live, MAX_LIVE),
                "max_total" => assert_eq!(self.started, MAX_TOTAL),
                other => panic!("{other}"),
            },
            Err(error) => panic!("{error}"),
        }
    }

    fn at(&mut self, index: usize) -> Option<&mut Expected> {
        let count = self.agents.len();
        if count == 0 { None } else { self.agents.get_mut(index % count) }
    }

    async fn settle(&mut self, index: usize) {
        let Some(agent) = self.at(index) else { return };
        if agent.end.is_some() || agent.kind == Kind::Sleeps {
            return;
        }
        let (id, kind) = (agent.id, agent.kind);
        let state = ended(&self.pool, id).await.state;
        let expected = if kind == Kind::Well { AgentState::Exited } else { AgentState::Failed };
        assert_eq!(state, expected);
        self.at(index).unwrap().end = Some(state);
    }

    async fn terminate(&mut self, index: usize) {
        let Some(agent) = self.at(index) else { return };
        let (id, kind, end) = (agent.id, agent.kind, agent.end);
        let state = self.pool.terminate(id).await.unwrap().state;
        assert!(!state.is_live());
        match (end, kind) {
            (Some(end), _) => assert_eq!(state, end, "an end is final"),
            (None, Kind::Sleeps) => assert_eq!(state, AgentState::Terminated),
            // It may have ended before.
            (None, _) => {}
        }
        self.at(index).unwrap().end = Some(state);
    }

    async fn collect(&mut self, index: usize) {
        let Some(agent) = self.at(index) else { return };
        let (id, end) = (agent.id, agent.end);
        let collected = self.pool.collect(id, Collect::default()).await.unwrap();
        if let Some(end) = end {
            assert!(collected.is_done && collected.record.state == end);
        }
    }

    async fn drop_handle(&mut self, index: usize) {
        let Some(agent) = self.at(index) else { return };
        let (id, end) = (agent.id, agent.end);
        match self.pool.checkout(id) {
            Ok(handle) => {
                assert!(end.is_none());
                drop(handle);
                let state = ended(&self.pool, id).await.state;
                self.at(index).unwrap().end = Some(state);
            }
            Err(AgentError::Ended { state, .. }) => {
                assert!(end.is_none_or(|end| end == state) && !state.is_live());
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// The host ends in good order, and another begins.
    async fn restart(&mut self) {
        self.pool.drain().await;
        for agent in &mut self.agents {
            let state = self.pool.status(agent.id).unwrap().state;
            assert!(agent.end.is_none_or(|end| end == state) && !state.is_live());
            agent.end = Some(state);
        }
        self.pool = AgentPool::new(self.config.clone(), Arc::new(NoHost)).unwrap();
    }

    /// What is listed is what was started, each once, and ends are final.
    fn check(&self) {
        let listed = self.pool.list();
        let ids: BTreeSet<_> = listed.iter().map(|record| record.id).collect();
        assert_eq!(ids, self.agents.iter().map(|agent| agent.id).collect());
        assert_eq!(listed.len(), ids.len());
        for agent in self.agents.iter().filter(|agent| agent.end.is_some()) {
            assert_eq!(Some(self.pool.status(agent.id).unwrap().state), agent.end);
        }
    }
}

#[test]
fn a_pool_does_what_its_model_does() {
    let mut runner =
        TestRunner::new(Config { cases: 16, failure_persistence: None, ..Config::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runner.run(&steps(), |steps| {
        let state = tempfile::tempdir().unwrap();
        runtime.block_on(async {
            let mut world = World::new(state.path());
            for step in &steps {
                world.step(step).await;
            }
            world.pool.drain().await;
            assert_eq!(world.pool.live(), 0);
        });
        Ok(())
    });
    outcome.unwrap();
}
