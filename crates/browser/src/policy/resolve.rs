//! From a name to addresses.

use std::{io, net::SocketAddr};

use tool_core::BoxFuture;

/// Resolves names. What it gives is judged by the policy before anything is dialled.
pub trait Resolve: Send + Sync + std::fmt::Debug {
    /// The addresses of a name: lower-case ASCII, without a dot at its end. The ports of the answers
    /// are not used; a scope id that is set refuses the whole answer.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
}

/// The resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
    }
}
