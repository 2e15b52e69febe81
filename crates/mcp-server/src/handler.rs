//! What the protocol library asks of the server.

// Log messages are part of every revision that hosts speak, and deprecated in the newest.
#![expect(deprecated, reason = "older revisions have log levels")]

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
        ErrorCode, Implementation, ListToolsResult, LoggingLevel, LoggingMessageNotificationParam,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::json;

use crate::{call, connection::Connection, http::Beside, instructions, intake::CallArguments};

/// Methods that exist; what the library could not read of them had wrong parameters.
const METHODS: [&str; 5] =
    ["initialize", "tools/list", "tools/call", "logging/setLevel", "server/discover"];

/// The handler of one client.
#[derive(Debug, Clone)]
pub(crate) struct Handler {
    own: Arc<Connection>,
    /// For requests without a session of the protocol.
    common: Arc<Connection>,
}

impl Handler {
    pub(crate) fn new(own: Arc<Connection>, common: Arc<Connection>) -> Self {
        Self { own, common }
    }

    fn connection(&self, context: &RequestContext<RoleServer>) -> &Connection {
        match Beside::of(&context.extensions) {
            Some(beside) if !beside.has_session => &self.common,
            _ => &self.own,
        }
    }

    async fn called(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = match Beside::of(&context.extensions) {
            Some(beside) => beside.arguments.clone(),
            None => context.extensions.get::<CallArguments>().cloned().unwrap_or_default(),
        };
        let connection = self.connection(&context);
        let result = call::run(connection, &request.name, given, &context).await;
        if !context.ct.is_cancelled() {
            log(connection, &request.name, &result, &context).await;
        }
        result.map(CallToolResponse::from)
    }
}

/// Tells a client that asked for it how a call ended.
async fn log(
    connection: &Connection,
    name: &str,
    result: &Result<CallToolResult, ErrorData>,
    context: &RequestContext<RoleServer>,
) {
    let (level, ended) = match result {
        Ok(result) if result.is_error != Some(true) => (LoggingLevel::Info, "done"),
        Ok(_) => (LoggingLevel::Warning, "failed"),
        Err(_) => (LoggingLevel::Error, "refused"),
    };
    if connection.wants(rank(level)) {
        let data = json!({ "tool": tool_core::clip(name, 128), "call": ended });
        let message = LoggingMessageNotificationParam::new(level, data).with_logger("remit");
        // A client that is gone reads nothing.
        let _ = context.peer.notify_logging_message(message).await;
    }
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_logging()
            .build();
        let about = Implementation::new("remit", env!("CARGO_PKG_VERSION")).with_title("remit");
        let config = ServerConfig::new(capabilities).with_server_info(about);
        match self.common.world() {
            Ok(world) => config.with_instructions(instructions::of(&world.catalogue)),
            Err(_) => config,
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let world = self.connection(&context).world().map_err(|error| {
            tracing::error!(%error, "a client has no tools");
            ErrorData::internal_error("the tools can't be made; the operator's log says why", None)
        })?;
        let cursor = request.and_then(|request| request.cursor);
        let page = world.catalogue.page(cursor.as_deref());
        page.map_err(|_| ErrorData::invalid_params("the cursor is none that was given", None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Box::pin(self.called(request, context)).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection(&context).set_level(rank(request.level));
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.own.shared().add(context.peer);
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = tool_core::clip(&request.method, 128);
        if METHODS.contains(&method) {
            let message = format!("the params of {method} can't be read");
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("there is no method {method:?}");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }
}
