//! The tool with one server allowed, and what its results hold.

use std::sync::Arc;

use browser::{BrowserConfig, BrowserTool};
use sandbox::ToolSandbox;
use serde_json::Value;
use testkit::web::WebServer;
use tool_core::{ByteCount, Content, Limits, ToolCall, ToolRegistry, ToolResult};

use crate::common::{Names, allowing};

pub(crate) struct Tool {
    pub(crate) sandbox: ToolSandbox,
}

/// What a result holds: what the tool knows, and what somebody else wrote.
pub(crate) struct Answer {
    pub(crate) facts: Value,
    pub(crate) text: String,
}

impl Tool {
    pub(crate) fn of(server: &WebServer) -> Self {
        Self::with(&allowing(&[server]), Limits::default())
    }

    pub(crate) fn with(config: &BrowserConfig, limits: Limits) -> Self {
        Self::allowing(config, limits, &["browser"])
    }

    pub(crate) fn allowing(config: &BrowserConfig, limits: Limits, scope: &[&str]) -> Self {
        let tool = BrowserTool::with_resolver(config, Names::new(&[])).unwrap();
        let mut registry = ToolRegistry::new();
        registry.register(Arc::new(tool)).unwrap();
        let scope = registry.scope(scope.iter().copied()).unwrap();
        Self { sandbox: ToolSandbox::new(Arc::new(registry), scope, limits) }
    }

    pub(crate) async fn call(&self, arguments: Value) -> ToolResult {
        self.sandbox.execute(ToolCall::from_json("c", "browser", arguments)).await.unwrap()
    }

    /// What a call that succeeds gives.
    pub(crate) async fn answer(&self, arguments: Value) -> Answer {
        let output = self.call(arguments).await.outcome.unwrap();
        let [Content::Json { json }, rest @ ..] = output.content.as_slice() else {
            panic!("{output:?}")
        };
        let text = match rest {
            [] => String::new(),
            [Content::Text { text }] => text.clone(),
            other => panic!("{other:?}"),
        };
        Answer { facts: json.clone(), text }
    }

    /// The kind and the text of a call that fails.
    pub(crate) async fn error(&self, arguments: Value) -> (String, String) {
        let error = self.call(arguments).await.outcome.unwrap_err();
        (error.kind.to_string(), error.message)
    }
}

impl Answer {
    /// What stands between the two lines of the mark.
    pub(crate) fn inside(&self) -> &str {
        let (first, rest) = self.text.split_once('\n').unwrap();
        let number = &first[1..33];
        rest.strip_suffix(&format!("\n[{number} end]")).unwrap()
    }
}

pub(crate) fn room(bytes: u64) -> Limits {
    Limits::default().with_max_output(ByteCount(bytes)).unwrap()
}

/// An article of so many paragraphs.
pub(crate) fn article(paragraphs: usize) -> String {
    let body: String = (0..paragraphs)
        .map(|number| {
            format!(
                "<p>Paragraph {number} of the article says something about the weather in the hills, \
                 where it rained for three days before the sun came back.</p>\n"
            )
        })
        .collect();
    format!(
        "<!doctype html><html lang=\"en\"><head><title>Rain in the hills</title>\
         <meta name=\"author\" content=\"A. Writer\"></head><body><nav><a href=\"/home\">Home</a></nav>\
         <main><article><h1>Rain in the hills</h1>{body}<p>More in <a href=\"next?a=1#b\">the next \
         part</a>.</p></article></main><script>var secret = 1;</script></body></html>"
    )
}
