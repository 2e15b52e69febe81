//! The server that the official conformance suite of the protocol is run against.
//!
//! It has the tools that the suite's scenarios name, and serves them as every other tool is served: over
//! [`mcp_server::Server`], through the sandbox. The suite knows of no bearer token, so one is put into
//! each request before it comes to the door. `conformance ADDRESS` prints the URL once it listens.
#![allow(clippy::unwrap_used, reason = "what can't start ends")]
#![allow(clippy::print_stdout, reason = "its URL is its output")]

mod tools;

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use axum::{
    extract::Request,
    http::{HeaderValue, header},
    middleware::map_request,
};
use mcp_server::{Client, HttpConfig, Server, Source, SourceError, Token};
use sandbox::ToolSandbox;
use tokio_util::sync::CancellationToken;
use tool_core::{Limits, ToolRegistry};

/// Gives the tools of the suite to every client; a person is asked before some of them.
#[derive(Debug)]
struct Suite {
    /// For the tool that changes the list.
    server: Arc<OnceLock<Server>>,
}

impl Source for Suite {
    fn open(&self, client: Client) -> Result<Arc<ToolSandbox>, SourceError> {
        let wrong = |error: &dyn std::error::Error| SourceError::new(error.to_string());
        let mut registry = ToolRegistry::new();
        let (mut names, mut asked) = (Vec::new(), Vec::new());
        for tool in tools::all(&self.server) {
            names.push(tool.name().to_owned());
            if tool.is_asked_for() {
                asked.push(tool.name().to_owned());
            }
            registry.register(Arc::new(tool)).map_err(|error| wrong(&error))?;
        }
        let registry = Arc::new(registry);
        let scope = registry.scope(&names).map_err(|error| wrong(&error))?;
        let ask = registry.scope(&asked).map_err(|error| wrong(&error))?;
        let sandbox = ToolSandbox::new(registry, scope, Limits::default())
            .with_approval(ask, client.approver)
            .with_progress(client.progress);
        Ok(Arc::new(sandbox))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address: SocketAddr =
        std::env::args().nth(1).as_deref().unwrap_or("127.0.0.1:0").parse()?;
    let shared = Arc::new(OnceLock::new());
    let server = Server::new(Arc::new(Suite { server: Arc::clone(&shared) }))?;
    shared.get_or_init(|| server.clone());
    let (token, text) = Token::generate()?;
    let bearer = HeaderValue::from_str(&format!("Bearer {text}"))?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let mut config = HttpConfig::default();
    // The suite asks as a page of this server's own would.
    for name in ["localhost", "127.0.0.1"] {
        config.origins.push(format!("http://{name}:{}", address.port()));
    }
    let router = server.http_router(&config, token, &CancellationToken::new());
    let router = router.layer(map_request(move |mut request: Request| {
        request.headers_mut().insert(header::AUTHORIZATION, bearer.clone());
        async { request }
    }));
    println!("http://{address}/mcp");
    axum::serve(listener, router).await?;
    Ok(())
}
