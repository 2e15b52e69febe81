//! A call's outcome as a model reads it, within the ceiling of its output.
//!
//! How the code ended, what became of the session, and what was left out are said apart. What has to
//! be escaped takes more room than it has bytes, so less and less is kept until the whole fits.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, json};
use tool_core::{ByteCount, Content, ToolOutput, clip};

use crate::{Background, Captured, Extended, Ran, SessionId, Shown, StateAfter};

/// Below this nothing more is gained by keeping less.
const LEAST_ROOM: usize = 64;

/// A call that ran.
pub(super) struct Report<'a> {
    pub(super) id: SessionId,
    pub(super) ran: &'a Ran,
    pub(super) duration: Duration,
    /// The end of the session, where it is near.
    pub(super) ends_soon: Option<Extended>,
    /// The backend that ran it, where there is more than one that it could be.
    pub(super) backend: Option<String>,
}

/// The result of a call that ran.
pub(super) fn output(report: &Report<'_>, max: ByteCount) -> ToolOutput {
    let (images, images_left_out) = images(report.ran, max.as_usize() / 2);
    let mut room = max.as_usize();
    loop {
        let text = Text { report, ran: report.ran, images_left_out, room };
        let mut content = vec![Content::Json { json: text.json() }];
        content.extend(images.iter().cloned());
        let mut output = ToolOutput { content, ..ToolOutput::default() };
        if output.len_bytes() <= max || room < LEAST_ROOM {
            output.confinement = Some(Arc::clone(&report.ran.confinement));
            return output;
        }
        room /= 2;
    }
}

/// A stream as a text, or as its beginning and its end with what was left out between.
pub(super) fn stream(captured: &Captured, room: usize) -> Value {
    let captured = captured.shrunk_to(room);
    let [head, tail] = captured.texts();
    match captured.omitted_bytes() {
        0 => (head + &tail).into(),
        omitted => json!({"head": head, "omitted_bytes": omitted, "tail": tail}),
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
    report: &'a Report<'a>,
    ran: &'a Ran,
    images_left_out: usize,
    /// How many bytes a single part of it may have.
    room: usize,
}

impl Text<'_> {
    fn json(&self) -> Value {
        let mut all = Map::new();
        let cut = self.put_output(&mut all);
        self.put_ending(&mut all);
        if !self.ran.outcome.earlier.is_empty() {
            put(&mut all, "background", self.background(&self.ran.outcome.earlier));
        }
        self.put_files(&mut all);
        if self.images_left_out > 0 {
            put(&mut all, "images_left_out", self.images_left_out);
        }
        put(&mut all, "truncated", cut);
        let ms = self.report.duration.as_secs_f64() * 1e3;
        put(&mut all, "duration_ms", json!((ms * 1e3).round() / 1e3));
        Value::Object(all)
    }

    /// What the code showed and printed; says whether some of it was left out.
    fn put_output(&self, all: &mut Map<String, Value>) -> bool {
        let (outcome, ending) = (&self.ran.outcome, self.ran.outcome.ending);
        let mut cut = self.images_left_out > 0;
        put(all, "success", ending.exit_code == Some(0) && !ending.timed_out);
        if let Some((value, was_cut)) = self.value() {
            cut |= was_cut;
            put(all, "value", value);
        }
        for (name, captured) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
            cut |= self.is_cut(captured);
            put(all, name, self.stream(captured));
        }
        if let Some(error) = self.error() {
            put(all, "error", error);
        }
        cut
    }

    /// How it ended, and what became of the session.
    fn put_ending(&self, all: &mut Map<String, Value>) {
        let (outcome, ending) = (&self.ran.outcome, self.ran.outcome.ending);
        put(all, "session_id", self.report.id.to_string());
        if let Some(backend) = &self.report.backend {
            put(all, "backend", backend.clone());
        }
        match (ending.exit_code, ending.signal) {
            (Some(code), _) => put(all, "exit_code", code),
            (None, signal) => put(all, "signal", signal),
        }
        put(all, "timed_out", ending.timed_out);
        if let Some(cwd) = &outcome.cwd {
            put(all, "cwd", clip(&cwd.path, self.room / 8));
            if !cwd.exists {
                put(all, "cwd_is_gone", true);
            }
        }
        if let Some(limit) = &self.ran.limit {
            put(all, "limit_exceeded", limit.clone());
        } else if self.ran.over_disk.is_some() {
            put(all, "limit_exceeded", "disk");
        }
        put(all, "state", state(outcome.state));
        put(all, "generation", outcome.generation);
        let notes = [self.note(), self.disk_note(), self.end_note()];
        let notes: Vec<_> = notes.into_iter().flatten().collect();
        if !notes.is_empty() {
            put(all, "note", notes.join(" "));
        }
    }

    /// The files that the call made or changed.
    fn put_files(&self, all: &mut Map<String, Value>) {
        let changes = &self.ran.changes;
        let (mut room, mut files) = (self.room / 4, Vec::new());
        for file in &changes.files {
            let file = json!({"path": file.path, "size": file.size});
            let Some(left) = room.checked_sub(file.to_string().len()) else { break };
            room = left;
            files.push(file);
        }
        let left_out = changes.left_out + (changes.files.len() - files.len()) as u64;
        if !files.is_empty() {
            put(all, "files", files);
        }
        if left_out > 0 {
            put(all, "files_left_out", left_out);
        }
        if let Some(why) = &changes.not_listed {
            put(all, "files_not_listed", why.clone());
        }
        self.put_executable(all);
    }

    /// What of the files the host would obey or run later.
    fn put_executable(&self, all: &mut Map<String, Value>) {
        let changes = &self.ran.changes;
        let (mut room, mut found) = (self.room / 4, Vec::new());
        for one in &changes.executable_configuration {
            let one = json!(one);
            let Some(left) = room.checked_sub(one.to_string().len()) else { break };
            room = left;
            found.push(one);
        }
        let rest = changes.executable_configuration.len() - found.len();
        let left_out = changes.executable_left_out + rest as u64;
        if !found.is_empty() {
            put(all, "executable_configuration", found);
        }
        if left_out > 0 {
            put(all, "executable_configuration_left_out", left_out);
        }
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

    fn stream(&self, captured: &Captured) -> Value {
        stream(captured, self.room / 2)
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
            (_, false) if self.ran.files_are_gone => Some(
                "This ran in a new container: the one before it was lost, with the session's \
                 variables and files. Its snapshots are still there."
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

    fn disk_note(&self) -> Option<String> {
        let disk = self.ran.over_disk?;
        Some(format!(
            "The session's directory holds {} bytes, more than the {} that are allowed: it takes no \
             more code. Get what is needed with file_get, then end it with session_destroy.",
            disk.held, disk.max
        ))
    }

    fn end_note(&self) -> Option<String> {
        let Extended { ends_in, extensions_left } = self.report.ends_soon?;
        let seconds = ends_in.as_secs();
        Some(match extensions_left {
            0 => format!("The session ends in {seconds} s, with its state and its files."),
            _ => format!(
                "The session ends in {seconds} s, unless session_extend lets it live longer."
            ),
        })
    }
}

fn put(all: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    all.insert(name.to_owned(), value.into());
}

fn state(state: StateAfter) -> &'static str {
    match state {
        StateAfter::Kept => "kept",
        StateAfter::Restored => "restored",
        StateAfter::Lost => "lost",
    }
}
