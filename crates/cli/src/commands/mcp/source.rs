//! Where the server takes its tools from: the settings, read anew at SIGHUP.
//!
//! New settings count only if a sandbox can be made of them; else the old ones stay. The trail is
//! opened once and shared by all sandboxes, so a reload does not move it.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_server::{Client, Server, Source, SourceError};
use sandbox::{AuditLog, ToolSandbox};
use tokio_util::sync::CancellationToken;

use crate::{
    approver::TerminalApprover,
    args::McpArgs,
    failure::Failure,
    screen::Screen,
    session::{self, Around},
    settings::{Layers, Settings},
};

/// The settings as they were read last.
#[derive(Debug)]
pub(super) struct SettingsSource {
    settings: Mutex<Arc<Settings>>,
    audit: Option<AuditLog>,
    approver: TerminalApprover,
}

impl SettingsSource {
    /// Reads the settings. Mistakes in them are found here.
    pub(super) fn read(args: &McpArgs, screen: &Screen) -> Result<Self, Failure> {
        let settings = read(args)?;
        let approver = TerminalApprover::new(screen.clone());
        sandbox(&settings, &approver, Around::default())?;
        let audit = session::audit(&settings)?;
        Ok(Self { settings: Mutex::new(Arc::new(settings)), audit, approver })
    }

    /// Reads them anew, where a sandbox can be made of them.
    fn reread(&self, args: &McpArgs) -> Result<(), Failure> {
        let settings = read(args)?;
        sandbox(&settings, &self.approver, Around::default())?;
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        Ok(())
    }
}

impl Source for SettingsSource {
    fn open(&self, client: Client) -> Result<Arc<ToolSandbox>, SourceError> {
        let settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let around = Around {
            audit: self.audit.clone(),
            progress: Some(client.progress),
            client: Some(client.approver),
        };
        sandbox(&settings, &self.approver, around)
            .map_err(|failure| SourceError::new(failure.to_string()))
    }
}

fn read(args: &McpArgs) -> Result<Settings, Failure> {
    let settings = Layers::read(&args.settings, &args.execution)?.finish()?;
    if !settings.config().tools.execute {
        settings.check_idle()?;
        let message = "mcp needs --execute-tools, and --allow-tool NAME for what may run: nothing is \
                       served without them";
        return Err(Failure::Operator(message.to_owned()));
    }
    Ok(settings)
}

fn sandbox(
    settings: &Settings,
    approver: &TerminalApprover,
    around: Around,
) -> Result<Arc<ToolSandbox>, Failure> {
    session::start_with(settings, approver.clone(), around, CancellationToken::new())
        .map(|session| session.sandbox)
}

/// Reads the settings anew at each SIGHUP, and tells the clients.
#[cfg(unix)]
pub(super) fn reload_on_hangup(
    args: McpArgs,
    source: Arc<SettingsSource>,
    server: Server,
) -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangups = signal(SignalKind::hangup())
        .map_err(|error| Failure::Broken(format!("SIGHUP can't be heard: {error}")))?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            match source.reread(&args) {
                Ok(()) => server.reload().await,
                Err(failure) => tracing::error!("the settings stay as they were: {failure}"),
            }
        }
    });
    Ok(())
}

/// There is no such signal here.
#[cfg(not(unix))]
pub(super) fn reload_on_hangup(
    _args: McpArgs,
    _source: Arc<SettingsSource>,
    _server: Server,
) -> Result<(), Failure> {
    Ok(())
}
