//! The key goes to the server, and nowhere else.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use model::{Dialect, Model};
use serde_json::json;
use testkit::{ModelServer, Step};
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

use crate::support::{KEY, ask, chunk, options, provider, question};

/// Whether a text shows the key, or enough of it to matter.
fn shows_key(text: &str) -> bool {
    let pieces = KEY.as_bytes().windows(12);
    pieces.into_iter().any(|piece| text.contains(str::from_utf8(piece).unwrap()))
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Answers of a server that gives the key back in every way it can.
fn echoing_steps() -> Vec<Step> {
    let stream = [chunk(json!({})), json!({"error": {"message": format!("bad key {KEY}")}})];
    vec![
        Step::error(401, &format!("Incorrect API key provided: {KEY}.")),
        Step::error(401, &format!("Incorrect API key provided: {}…", &KEY[..20])),
        Step::body("text/plain", format!("Authorization: Bearer {KEY}")).status(400),
        Step::body("text/plain", format!("{}{KEY}", "x".repeat(2040))).status(400),
        Step::body("application/json", format!("{{\"choices\": \"{KEY}\"}}")),
        Step::body("application/json", format!("{{\"error\": \"{KEY}\"}}")),
        Step::json(&json!({"error": {"code": 403, "message": KEY}})),
        Step::openai_stream(&stream),
        Step::events(format!("data: \"{KEY}\"\n\n")),
        Step::error(500, KEY),
        Step::error(500, KEY),
    ]
}

#[tokio::test]
async fn no_error_debug_text_or_log_line_shows_the_key() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("trace"))
        .with_writer(log.clone())
        .finish();
    // For the whole process: one for this thread alone would race with the other tests for what is
    // cached about each log line. So the log has their lines too, which must not show the key either.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let steps = echoing_steps();
        let server = ModelServer::start(steps.clone()).unwrap();
        let mut options = options(&server, true);
        options.max_retries = 1;
        assert!(!shows_key(&format!("{options:?}")));
        let model: Box<dyn Model> = provider(dialect, options);
        assert!(!shows_key(&format!("{model:?}")));
        while server.steps_left() > 0 {
            let error = ask(model.as_ref(), &question()).await.0.unwrap_err();
            assert!(!shows_key(&format!("{error} {error:?}")), "{error}");
        }
        assert_eq!(server.requests().len(), steps.len());
        let header = match dialect {
            Dialect::OpenAi => ("authorization", format!("Bearer {KEY}")),
            Dialect::Anthropic => ("x-api-key", KEY.to_owned()),
        };
        assert_eq!(server.requests()[0].header(header.0), Some(header.1.as_str()));
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("asking a model") && log.contains("trying again"), "{log}");
    assert!(!shows_key(&log));
}

#[tokio::test]
async fn without_a_key_no_header_is_sent() {
    for (dialect, name) in [(Dialect::OpenAi, "authorization"), (Dialect::Anthropic, "x-api-key")] {
        let server = ModelServer::start([Step::error(401, "who are you?")]).unwrap();
        let mut options = options(&server, false);
        options.key = None;
        assert!(ask(provider(dialect, options).as_ref(), &question()).await.0.is_err());
        assert_eq!(server.requests()[0].header(name), None);
    }
}
