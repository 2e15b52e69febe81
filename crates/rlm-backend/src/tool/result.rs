//! A call's outcome as a model reads it, within the ceiling of its output.
//!
//! How the code ended, what became of the session, and what was left out are said apart. What has to
//! be escaped takes more room than it has bytes, so less and less is kept until the whole fits.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tool_core::{ByteCount, Content, ToolOutput, clip};

use crate::{Background, Captured, Ran, SessionId, Shown, StateAfter};

/// Below this nothing more is gained by keeping less.
const LEAST_ROOM: usize = 64;

/// The result of a call that ran.
pub(super) fn output(id: SessionId, ran: &Ran, duration: Duration, max: ByteCount) -> ToolOutput {
    let (images, images_left_out) = images(ran, max.as_usize() / 2);
    let mut room = max.as_usize();
    loop {
        let text = Text { id, ran, duration, images_left_out, room };
        let mut content = vec![Content::Json { json: text.json() }];
        content.extend(images.iter().cloned());
        let mut output = ToolOutput { content, ..ToolOutput::default() };
        if output.len_bytes() <= max || room < LEAST_ROOM {
            output.confinement = Some(ran.confinement.clone());
            return output;
        }
        room /= 2;
    }
}

/// The images that have room, and how many have none.
fn images(ran: &Ran, mut room: usize) -> (Vec<Content>, usize) {
    let (mut kept, mut left_out) = (Vec::new(), 0);
    for shown in &ran.outcome.shown {
        let Shown::Image { media_type, data } = shown else { continue };
        if data.len() <= room {
            room -= data.len();
            kept.push(Content::Image { media_type: media_type.clone(), data: data.clone() });
        } else {
            left_out += 1;
        }
    }
    (kept, left_out)
}

/// The part of a result that is text.
struct Text<'a> {
    id: SessionId,
    ran: &'a Ran,
    duration: Duration,
    images_left_out: usize,
    /// How many bytes a single part of it may have.
    room: usize,
}

impl Text<'_> {
    fn json(&self) -> Value {
        let (outcome, ending) = (&self.ran.outcome, self.ran.outcome.ending);
        let mut cut = self.images_left_out > 0;
        let mut all = Map::new();
        let mut put = |name: &str, value: Value| all.insert(name.to_owned(), value);
        put("success", (ending.exit_code == Some(0) && !ending.timed_out).into());
        if let Some((value, was_cut)) = self.value() {
            cut |= was_cut;
            put("value", value.into());
        }
        for (name, captured) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
            cut |= self.is_cut(captured);
            put(name, self.stream(captured));
        }
        if let Some(error) = self.error() {
            put("error", error);
        }
        put("session_id", self.id.to_string().into());
        match (ending.exit_code, ending.signal) {
            (Some(code), _) => put("exit_code", code.into()),
            (None, signal) => put("signal", signal.into()),
        };
        put("timed_out", ending.timed_out.into());
        if let Some(limit) = &self.ran.limit {
            put("limit_exceeded", limit.clone().into());
        }
        put("state", state(outcome.state).into());
        put("generation", outcome.generation.into());
        if let Some(note) = self.note() {
            put("note", note.into());
        }
        if !outcome.earlier.is_empty() {
            put("background", self.background(&outcome.earlier));
        }
        if self.images_left_out > 0 {
            put("images_left_out", self.images_left_out.into());
        }
        put("truncated", cut.into());
        put("duration_ms", json!((self.duration.as_secs_f64() * 1e6).round() / 1e3));
        Value::Object(all)
    }

    /// What the call shows as text, and whether some of it was left out.
    fn value(&self) -> Option<(String, bool)> {
        let texts = self.ran.outcome.shown.iter().filter_map(|shown| match shown {
            Shown::Text { text } => Some(text.as_str()),
            Shown::Html { html } => Some(html.as_str()),
            Shown::Image { .. } => None,
        });
        let whole = texts.collect::<Vec<_>>().join("\n");
        let kept = clip(&whole, self.room / 2);
        (!whole.is_empty()).then(|| (kept.to_owned(), kept.len() < whole.len()))
    }

    fn is_cut(&self, captured: &Captured) -> bool {
        captured.shrunk_to(self.room / 2).omitted_bytes() > 0
    }

    /// A stream as a text, or as its beginning and its end with what was left out between.
    fn stream(&self, captured: &Captured) -> Value {
        let captured = captured.shrunk_to(self.room / 2);
        let [head, tail] = captured.texts();
        match captured.omitted_bytes() {
            0 => (head + &tail).into(),
            omitted => json!({"head": head, "omitted_bytes": omitted, "tail": tail}),
        }
    }

    fn background(&self, background: &Background) -> Value {
        json!({
            "stdout": self.stream(&background.stdout),
            "stderr": self.stream(&background.stderr),
        })
    }

    fn error(&self) -> Option<Value> {
        let error = self.ran.outcome.error.as_ref()?;
        Some(json!({
            "type": clip(&error.name, 200),
            "message": clip(&error.message, self.room / 4),
            "traceback": clip(&error.traceback, self.room / 4),
        }))
    }

    fn note(&self) -> Option<String> {
        let killed = self.ran.outcome.ending.killed;
        let lost = self.ran.outcome.state == StateAfter::Lost;
        match (self.ran.is_fresh, lost) {
            (_, true) if killed => Some(
                "The code did not end when it was interrupted, so the interpreter was killed. Its \
                 variables are gone; the next call gets a new one."
                    .to_owned(),
            ),
            (_, true) => Some(
                "The interpreter has ended and its variables are gone; the next call gets a new one."
                    .to_owned(),
            ),
            (true, false) => Some(
                "This ran in a new interpreter: the one before it was lost, with its variables. \
                 Files are still there."
                    .to_owned(),
            ),
            (false, false) => None,
        }
    }
}

fn state(state: StateAfter) -> &'static str {
    match state {
        StateAfter::Kept => "kept",
        StateAfter::Restored => "restored",
        StateAfter::Lost => "lost",
    }
}
