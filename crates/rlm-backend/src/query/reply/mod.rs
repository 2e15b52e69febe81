//! What a reply of the model asks for: code blocks to run in order, or an answer in the text.
//!
//! An answer in the text counts only in a reply without a code block, as `FINAL(…)` or
//! `FINAL_VAR(…)` on a line of its own. What looks like either and is neither becomes a [`Note`], so
//! that the model is told; nothing is dropped in silence.

mod fences;
mod finals;
mod scan;

#[cfg(test)]
mod tests;

pub(super) use finals::Final;

/// What a block is run by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// `python`, `py`, `python3`, `ipython`, `repl`, or none.
    Python,
    /// `bash`, `sh`, `shell`.
    Bash,
    /// Nothing: it is shown, not run.
    Other(String),
}

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) tag: Tag,
    pub(super) code: String,
    /// Whether its closing fence is there; without it the block ends with the reply.
    pub(super) is_closed: bool,
}

/// Something that looks like code or an answer and is not taken as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Note {
    /// A block with a tag that nothing runs.
    OtherTag,
    /// Three backticks that open no block: on one line with their end, or in the middle of a line.
    NoFence,
    /// A block in a quotation.
    Quoted,
    /// FINAL in a sentence, a list, bold, a quotation, or in another case.
    Mention,
    /// FINAL without its closing bracket at the end of a line.
    OpenFinal,
    /// FINAL with nothing in it, or FINAL_VAR with something that is no name.
    BadFinal,
    /// An answer beside a code block.
    FinalBesideCode,
}

impl Note {
    /// What the model is told.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::OtherTag => {
                "A code block with another tag than python or bash (or none) was not run."
            }
            Self::NoFence => {
                "Backticks that do not open a block on a line of their own are text: nothing of them \
                 was run. Put ```python and ``` on lines of their own."
            }
            Self::Quoted => "A code block in a quotation (lines with >) was not run.",
            Self::Mention => {
                "FINAL counts only as FINAL(...) or FINAL_VAR(name), at the beginning of a line and \
                 with nothing after it; what you wrote was taken as a mention."
            }
            Self::OpenFinal => {
                "A FINAL( has no closing bracket at the end of a line; it did not count."
            }
            Self::BadFinal => {
                "FINAL needs an answer between its brackets, and FINAL_VAR the name of one variable."
            }
            Self::FinalBesideCode => {
                "The FINAL in your text did not count, because the reply has a code block too. Answer \
                 in code, or in a reply without a block."
            }
        }
    }
}

/// A reply, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// The blocks that are run, in order.
    pub(super) blocks: Vec<Block>,
    /// The answer in the text, where there is no block.
    pub(super) answer: Option<Final>,
    /// What was not taken, each kind once.
    pub(super) notes: Vec<Note>,
}

/// Reads a reply.
pub(super) fn read(text: &str) -> Reply {
    let text = without_thoughts(text).replace("\r\n", "\n").replace('\r', "\n");
    let scan::Scanned { blocks: all, answer, mut notes } = scan::scan(&text);
    let (blocks, other): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|block| !matches!(block.tag, Tag::Other(_)));
    if !other.is_empty() {
        notes.push(Note::OtherTag);
    }
    let answer = if blocks.is_empty() {
        answer
    } else {
        notes.retain(|note| !matches!(note, Note::OpenFinal | Note::BadFinal));
        notes.extend(answer.map(|_| Note::FinalBesideCode));
        None
    };
    if answer.is_some() {
        notes.clear();
    }
    notes.sort_unstable();
    notes.dedup();
    Reply { blocks, answer, notes }
}

/// The text after what some models write of their thoughts before it.
fn without_thoughts(text: &str) -> &str {
    let thoughts = text.trim_start().strip_prefix("<think>");
    thoughts.and_then(|rest| rest.split_once("</think>")).map_or(text, |(_, rest)| rest)
}
