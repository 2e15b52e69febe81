//! What the protocol library asks of the server.

// Log messages are part of every revision that hosts speak, and deprecated in the newest.
#![expect(deprecated, reason = "older revisions have log levels")]

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult,
        DiscoverResult, ErrorCode, GetTaskParams, GetTaskResult, Implementation, ListToolsResult,
        MetaObject, PaginatedRequestParams, ServerCapabilities, ServerConfig,
        SetLevelRequestMethod, SetLevelRequestParams, SubscriptionFilter, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::json;

use crate::{
    ask::is_stateless, call, connection::Connection, http::Beside, instructions,
    intake::CallArguments, log, tasks::Tasks,
};

/// Methods that exist; what the library could not read of them had wrong parameters.
const METHODS: [&str; 9] = [
    "initialize",
    "tools/list",
    "tools/call",
    "logging/setLevel",
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// Those of them that there are with sessions alone.
const OF_SESSIONS: [&str; 2] = ["initialize", "logging/setLevel"];

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

    fn tasks(&self, context: &RequestContext<RoleServer>) -> &Tasks {
        self.connection(context).tasks()
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
        let result = call::run(connection, &request, given, &context).await;
        if !context.ct.is_cancelled() {
            log::ended(connection, &request.name, &result, &context).await;
        }
        result.map(|response| signed(response, &context))
    }
}

/// The result of a request without a session says who gave it.
fn signed(response: CallToolResponse, context: &RequestContext<RoleServer>) -> CallToolResponse {
    match response {
        CallToolResponse::Complete(mut result) if is_stateless(context) => {
            sign(&mut result.meta);
            CallToolResponse::Complete(result)
        }
        CallToolResponse::Task(mut created) => {
            sign(&mut created.meta);
            CallToolResponse::Task(created)
        }
        response => response,
    }
}

fn sign(meta: &mut Option<MetaObject>) {
    let about = json!({ "name": "remit", "version": env!("CARGO_PKG_VERSION") });
    meta.get_or_insert_default().0.insert("io.modelcontextprotocol/serverInfo".to_owned(), about);
}

/// Who this server is.
fn about() -> Implementation {
    Implementation::new("remit", env!("CARGO_PKG_VERSION")).with_title("remit")
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_logging()
            .enable_tasks()
            .build();
        let config = ServerConfig::new(capabilities).with_server_info(about());
        match self.common.world() {
            Ok(world) => config.with_instructions(instructions::of(&world.catalogue)),
            Err(_) => config,
        }
    }

    /// Of sessions alone: the revision without them has deprecated log messages, so none are offered
    /// there.
    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        info.capabilities.logging = None;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info))
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
        let mut page =
            page.map_err(|_| ErrorData::invalid_params("the cursor is none that was given", None))?;
        if is_stateless(&context) {
            sign(&mut page.meta);
        }
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Box::pin(self.called(request, context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let mut result = GetTaskResult::new(self.tasks(&context).get(&request.task_id)?);
        sign(&mut result.meta);
        Ok(result)
    }

    /// Nothing is asked within a task, so there is nothing to take.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks(&context).get(&request.task_id).map(|_| ())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks(&context).cancel(&request.task_id)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.connection(&context).set_level(log::rank(request.level));
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut reloads = self.own.shared().reloads();
        let wants = subscription.accepted().tools_list_changed == Some(true);
        loop {
            tokio::select! {
                biased;
                () = subscription.cancelled() => return Ok(()),
                changed = reloads.changed() => match changed {
                    Ok(()) if wants => {
                        let told = subscription.sink().notify_tool_list_changed().await;
                        told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                    }
                    Ok(()) => {}
                    Err(_) => return Ok(()),
                },
            }
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.own.shared().add(context.peer);
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = tool_core::clip(&request.method, 128);
        let is_gone = is_stateless(&context) && OF_SESSIONS.contains(&method);
        if METHODS.contains(&method) && !is_gone {
            let message = format!("the params of {method} can't be read");
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("there is no method {method:?}");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }
}
