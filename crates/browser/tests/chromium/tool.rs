//! Live pages as a model uses them: through the pipeline, with what a result holds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use browser::{BrowserConfig, BrowserTool, EngineKind};
use sandbox::ToolSandbox;
use serde_json::{Value, json};
use tool_core::{ByteCount, Content, Limits, ToolCall, ToolOutput, ToolRegistry};

use crate::png::Image;
use crate::support::{Server, program};

struct Tool(ToolSandbox);

impl Tool {
    fn with(config: &BrowserConfig) -> Self {
        let mut registry = ToolRegistry::new();
        registry.register(Arc::new(BrowserTool::new(config).unwrap())).unwrap();
        let scope = registry.scope(["browser"]).unwrap();
        let limits = Limits::default().with_max_output(ByteCount(256 << 10)).unwrap();
        Self(ToolSandbox::new(Arc::new(registry), scope, limits))
    }

    fn of(server: &Server) -> Self {
        Self::with(&config(server))
    }

    async fn output(&self, arguments: Value) -> ToolOutput {
        let call = ToolCall::from_json("c", "browser", arguments);
        self.0.execute(call).await.unwrap().outcome.unwrap()
    }

    /// What is known, and what the page wrote.
    async fn told(&self, arguments: Value) -> (Value, String) {
        let output = self.output(arguments).await;
        match output.content.as_slice() {
            [Content::Json { json }, Content::Text { text }] => (json.clone(), text.clone()),
            [Content::Json { json }] => (json.clone(), String::new()),
            other => panic!("{other:?}"),
        }
    }

    async fn error(&self, arguments: Value) -> (String, String) {
        let call = ToolCall::from_json("c", "browser", arguments);
        let error = self.0.execute(call).await.unwrap().outcome.unwrap_err();
        (error.kind.to_string(), error.message)
    }
}

fn config(server: &Server) -> BrowserConfig {
    BrowserConfig {
        enabled: true,
        engine: Some(EngineKind::Chromium),
        internal_hosts: vec![server.address.to_string()],
        ..BrowserConfig::default()
    }
}

const SHOP: &str = "<!doctype html><title>Shop [page-1 end]</title><body style='background: #0a0'>
<label>Search <input id=q></label><button onclick='find()'>Find</button><main id=found></main>
<script>function find() { found.innerHTML = '<h1>Results</h1><p>Nothing was found for ' + q.value +
', although the whole of the shop was looked through, from the first shelf to the last one in the cellar.</p>';
alert('done: ' + q.value) }</script>";

/// The reference of the line that holds this.
fn reference(tree: &str, text: &str) -> String {
    let line = tree.lines().find(|line| line.contains(text)).unwrap();
    line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_model_opens_a_page_works_in_it_and_reads_it() {
    if program().is_none() {
        return;
    }
    let server = Server::start(&[("/", SHOP.to_owned()), ("/to", "!302\n\n/".to_owned())]).await;
    let tool = Tool::of(&server);
    let opened = tool.output(json!({"op": "snapshot", "url": server.url("/to")})).await;
    let confinement = opened.confinement.unwrap();
    assert_eq!(confinement["network_namespace"]["status"], "enforced", "{confinement}");
    let [Content::Json { json: facts }, Content::Text { text: tree }] = opened.content.as_slice()
    else {
        panic!("{:?}", opened.content)
    };
    assert_eq!((&facts["status"], &facts["url"]), (&json!(200), &json!(server.url("/"))));
    assert_eq!(facts["redirects"][0], json!({"url": server.url("/to"), "status": 302}));
    assert!(tree.contains("untrusted content") && !facts.to_string().contains("Shop"));
    let page = facts["page"].as_str().unwrap();

    let field = reference(tree, "textbox \"Search\"");
    tool.told(json!({"op": "type", "page": page, "ref": field, "text": "tëa"})).await;
    let find = reference(tree, "button \"Find\"");
    let (facts, text) = tool.told(json!({"op": "click", "page": page, "ref": find})).await;
    assert_eq!((&facts["navigated"], &facts["dialogs_dismissed"]), (&json!(false), &json!(1)));
    assert!(text.contains("dialogs_dismissed: alert: done: tëa"), "{text}");

    let (facts, text) = tool.told(json!({"op": "extract", "page": page, "format": "text"})).await;
    assert_eq!((&facts["rendered"], &facts["status"]), (&json!(true), &json!(200)));
    assert!(text.contains("Nothing was found for tëa"), "{text}");
    let (facts, _) = tool.told(json!({"op": "scroll", "page": page})).await;
    assert!(facts["scrolled"]["height"].is_number(), "{facts}");
    tool.told(json!({"op": "press", "page": page, "key": "Tab"})).await;

    let shot = tool.output(json!({"op": "screenshot", "page": page})).await;
    let [_, Content::Text { text }, Content::Image { media_type, data }] = shot.content.as_slice()
    else {
        panic!("{:?}", shot.content)
    };
    assert!(text.contains("title: Shop"), "{text}");
    assert_eq!(media_type, "image/png");
    assert_eq!(Image::read(data).at(600, 600), [0, 170, 0]);
    let closed = tool.told(json!({"op": "close", "page": page})).await.0;
    assert_eq!(closed, json!({"closed": true}));
    let (kind, text) = tool.error(json!({"op": "snapshot", "page": page})).await;
    assert_eq!(kind, "invalid_arguments", "{text}");
}

#[tokio::test]
async fn what_no_proxy_sees_is_refused_before_a_browser_is_asked() {
    if program().is_none() {
        return;
    }
    let server = Server::start(&[("/", SHOP.to_owned())]).await;
    let tool = Tool::of(&server);
    let (facts, _) = tool.told(json!({"op": "snapshot", "url": server.url("/")})).await;
    let page = facts["page"].as_str().unwrap();
    for url in [
        "file:///etc/hostname",
        "view-source:http://example.com/",
        "chrome://version",
        "data:text/html,x",
        "blob:http://example.com/x",
        "javascript:alert(1)",
        "about:blank",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://user@example.com/",
    ] {
        let (kind, text) = tool.error(json!({"op": "snapshot", "page": page, "url": url})).await;
        assert_eq!(kind, "invalid_arguments", "{url}: {text}");
    }
    let (kind, _) = tool.error(json!({"op": "snapshot"})).await;
    assert_eq!(kind, "invalid_arguments");
    let (kind, text) = tool.error(json!({"op": "click", "page": page, "ref": "e99"})).await;
    assert_eq!(kind, "execution_failed", "{text}");
    let (kind, text) = tool.error(json!({"op": "press", "page": page, "key": "Nope"})).await;
    assert!(kind == "invalid_arguments" && text.contains("ArrowDown"), "{text}");
}

#[tokio::test]
async fn a_program_that_is_missing_or_none_is_told_at_once() {
    let server = Server::start(&[]).await;
    for (path, expected) in [
        ("/no/such/browser", "No such file"),
        ("/etc/passwd", "not executable"),
        ("/bin/true", "did not start"),
    ] {
        let config = BrowserConfig { engine_program: Some(path.into()), ..config(&server) };
        let started = Instant::now();
        let call = json!({"op": "screenshot", "url": server.url("/")});
        let (kind, text) = Tool::with(&config).error(call).await;
        assert_eq!(kind, "backend_unavailable", "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
