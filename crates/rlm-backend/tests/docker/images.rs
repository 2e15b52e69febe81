//! Images that are fetched: from a registry on this machine, by the engine itself.

use std::{
    sync::{Arc, Mutex, OnceLock},
    time::{Duration, Instant},
};

use rlm_backend::{DockerConfig, PullPolicy, SandboxConfig};
use serde_json::{Value, json};
use testkit::docker::{IMAGE, Layer, Registry, engine};
use tool_core::{CallId, Progress, ProgressSink};

use crate::{
    backend,
    support::{Tool, here},
};

/// An image in a registry, and gone from the engine with this.
struct Fetched {
    registry: Registry,
    image: String,
    /// The layer that no other image has.
    own: Layer,
}

impl Fetched {
    /// One with what sessions need, of which a layer comes this slowly.
    fn slow(own: &str, pause: Duration) -> Self {
        static FILES: OnceLock<Vec<u8>> = OnceLock::new();
        let files = FILES.get_or_init(|| engine().unwrap().files_of(IMAGE)).clone();
        // Named after the process, so that no earlier run has left it with the engine.
        let own = format!("{own} of {}", std::process::id()).repeat(20_000);
        let own = Layer::of_file("srv/own", own.as_bytes()).slow(pause);
        let registry = Registry::start(vec![Layer::new(files), own.clone()]).unwrap();
        let image = registry.image(Registry::NAME);
        Self { registry, image, own }
    }

    fn tool(&self, pull: PullPolicy) -> Tool {
        tool(&self.image, pull)
    }
}

impl Drop for Fetched {
    fn drop(&mut self) {
        engine().unwrap().remove_image(&self.image);
    }
}

fn tool(image: &str, pull: PullPolicy) -> Tool {
    let config = backend::of(SandboxConfig { warm_sessions: 0, ..SandboxConfig::default() });
    let docker = DockerConfig { image: image.to_owned(), pull, ..config.docker.clone() };
    Tool::exactly(SandboxConfig { docker, ..config })
}

/// What is shown of calls while they run.
#[derive(Debug, Default)]
struct Shown(Mutex<String>);

impl ProgressSink for Shown {
    fn progress(&self, _: &CallId, progress: Progress<'_>) {
        if let Progress::Output { text, .. } = progress {
            self.0.lock().unwrap().push_str(text);
        }
    }
}

/// A call with so much time, whose answer is an error.
async fn refused(tool: &Tool, mut call: Value, ms: u64) -> String {
    call["timeout_ms"] = json!(ms);
    let started = Instant::now();
    let (kind, text) = tool.error(call).await;
    assert_eq!(kind, "backend_unavailable", "{text}");
    assert!(started.elapsed() < Duration::from_millis(ms), "it is answered in time");
    text
}

fn one() -> Value {
    json!({"op": "execute_code", "code": "1 + 1"})
}

#[tokio::test]
async fn who_waits_for_a_fetch_is_shown_it_and_what_is_there_is_not_fetched_again() {
    here!();
    let fetched = Fetched::slow("shown", Duration::from_secs(2));
    let (mut tool, shown) = (fetched.tool(PullPolicy::Missing), Arc::new(Shown::default()));
    tool.sandbox = tool.sandbox.with_progress(Arc::clone(&shown) as _);
    let code = "open('/srv/own').read(5)";
    assert_eq!(tool.python_for(code, 110_000).await["value"], "'shown'");
    let text = shown.0.lock().unwrap().clone();
    let line = format!("[fetching the image {}", fetched.image);
    assert!(text.starts_with(&line) && text.ends_with("]\n"), "{text}");
    let asked = fetched.registry.requests("/v2/");
    for pull in [PullPolicy::Missing, PullPolicy::Never] {
        assert_eq!(fetched.tool(pull).python_for("1 + 1", 60_000).await["value"], "2");
    }
    assert_eq!(fetched.registry.requests("/v2/"), asked, "nobody asked the registry");
    let always = fetched.tool(PullPolicy::Always);
    let manifests = fetched.registry.requests("/manifests/");
    for _ in 0..2 {
        assert_eq!(always.python_for("1 + 1", 60_000).await["value"], "2");
        always.create().await;
    }
    assert!(fetched.registry.requests("/manifests/") > manifests, "the registry was asked again");
    assert_eq!(fetched.registry.fetches(&fetched.own), 1, "what is there stays there");
}

#[tokio::test]
async fn a_fetch_that_no_call_can_wait_for_goes_on_and_a_later_call_finds_it() {
    here!();
    let fetched = Fetched::slow("long", Duration::from_secs(12));
    let tool = fetched.tool(PullPolicy::Missing);
    let put = json!({"op": "file_put", "path": "f", "content": "x"});
    let (first, second, third) = tokio::join!(
        refused(&tool, one(), 3_000),
        refused(&tool, json!({"op": "execute_bash", "command": "true"}), 4_000),
        refused(&tool, one(), 5_000),
    );
    let fourth = refused(&tool, one(), 2_000).await;
    for text in [first, second, third, fourth] {
        let names = text.contains(&format!("fetching the image {}", fetched.image));
        assert!(names && text.contains("call again later"), "{text}");
    }
    assert_eq!(tool.answer(put).await["bytes"], 1);
    assert_eq!(tool.python_for("1 + 1", 110_000).await["value"], "2");
    assert_eq!(fetched.registry.fetches(&fetched.own), 1, "all waited for one fetch");
}

#[tokio::test]
async fn nothing_is_fetched_where_the_operator_says_so() {
    here!();
    let fetched = Fetched::slow("never", Duration::ZERO);
    let text = refused(&fetched.tool(PullPolicy::Never), one(), 20_000).await;
    assert!(text.contains(&format!("docker pull {}", fetched.image)), "{text}");
    assert_eq!(fetched.registry.requests(""), 0);
}

#[tokio::test]
async fn a_name_that_the_registry_does_not_know_is_told_and_looked_for_again() {
    here!();
    let fetched = Fetched::slow("other", Duration::ZERO);
    let image = fetched.registry.image("no/such");
    let tool = tool(&image, PullPolicy::Missing);
    for round in 1..3 {
        let text = refused(&tool, one(), 60_000).await;
        assert!(text.contains(&image) && text.contains("can't be had"), "{text}");
        assert!(fetched.registry.requests("/no/such/manifests/") >= round);
    }
}

#[tokio::test]
async fn a_fetch_that_fails_when_nobody_waits_is_told_to_the_next_call() {
    here!();
    let registry = Registry::with_pause(Vec::new(), Duration::from_secs(5)).unwrap();
    let image = registry.image("no/such");
    let tool = tool(&image, PullPolicy::Missing);
    // None of the calls has as much time as a fetch takes.
    let mut text = refused(&tool, one(), 2_000).await;
    assert!(text.contains(&format!("fetching the image {image}")), "{text}");
    for _ in 0..20 {
        if !text.contains("fetching") {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        text = refused(&tool, one(), 2_000).await;
    }
    assert!(text.contains("can't be had"), "{text}");
}
