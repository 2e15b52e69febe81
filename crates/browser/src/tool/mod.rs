//! `browser`: the web as a tool that a model calls.
//!
//! A page that answers with an error status is a result; an error says that nothing was read. What a
//! page wrote is marked as such, with a number that the page could not know.

mod api;
mod extract;
mod facts;
mod failure;
mod kept;
mod navigate;
mod pages;
mod reading;
mod schema;
mod slice;
mod untrusted;

use std::{sync::Arc, time::Duration};

use tool_core::{
    BoxFuture, ExecContext, OperationName, Tool, ToolError, ToolOutput, ToolSpec, ValidatedArgs,
};

use self::{failure::Failure, kept::Kept, pages::Pages, reading::Reading};
use crate::{BrowserConfig, BrowserConfigError, Dialer, Fetcher, Resolve, SystemResolver};

/// The tool's name.
pub(crate) const NAME: &str = "browser";

/// The tool `browser`.
#[derive(Debug)]
pub struct BrowserTool {
    spec: ToolSpec,
    needs: schema::Needs,
    reading: Reading,
    pages: Pages,
}

/// A tool that can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserToolError {
    /// A value of the section.
    #[error(transparent)]
    Config(#[from] BrowserConfigError),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] tool_core::NameError),
    /// A schema that does not compile.
    #[error(transparent)]
    Schema(#[from] tool_core::SchemaError),
}

impl BrowserTool {
    /// The tool that a configuration asks for. Starts nothing and dials nothing.
    ///
    /// # Errors
    /// A value that can't be used.
    pub fn new(config: &BrowserConfig) -> Result<Self, BrowserToolError> {
        Self::with_resolver(config, Arc::new(SystemResolver))
    }

    /// The same with names resolved by a resolver of the caller's.
    ///
    /// # Errors
    /// A value that can't be used.
    pub fn with_resolver(
        config: &BrowserConfig,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Self, BrowserToolError> {
        config.check()?;
        let dialer = Dialer::of_config(config, resolver)?;
        let keep_bytes = usize::try_from(config.keep_bytes).unwrap_or(usize::MAX);
        Ok(Self {
            spec: schema::spec(&config.api_methods, config.timeout())?,
            needs: schema::Needs::new(&config.api_methods)?,
            reading: Reading {
                fetcher: Fetcher::new(config, dialer.clone())?,
                kept: Kept::new(keep_bytes, Duration::from_secs(config.keep_secs)),
            },
            pages: Pages::new(config, dialer),
        })
    }

    async fn answer(&self, args: ValidatedArgs, ctx: ExecContext) -> Result<ToolOutput, ToolError> {
        let operation = args.operation().map(OperationName::as_str).unwrap_or_default();
        self.needs.check(operation, &args)?;
        let done = tokio::select! {
            done = self.perform(operation, &args, &ctx) => done,
            () = ctx.cancelled() => Err(Failure::Cancelled),
        };
        done.map_err(Failure::of_call)
    }

    async fn perform(
        &self,
        operation: &str,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, Failure> {
        match operation {
            "navigate" => navigate::navigate(&self.reading, args, ctx).await,
            "extract" => extract::extract(&self.reading, &self.pages, args, ctx).await,
            "api" => api::api(&self.reading, args, ctx).await,
            operation => self.pages.perform(operation, args, ctx).await,
        }
    }
}

impl Tool for BrowserTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute(
        &self,
        args: ValidatedArgs,
        ctx: ExecContext,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        Box::pin(self.answer(args, ctx))
    }
}
