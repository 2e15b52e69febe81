//! The tool behind its gate, and times.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use browser::{BrowserConfig, BrowserTool};
use sandbox::ToolSandbox;
use serde_json::Value;
use testkit::web::WebServer;
use tool_core::{Limits, ToolCall, ToolRegistry};

/// The tool as an operator has it, but for the delay between two visits: that is waiting by design.
pub(crate) fn tool(server: &WebServer, per_host: u64) -> Arc<ToolSandbox> {
    let config = BrowserConfig {
        enabled: true,
        internal_hosts: vec![server.host()],
        host_delay_ms: 0,
        per_host,
        ..BrowserConfig::default()
    };
    let mut registry = ToolRegistry::new();
    registry.register(Arc::new(BrowserTool::new(&config).unwrap())).unwrap();
    let scope = registry.scope(["browser"]).unwrap();
    Arc::new(ToolSandbox::new(Arc::new(registry), scope, Limits::default()))
}

pub(crate) async fn call(tool: &ToolSandbox, arguments: Value) {
    let result = tool.execute(ToolCall::from_json("c", "browser", arguments)).await.unwrap();
    assert!(result.is_ok(), "{result:?}");
}

pub(crate) async fn timed(times: &mut Vec<Duration>, work: impl Future<Output = ()>) {
    let began = Instant::now();
    work.await;
    times.push(began.elapsed());
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// A page of about so many bytes, with what pages have: navigation, paragraphs, lists, tables, links.
pub(crate) fn page(bytes: usize) -> String {
    let mut page = String::from(
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>A page</title>\
         <style>p { color: #333 }</style></head><body><nav><ul><li><a href=/>Home</a></ul></nav><main>",
    );
    let mut number = 0;
    while page.len() < bytes {
        number += 1;
        page.push_str(&format!(
            "<section class=\"part part-{number}\"><h2 id=s{number}>Section {number}</h2><p>The \
             <em>first</em> paragraph of section {number} says what it is about, and has <a \
             href=\"/page/{number}?from=here\">a link</a> and <code>code()</code> in it.</p><ul><li>one \
             thing</li><li>another <b>thing</b></li></ul><table><tr><th>a</th><th>b</th></tr><tr>\
             <td>{number}</td><td>&eacute;&amp;</td></tr></table></section>\n"
        ));
    }
    page.push_str("</main><footer>The end</footer></body></html>");
    page
}
