//! The operations on live pages: `click`, `type`, `press`, `scroll`, `screenshot`, `snapshot`, `close`.
//!
//! `screenshot` and `snapshot` with a `url` open a page and give its id; the others go on with it. What we
//! know stands in the facts; everything that a page wrote (its title, its tree, the text of a dialog)
//! stands within the mark of untrusted content.

mod act;
mod arguments;
mod failure;
mod show;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tool_core::{ByteCount, ExecContext, ToolOutput, ValidatedArgs};

pub(super) use self::arguments::{OPERATIONS, properties};
use self::failure::{failed, late};
use super::{facts::Facts, failure::Failure, reading};
use crate::engine::{self, Held, Notices, Program, Seen, Settings};
use crate::{BrowserConfig, Dialer, EngineKind, Fetched};

/// The most bytes of HTML of a live page that are read.
const MAX_HTML: usize = 8 << 20;

/// The live pages.
#[derive(Debug)]
pub(super) struct Pages {
    engine: Option<EngineKind>,
    named: Option<std::path::PathBuf>,
    settings: Settings,
    dialer: Dialer,
    /// There once an engine was asked for and found.
    found: OnceLock<Arc<engine::Pages>>,
}

/// A page that an operation works on.
struct Working {
    id: String,
    page: Held,
    /// What opening a URL in it gave, where the operation did that.
    visit: Option<engine::Visit>,
}

impl Pages {
    /// No page yet; an engine is looked for and started when one is asked for.
    pub(super) fn new(config: &BrowserConfig, dialer: Dialer) -> Self {
        let settings = Settings {
            memory: ByteCount(config.page_memory_mib << 20),
            max_pages: usize::try_from(config.max_pages).unwrap_or(usize::MAX),
            idle_time: Duration::from_secs(config.page_idle_secs),
            user_agent: config.user_agent.clone(),
            ..Settings::default()
        };
        let (engine, named) = (config.engine, config.engine_program.clone());
        Self { engine, named, settings, dialer, found: OnceLock::new() }
    }

    /// Does what an operation says.
    pub(super) async fn perform(
        &self,
        operation: &str,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, Failure> {
        let pages = self.pages(operation)?;
        match operation {
            "close" => Ok(close(pages, args)),
            "snapshot" | "screenshot" => show::show(self, operation, args, ctx).await,
            _ => act::act(self, operation, args, ctx).await,
        }
    }

    /// The HTML of a live page, in the form of something that was fetched.
    pub(super) async fn rendered(&self, id: &str, ctx: &ExecContext) -> Result<Fetched, Failure> {
        let deadline = deadline(ctx);
        let mut page = self.held("extract", id, deadline, ctx).await?;
        let rendered =
            page.html(MAX_HTML, deadline).await.map_err(|error| failed(error, "", ctx))?;
        let url =
            url::Url::parse(&rendered.url).map_err(|error| Failure::Failed(error.to_string()))?;
        let status = rendered.status.and_then(|status| http::StatusCode::from_u16(status).ok());
        let status =
            status.ok_or_else(|| Failure::Failed("nothing is open in the page".to_owned()))?;
        let kind = http::HeaderValue::from_static("text/html; charset=utf-8");
        Ok(Fetched {
            status,
            url,
            redirects: Vec::new(),
            headers: [(http::header::CONTENT_TYPE, kind)].into_iter().collect(),
            wire_bytes: 0,
            is_truncated: !rendered.is_whole,
            is_incomplete: false,
            retry_after: None,
            // Which of its connections brought the page is not known here.
            address: std::net::SocketAddr::from(([0, 0, 0, 0], 0)),
            body: rendered.html.into_bytes(),
        })
    }

    /// The engine's pages, or what an operator has to do.
    fn pages(&self, operation: &str) -> Result<&Arc<engine::Pages>, Failure> {
        if self.engine.is_none() {
            return Err(Failure::Unavailable(format!(
                "{operation} needs a real browser, and none is configured; an operator installs Chromium and \
                 sets engine = \"chromium\" in [browser]. navigate and extract read pages without one"
            )));
        }
        if let Some(pages) = self.found.get() {
            return Ok(pages);
        }
        let program = match &self.named {
            Some(path) => Program::at(path),
            None => Program::find(),
        };
        let program = program.map_err(|error| Failure::Unavailable(error.to_string()))?;
        let make =
            || Arc::new(engine::Pages::new(program, self.settings.clone(), self.dialer.clone()));
        Ok(self.found.get_or_init(make))
    }

    /// A page by its id, once it is free.
    async fn held(
        &self,
        operation: &str,
        id: &str,
        deadline: Instant,
        ctx: &ExecContext,
    ) -> Result<Held, Failure> {
        let getting = self.pages(operation)?.get(id);
        let held = tokio::time::timeout_at(deadline, getting).await;
        held.map_err(|_| late("the page, which does something else", ctx))?
            .map_err(|error| failed(error, id, ctx))
    }

    /// The page that a call means: a live one, and at a URL if it names one; or a new one at that URL.
    async fn working(
        &self,
        operation: &str,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<Working, Failure> {
        let deadline = deadline(ctx);
        let (id, mut page, is_new) = match args.get_str("page") {
            Some(id) => (id.to_owned(), self.held(operation, id, deadline, ctx).await?, false),
            None => {
                let opening = self.pages(operation)?.open();
                let opened = tokio::time::timeout_at(deadline, opening).await;
                let opened = opened.map_err(|_| late("the start of a browser", ctx))?;
                let (id, page) = opened.map_err(|error| failed(error, "", ctx))?;
                (id, page, true)
            }
        };
        let Some(url) = args.get_str("url") else { return Ok(Working { id, page, visit: None }) };
        match page.navigate(url, deadline).await {
            Ok(visit) => Ok(Working { id, page, visit: Some(visit) }),
            Err(error) => {
                if is_new {
                    self.pages(operation)?.close(&id);
                }
                Err(failed(error, url, ctx))
            }
        }
    }
}

/// By when an operation is done.
fn deadline(ctx: &ExecContext) -> Instant {
    Instant::from_std(reading::deadline(ctx))
}

fn close(pages: &engine::Pages, args: &ValidatedArgs) -> ToolOutput {
    let is_closed = args.get_str("page").is_some_and(|id| pages.close(id));
    ToolOutput::json(serde_json::json!({ "closed": is_closed }))
}

/// A result: what we know; what the page wrote, of which `text` makes as much as has room; and what is
/// enforced on the browser.
fn output(
    working: &Working,
    mut facts: Facts,
    url: &str,
    max: usize,
    text: impl FnOnce(&mut Facts, usize) -> String,
) -> Result<ToolOutput, Failure> {
    facts.put("page", working.id.clone());
    let url = url::Url::parse(url).map_err(|error| Failure::Failed(error.to_string()))?;
    facts.put("url", super::facts::shown(&url));
    let mut output = reading::result(facts, &url, max, text)?;
    output.confinement = Some(working.page.confinement());
    Ok(output)
}

/// How often a page did what nobody asked for; what it said of it goes into `text`.
fn tell(notices: &Notices, facts: &mut Facts, text: &mut String) {
    for (name, seen) in [
        ("dialogs_dismissed", &notices.dialogs),
        ("windows_not_opened", &notices.windows),
        ("downloads_denied", &notices.downloads),
        ("file_choosers_not_opened", &notices.file_choosers),
        ("requests_refused", &notices.refused),
    ] {
        let Seen { count, first } = seen;
        if *count == 0 {
            continue;
        }
        facts.put(name, Value::from(*count));
        for one in first {
            let line = one.replace(char::is_control, " ");
            text.push_str(&format!("{name}: {line}\n"));
        }
    }
}
