//! Without an engine, what needs one is refused at once, with what to do.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::web::{Answer, WebServer};

use crate::support::Tool;

#[tokio::test]
async fn operations_on_live_pages_name_what_is_missing() {
    let server = WebServer::always(Answer::html("x")).unwrap();
    let tool = Tool::of(&server);
    for arguments in [
        json!({"op": "click", "page": "p", "ref": "e1"}),
        json!({"op": "type", "page": "p", "ref": "e1", "text": "x"}),
        json!({"op": "press", "page": "p", "key": "Enter"}),
        json!({"op": "scroll", "page": "p"}),
        json!({"op": "screenshot", "url": server.url("/")}),
        json!({"op": "snapshot", "url": server.url("/")}),
    ] {
        let started = Instant::now();
        let (kind, message) = tool.error(arguments.clone()).await;
        assert_eq!(kind, "backend_unavailable", "{arguments}: {message}");
        assert!(message.contains("chromium") && message.contains("engine"), "{message}");
        assert!(started.elapsed() < Duration::from_secs(1));
    }
    assert_eq!(server.connections(), 0);
}
