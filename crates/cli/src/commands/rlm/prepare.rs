//! The wait for what sessions need and takes long to get, shown to a person at a terminal.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rlm_backend::{OutputSource, OutputWatcher, Query, QueryEngine, QueryOutcome, Waiting, Watch};

use crate::{failure::Failure, out, printable::one_line, screen::Screen};

/// How long an image may take.
const WAIT: Duration = Duration::from_secs(30 * 60);

/// Asks once sessions can be made; no outcome where the person did not want to wait for that.
pub(super) async fn ask(
    engine: &QueryEngine,
    screen: &Screen,
    query: Query,
    watch: Watch,
) -> Result<Option<QueryOutcome>, Failure> {
    let watcher = out::is_terminal_err().then(|| Arc::new(Lines(screen.clone())) as _);
    let waiting = Waiting::until(Instant::now() + WAIT).watched(watcher);
    tokio::select! {
        prepared = engine.prepare(waiting) => prepared.map_err(|error| Failure::broken(&error))?,
        () = watch.cancel.cancelled() => return Ok(None),
    }
    engine.ask(query, watch).await.map(Some).map_err(|error| Failure::broken(&error))
}

/// Shows each line on the screen.
#[derive(Debug)]
struct Lines(Screen);

impl OutputWatcher for Lines {
    fn output(&self, _: OutputSource, text: &str) {
        self.0.say(&format!("  │ {}", one_line(text.trim_end())));
    }
}
