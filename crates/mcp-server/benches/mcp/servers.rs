//! The two servers: ours over a sandbox, and the library's alone.

use std::sync::Arc;

use axum::serve::ListenerExt;
use mcp_server::{Client, HttpConfig, Server, Source, SourceError, Token};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::{RequestContext, serve_server},
    transport::{
        StreamableHttpServerConfig, stdio_pipes,
        streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager},
    },
};
use sandbox::ToolSandbox;
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;
use tool_core::{
    BoxFuture, ExecContext, Limits, ToolError, ToolOutput, ToolRegistry, ToolSpec, ValidatedArgs,
};

/// Serves until the input ends.
pub(crate) fn serve(kind: &str, tools: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tools = tools.parse().unwrap();
    runtime.block_on(async {
        match kind {
            "remit-http" => remit_http(tools).await,
            "bare-http" => bare_http().await,
            "remit" => {
                let server = Server::new(Arc::new(Echoes(tools))).unwrap();
                Box::pin(server.serve_stdio(CancellationToken::new())).await.unwrap();
            }
            _ => {
                let running = Box::pin(serve_server(Bare, stdio_pipes())).await.unwrap();
                running.waiting().await.unwrap();
            }
        }
    });
}

/// What a client of the servers over HTTP has to send; a bare one asks for none.
pub(crate) const TOKEN: &str = "0123456789abcdef-token";

async fn remit_http(tools: usize) {
    let server = Server::new(Arc::new(Echoes(tools))).unwrap();
    let listener = listener().await;
    let mut config = HttpConfig::default();
    // The bounds are looked at, and never reached.
    config.max_per_second = u32::MAX;
    config.max_per_second_each = u32::MAX;
    let token = Token::new(TOKEN).unwrap();
    let stop = CancellationToken::new();
    Box::pin(server.serve_http(listener, config, token, stop)).await.unwrap();
}

async fn bare_http() {
    let service = StreamableHttpService::new(
        || Ok(Bare),
        Arc::<LocalSessionManager>::default(),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().route_service("/mcp", service);
    // As ours has it: a piece of an answer does not wait for the one before to be acknowledged.
    let listener = listener().await.tap_io(|stream| stream.set_nodelay(true).unwrap());
    axum::serve(listener, router).await.unwrap();
}

async fn listener() -> tokio::net::TcpListener {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    listener
}

/// So many tools that give their key back.
#[derive(Debug)]
struct Echoes(usize);

impl Source for Echoes {
    fn open(&self, client: Client) -> Result<Arc<ToolSandbox>, SourceError> {
        let mut registry = ToolRegistry::new();
        let names: Vec<_> = (0..self.0).map(|n| format!("echo{n}")).collect();
        for name in &names {
            registry.register(Arc::new(Echo::new(name))).unwrap();
        }
        let registry = Arc::new(registry);
        let scope = registry.scope(&names).unwrap();
        let sandbox = ToolSandbox::new(registry, scope, Limits::default());
        Ok(Arc::new(sandbox.with_progress(client.progress)))
    }
}

#[derive(Debug)]
struct Echo {
    spec: ToolSpec,
}

impl Echo {
    fn new(name: &str) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"key": {"type": "string"}},
            "required": ["key"],
            "additionalProperties": false,
        });
        Self { spec: ToolSpec::new(name, "Gives its key back.", schema).unwrap() }
    }
}

impl tool_core::Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute(
        &self,
        args: ValidatedArgs,
        _ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        let text = args.get_str("key").unwrap_or_default().to_owned();
        Box::pin(async { Ok(ToolOutput::text(text)) })
    }
}

/// The least that the library needs.
#[derive(Debug)]
struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = Tool::new("echo0", "Gives its key back.", Map::new());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("key").and_then(|key| key.as_str()).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
