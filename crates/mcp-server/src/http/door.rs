//! What every request has to pass before the library sees it.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{ConnectInfo, State},
    http::{HeaderMap, Method, Request, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    Beside, HttpConfig, Token,
    held::held,
    rate::{Rate, Rates},
};
use crate::{
    handler::Handler,
    intake::{self, CallArguments, Refusal},
};

/// The header that names a session of the protocol.
const SESSION: &str = "mcp-session-id";
/// The header that names the last event of a stream that broke.
const LAST_EVENT: &str = "last-event-id";

/// What every request needs.
pub(super) struct Door {
    token: Token,
    rate: Rate,
    rates: Rates,
    in_flight: Arc<Semaphore>,
    max_body: usize,
    max_sessions: usize,
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

pub(super) async fn answer(State(door): State<Arc<Door>>, request: Request<Body>) -> Response {
    let is_end = request.method() == Method::DELETE;
    match door.check(request).await {
        Ok((request, permit)) => {
            let mut response = door.service.handle(request).await;
            if is_end && response.status() == StatusCode::ACCEPTED {
                // It has ended; clients take "accepted" for a failure.
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            response.map(|body| held(Body::new(body), permit)).into_response()
        }
        Err(refused) => *refused,
    }
}

type Refused = Box<Response>;

impl Door {
    pub(super) fn new(
        config: &HttpConfig,
        token: Token,
        sessions: Arc<LocalSessionManager>,
        service: StreamableHttpService<Handler, LocalSessionManager>,
    ) -> Self {
        Self {
            token,
            rate: Rate::new(config.max_per_second),
            rates: Rates::new(config.max_per_second_each),
            in_flight: Arc::new(Semaphore::new(config.max_in_flight)),
            max_body: config.max_body,
            max_sessions: config.max_sessions,
            sessions,
            service,
        }
    }

    /// The request as the library is to see it, and its place among those in flight.
    async fn check(
        &self,
        request: Request<Body>,
    ) -> Result<(Request<Body>, OwnedSemaphorePermit), Refused> {
        if !self.token.is_borne_by(request.headers()) {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            return Err(refused((StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed")));
        }
        let (mut parts, body) = request.into_parts();
        if !self.rates.takes_one(&self.client(&parts).await) || !self.rate.takes_one() {
            return Err(later(StatusCode::TOO_MANY_REQUESTS, "1", "too many requests"));
        }
        let permit = Arc::clone(&self.in_flight).try_acquire_owned().map_err(|_| {
            later(StatusCode::SERVICE_UNAVAILABLE, "1", "too many requests are not answered yet")
        })?;
        let has_session = parts.headers.contains_key(SESSION);
        let mut beside = Beside { has_session, arguments: CallArguments::default() };
        if parts.method != Method::POST {
            with_next_event(&mut parts.headers);
            parts.extensions.insert(beside);
            return Ok((Request::from_parts(parts, body), permit));
        }
        let body = self.body(body).await?;
        if !has_session && intake::is_initialize(&body) {
            self.check_sessions().await?;
        }
        let (body, arguments) = intake::body(&body).map_err(|refusal| unreadable(&refusal))?;
        beside.arguments = arguments;
        with_length(&mut parts.headers, body.len());
        parts.extensions.insert(beside);
        Ok((Request::from_parts(parts, Body::from(body)), permit))
    }

    /// Who asks: the session that it belongs to, or the address that it comes from.
    async fn client(&self, parts: &Parts) -> String {
        let session = parts.headers.get(SESSION).and_then(|session| session.to_str().ok());
        if let Some(session) = session
            && self.sessions.sessions.read().await.contains_key(session)
        {
            return session.to_owned();
        }
        let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        address.map_or_else(String::new, |address| address.ip().to_string())
    }

    async fn body(&self, body: Body) -> Result<Bytes, Refused> {
        to_bytes(body, self.max_body).await.map_err(|_| {
            let text = format!("the body can't be read, or has more than {} bytes", self.max_body);
            refused((StatusCode::PAYLOAD_TOO_LARGE, text))
        })
    }

    async fn check_sessions(&self) -> Result<(), Refused> {
        if self.sessions.sessions.read().await.len() < self.max_sessions {
            return Ok(());
        }
        Err(later(StatusCode::SERVICE_UNAVAILABLE, "10", "there are too many sessions"))
    }
}

fn refused(response: impl IntoResponse) -> Refused {
    Box::new(response.into_response())
}

fn later(status: StatusCode, seconds: &'static str, why: &'static str) -> Refused {
    refused((status, [(header::RETRY_AFTER, seconds)], why))
}

fn unreadable(refusal: &Refusal) -> Refused {
    let json = [(header::CONTENT_TYPE, "application/json")];
    refused((StatusCode::BAD_REQUEST, json, refusal.to_json()))
}

/// The library resumes with the event that the client names, which is the last that it has: the one
/// after it is meant.
fn with_next_event(headers: &mut HeaderMap) {
    let Some(last) = headers.get(LAST_EVENT).and_then(|last| last.to_str().ok()) else { return };
    let (index, stream) = last.split_once('/').map_or((last, None), |(at, of)| (at, Some(of)));
    let Some(next) = index.parse::<u64>().ok().and_then(|index| index.checked_add(1)) else {
        return;
    };
    let next = stream.map_or_else(|| next.to_string(), |stream| format!("{next}/{stream}"));
    if let Ok(next) = next.parse() {
        headers.insert(LAST_EVENT, next);
    }
}

/// The body was written anew, so its length is another.
fn with_length(headers: &mut HeaderMap, length: usize) {
    headers.remove(header::TRANSFER_ENCODING);
    headers.insert(header::CONTENT_LENGTH, length.into());
}
