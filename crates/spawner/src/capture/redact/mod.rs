//! Secrets out of a stream whose pieces may cut one in two.
//!
//! A piece is let through up to its last newline; what is behind it waits for the rest of its line, and
//! so does a private key for its end. A line that grows too long is let through but for its end, at a
//! place where no secret stands. When the stream pauses, what waits is shown up to the value of a secret
//! that may have begun; that value waits for its end, however long the pause is. What was shown of a
//! line is remembered, so that a name and its value are seen together.
//!
//! What waits is bounded: a secret that grows past the bound is removed as far as it goes.

use super::patterns::{self, REMOVED, Secret};

/// How much of a line may wait.
const LONGEST: usize = 4096;
/// How much of a secret may.
const MOST_HELD: usize = 64 * 1024;

/// Who gets what can be shown.
pub(super) type Sink<'a> = dyn FnMut(&[u8]) + 'a;

/// One stream.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    /// The end of the stream, from the last line on.
    rest: Vec<u8>,
    /// How much of it was shown.
    shown: usize,
    /// How long it was when it was last looked at.
    looked: usize,
    /// Whether it is the beginning of a private key, whose lines end nothing.
    is_block: bool,
    /// Whether a pause has let go of what it can.
    is_settled: bool,
    /// A secret that is longer than what may wait: the rest of it goes.
    skips: Option<Skip>,
}

/// What is left out until it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Skip {
    /// A value, to the end of its word.
    Word,
    /// The lines of a private key.
    Block,
}

impl Skip {
    fn goes_on(self, byte: u8) -> bool {
        match self {
            Self::Word => !byte.is_ascii_whitespace() && !b"\"'@&;,".contains(&byte),
            Self::Block => {
                byte.is_ascii_alphanumeric()
                    || byte.is_ascii_whitespace()
                    || b"+/=\\:,.-".contains(&byte)
            }
        }
    }
}

/// What became of a text.
struct Settled {
    /// From where on it waits.
    kept: usize,
    /// Whether what waits is a private key.
    is_block: bool,
    skips: Option<Skip>,
}

impl Redactor {
    /// Takes bytes, and gives those that can be shown.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut Sink<'_>) {
        let mut bytes = self.skip(bytes);
        self.is_settled &= bytes.is_empty();
        // The line that waits is looked at with no more than its own rest, so that the bulk is not copied.
        while !self.rest.is_empty() && !bytes.is_empty() {
            bytes = self.go_on(bytes, sink);
        }
        if !bytes.is_empty() {
            let settled = settle(bytes, 0, sink);
            self.rest.extend_from_slice(bytes.get(settled.kept..).unwrap_or_default());
            self.looked = self.rest.len();
            (self.is_block, self.skips) = (settled.is_block, settled.skips);
        }
    }

    /// Adds the rest of a line to what waits; gives what is not used up.
    fn go_on<'b>(&mut self, bytes: &'b [u8], sink: &mut Sink<'_>) -> &'b [u8] {
        let near = bytes.get(..2 * LONGEST).unwrap_or(bytes);
        let newline = self.newline(near);
        let (added, behind) = bytes.split_at(newline.map_or(near.len(), |at| at + 1));
        let held = self.rest.len();
        self.rest.extend_from_slice(added);
        if newline.is_none() && self.rest.len() <= self.looked.max(LONGEST) + LONGEST {
            return behind;
        }
        let settled = settle(&self.rest, self.shown, sink);
        (self.is_block, self.skips) = (settled.is_block, settled.skips);
        if settled.kept >= held && self.shown <= held {
            // What waits is in the new bytes alone, which are still there.
            self.clear();
            return self.skip(bytes.get(settled.kept - held..).unwrap_or_default());
        }
        self.rest.drain(..settled.kept);
        self.shown = self.shown.saturating_sub(settled.kept);
        self.looked = self.rest.len();
        self.skip(behind)
    }

    /// The end of the line that may decide what waits: of a private key, the one with a dash.
    fn newline(&self, bytes: &[u8]) -> Option<usize> {
        let place = |bytes: &[u8], wanted| bytes.iter().position(|byte| *byte == wanted);
        let from = if self.is_block { place(bytes, b'-')? } else { 0 };
        place(bytes.get(from..)?, b'\n').map(|at| from + at)
    }

    /// Without what belongs to a secret that was removed already.
    fn skip<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(skip) = self.skips else { return bytes };
        let Some(end) = bytes.iter().position(|byte| !skip.goes_on(*byte)) else { return &[] };
        self.skips = None;
        bytes.get(end..).unwrap_or_default()
    }

    /// Lets go of what waits, but not of a secret that may have begun.
    pub(super) fn pause(&mut self, sink: &mut Sink<'_>) {
        self.is_settled = true;
        let secrets = patterns::secrets(&self.rest);
        let growing = secrets.iter().flatten().find(|one| is_growing(one, self.rest.len()));
        let border = [patterns::open_value(&self.rest), growing.map(|one| one.start)];
        let border = border.into_iter().flatten().min().unwrap_or(self.rest.len());
        show(&self.rest, secrets.as_deref(), self.shown, border, sink);
        self.shown = self.shown.max(border);
        // Of what was shown, a line's worth is enough to know a name by.
        let old = self.shown.min(self.rest.len().saturating_sub(LONGEST));
        self.rest.drain(..old);
        self.shown -= old;
        self.looked = self.rest.len();
    }

    /// The stream is over: lets go of all that waits.
    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) {
        let secrets = patterns::secrets(&self.rest);
        show(&self.rest, secrets.as_deref(), self.shown, self.rest.len(), sink);
        self.clear();
    }

    fn clear(&mut self) {
        self.rest = Vec::new();
        self.is_block = false;
        (self.shown, self.looked) = (0, 0);
    }

    /// Whether a pause would let go of something.
    pub(super) fn holds_back(&self) -> bool {
        !self.is_settled && self.rest.len() > self.shown
    }
}

/// Shows as much of a text as is decided; `shown` of it were shown before.
fn settle(text: &[u8], shown: usize, sink: &mut Sink<'_>) -> Settled {
    let Some(border) = border(text) else {
        return Settled { kept: 0, is_block: false, skips: None };
    };
    let secrets = patterns::secrets(text);
    let across = |one: &&Secret| {
        one.start < border && (one.end > border || is_growing(one, text.len()) && one.is_block)
    };
    let across = secrets.iter().flatten().find(across).copied();
    let growing = across.filter(|one| is_growing(one, text.len()));
    let border = match (growing, across) {
        (Some(one), _) => one.start,
        (None, Some(one)) => one.end,
        (None, None) => border,
    };
    show(text, secrets.as_deref(), shown, border, sink);
    match growing {
        Some(one) if text.len() - one.start > MOST_HELD => {
            sink(REMOVED);
            let skip = if one.is_block { Skip::Block } else { Skip::Word };
            Settled { kept: text.len(), is_block: false, skips: Some(skip) }
        }
        growing => {
            let is_block = growing.is_some_and(|one| one.is_block);
            Settled { kept: border, is_block, skips: None }
        }
    }
}

/// Up to where a text can be shown if no secret stands there: its last line, or if that is too long a
/// place near the end.
fn border(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(LONGEST);
    let end = text.get(from..).unwrap_or_default();
    match end.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => Some(from + at + 1),
        None => (text.len() > LONGEST).then(|| text.len() - LONGEST / 2),
    }
}

/// Whether more of it may come.
fn is_growing(secret: &Secret, end: usize) -> bool {
    secret.end == end && !secret.is_whole
}

/// Shows a part of a text, without its secrets.
fn show(text: &[u8], secrets: Option<&[Secret]>, from: usize, to: usize, sink: &mut Sink<'_>) {
    if from >= to {
        return;
    }
    match secrets {
        // Nothing is shown where nothing can be judged.
        None => sink(REMOVED),
        Some([]) => sink(text.get(from..to).unwrap_or_default()),
        Some(secrets) => sink(&patterns::without(text, secrets, from..to)),
    }
}

#[cfg(test)]
mod tests;
