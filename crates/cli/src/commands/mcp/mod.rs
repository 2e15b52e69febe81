//! `remit mcp`: the tools for a program that speaks the Model Context Protocol.
//!
//! Standard output belongs to the protocol. Everything for people, the logs too, goes to standard
//! error.

mod hosts;
mod source;

use std::{io::IsTerminal, net::SocketAddr, process::ExitCode, sync::Arc};

use mcp_server::{HttpConfig, Server, Token};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::source::SettingsSource;
use super::block_on;
use crate::{args::McpArgs, env, failure::Failure, input, interrupt, out, screen::Screen};

pub(super) fn run(args: McpArgs, screen: &Screen) -> Result<ExitCode, Failure> {
    match args.print_config {
        Some(host) => hosts::print(host, &args),
        None => block_on(serve(args, screen)),
    }
}

async fn serve(args: McpArgs, screen: &Screen) -> Result<ExitCode, Failure> {
    let stop = CancellationToken::new();
    let source = Arc::new(SettingsSource::read(&args, screen)?);
    let server = Server::new(Arc::clone(&source) as _)
        .map_err(|error| Failure::Operator(error.to_string()))?;
    interrupt::watch(screen, stop.clone())?;
    source::reload_on_hangup(args.clone(), source, server.clone())?;
    match args.http {
        None => {
            if std::io::stdin().is_terminal() {
                out::note(
                    "remit: a program that speaks MCP is expected on standard input; --print-config HOST \
                     prints how one is told to start this, --http ADDR serves over HTTP",
                );
            }
            let served = Box::pin(server.serve_stdio(stop)).await;
            served.map_err(|error| Failure::broken(&error))?;
        }
        Some(address) => http(&args, address, &server, stop).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn http(
    args: &McpArgs,
    address: SocketAddr,
    server: &Server,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let token = token(args, address)?;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| Failure::Operator(format!("--http {address}: {error}")))?;
    let bound = listener.local_addr().map_err(|error| Failure::broken(&error))?;
    out::note(&format!("remit: serving MCP at http://{bound}/mcp"));
    let mut config = HttpConfig::default();
    config.hosts.clone_from(&args.allow_host);
    config.origins.clone_from(&args.allow_origin);
    let served = Box::pin(server.serve_http(listener, config, token, stop)).await;
    served.map_err(|error| Failure::broken(&error))
}

/// The bearer token. An address that others can reach needs one that the operator chose.
fn token(args: &McpArgs, address: SocketAddr) -> Result<Token, Failure> {
    let given = match &args.token_file {
        Some(path) => Some(("--token-file", input::file("--token-file", path)?)),
        None => env::mcp_token().map(|token| (env::MCP_TOKEN, token)),
    };
    if let Some((from, text)) = given {
        return Token::new(&text).map_err(|error| Failure::Operator(format!("{from}: {error}")));
    }
    if !address.ip().is_loopback() {
        return Err(Failure::Operator(format!(
            "--http {address}: others can reach this address, so give a token with --token-file FILE \
             or {}",
            env::MCP_TOKEN
        )));
    }
    let (token, text) = Token::generate().map_err(|error| Failure::broken(&error))?;
    out::note(&format!("remit: bearer token, shown this once: {text}"));
    Ok(token)
}
