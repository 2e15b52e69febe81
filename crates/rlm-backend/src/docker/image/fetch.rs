//! One fetch of an image: a task of its own, which nobody who waits for it can end by going away.
//!
//! Whoever wants the image follows the one fetch of it, and is told how far it has come. It ends with
//! the backend, and where an engine says nothing of it for long.

use std::time::{Duration, Instant};

use bollard::{Docker, query_parameters::CreateImageOptionsBuilder};
use futures_util::StreamExt as _;
use tokio::{runtime::Handle, sync::watch, time::timeout};

use super::{
    steps::Steps,
    told::{tagged, told},
};
use crate::Waiting;

/// How often those who wait are told how far it has come.
const TOLD: Duration = Duration::from_secs(5);
/// How long an engine may say nothing of a fetch.
const SILENCE: Duration = Duration::from_secs(10 * 60);

/// A fetch that runs, or has ended. Clones are the same fetch.
#[derive(Debug, Clone)]
pub(super) struct Fetch {
    name: String,
    state: watch::Receiver<State>,
}

/// How far it has come.
#[derive(Debug, Clone, Default)]
struct State {
    steps: String,
    ended: Option<Result<(), String>>,
}

impl Fetch {
    /// Begins one on this event loop.
    pub(super) fn start(docker: Docker, name: &str, handle: &Handle) -> Self {
        let (tell, state) = watch::channel(State::default());
        let fetch = Self { name: name.to_owned(), state };
        let name = name.to_owned();
        handle.spawn(async move {
            tracing::info!("fetching the image {name}");
            let ended = run(&docker, &name, &tell).await;
            match &ended {
                Ok(()) => tracing::info!("the image {name} is there"),
                Err(why) => tracing::info!("the image {name} can't be had: {why}"),
            }
            tell.send_modify(|state| state.ended = Some(ended));
        });
        fetch
    }

    /// How it ended, where it has.
    pub(super) fn ended(&self) -> Option<Result<(), String>> {
        self.state.borrow().ended.clone()
    }

    /// Whether it is the same fetch.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.state.same_channel(&other.state)
    }

    /// What it does, in words.
    pub(super) fn describe(&self) -> String {
        match self.state.borrow().steps.as_str() {
            "" => format!("fetching the image {}", self.name),
            steps => format!("fetching the image {}: {steps}", self.name),
        }
    }

    /// Waits for its end, and says now and then how far it has come.
    pub(super) async fn follow(&self, waiting: Option<&Waiting>) -> Result<(), String> {
        let mut state = self.state.clone();
        let mut next = Instant::now();
        loop {
            let ended = state.borrow_and_update().ended.clone();
            if let Some(ended) = ended {
                return ended;
            }
            if let Some(waiting) = waiting.filter(|_| Instant::now() >= next) {
                next = Instant::now() + TOLD;
                waiting.tell(&self.describe());
            }
            if state.changed().await.is_err() {
                return Err("the fetch was given up".to_owned());
            }
        }
    }
}

/// Fetches an image.
async fn run(docker: &Docker, name: &str, tell: &watch::Sender<State>) -> Result<(), String> {
    // Without a tag every tag of a name would be fetched.
    let options = CreateImageOptionsBuilder::default().from_image(&tagged(name)).build();
    let mut said = std::pin::pin!(docker.create_image(Some(options), None, None));
    let mut steps = Steps::default();
    let silent = |_| "the engine says nothing of it any more".to_owned();
    while let Some(step) = timeout(SILENCE, said.next()).await.map_err(silent)? {
        let step = step.map_err(|error| told(&error))?;
        if let Some(message) = step.error_detail.as_ref().and_then(|it| it.message.as_ref()) {
            return Err(message.trim().to_owned());
        }
        steps.take(&step);
        let text = steps.to_string();
        tell.send_if_modified(|state| {
            let is_news = state.steps != text;
            state.steps = text;
            is_news
        });
    }
    Ok(())
}
