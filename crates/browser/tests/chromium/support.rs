//! A small server on loopback, and pages that may reach it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use browser::engine::{Held, Pages, Program, Settings};
use browser::{Dialer, PolicyRules, SystemResolver, UrlPolicy};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// A server of pages that the test wrote.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Serves pages by path. One that begins with `!` is a status, a type and a body, a line each.
    pub(crate) async fn start(pages: &[(&str, String)]) -> Self {
        let pages: HashMap<String, String> =
            pages.iter().map(|(path, text)| ((*path).to_owned(), text.clone())).collect();
        Self::of(Router::new().fallback(serve).with_state(Arc::new(pages))).await
    }

    /// Serves what a router says.
    pub(crate) async fn of(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, task }
    }
}

async fn serve(State(pages): State<Arc<HashMap<String, String>>>, uri: Uri) -> Response {
    let Some(text) = pages.get(uri.path()) else { return StatusCode::NOT_FOUND.into_response() };
    let Some(rest) = text.strip_prefix('!') else {
        return ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text.clone())
            .into_response();
    };
    let mut lines = rest.splitn(3, '\n');
    let status: u16 = lines.next().unwrap().parse().unwrap();
    let (kind, body) = (lines.next().unwrap().to_owned(), lines.next().unwrap().to_owned());
    let status = StatusCode::from_u16(status).unwrap();
    if status.is_redirection() {
        return (status, [(header::LOCATION, body)]).into_response();
    }
    (status, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// The installed Chromium, or nothing and why that is so.
pub(crate) fn program() -> Option<Program> {
    Program::find().map_err(|error| skip(&error.to_string())).ok()
}

/// Pages that may reach these servers and nothing else.
pub(crate) fn pages_with(program: Program, reached: &[SocketAddr], settings: Settings) -> Pages {
    let internal_hosts = reached.iter().map(SocketAddr::to_string).collect();
    let rules = PolicyRules { internal_hosts, ..PolicyRules::default() };
    let policy = Arc::new(UrlPolicy::new(&rules).unwrap());
    let dialer = Dialer::new(policy, Arc::new(SystemResolver), Duration::from_secs(5));
    Pages::new(program, settings, dialer)
}

/// One page that may reach a server and nothing else.
pub(crate) async fn page(program: Program, server: &Server) -> (Pages, Held) {
    let pages = pages_with(program, &[server.address], Settings::default());
    let (_, page) = pages.open().await.unwrap();
    (pages, page)
}

/// A deadline that a working machine meets easily.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

/// Says why something is not tested here, and fails where nothing may be left out.
#[expect(clippy::disallowed_methods, reason = "how a build says that nothing may be skipped")]
#[expect(clippy::print_stdout, reason = "a reader of the tests sees what was left out")]
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("REMIT_TEST_NO_SKIP").is_none(), "this can't be tested here: {why}");
    println!("skipped: {why}");
}
