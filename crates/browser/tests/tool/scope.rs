//! Each operation is a capability.

use serde_json::json;
use testkit::web::{Answer, WebServer};
use tool_core::Limits;

use crate::{common::allowing, support::Tool};

#[tokio::test]
async fn an_operation_is_allowed_by_its_own_name() {
    let server = WebServer::always(Answer::html("<p>words</p>")).unwrap();
    let tool = Tool::allowing(&allowing(&[&server]), Limits::default(), &["browser.navigate"]);
    let url = server.url("/");
    assert_eq!(tool.answer(json!({"op": "navigate", "url": url})).await.facts["status"], 200);
    for refused in [
        json!({"op": "extract", "url": url}),
        json!({"op": "api", "method": "GET", "url": url}),
        json!({"op": "click", "page": "p", "ref": "e1"}),
    ] {
        assert_eq!(tool.error(refused).await.0, "unauthorized");
    }
    assert_eq!(server.connections(), 1);
}
