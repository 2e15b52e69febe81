//! The lines of a reply, one after the other: fences, lists, quotations, and lines of text.
//!
//! Block structure is CommonMark's as far as it decides where a fenced block begins and ends: fences
//! of backticks and tildes, up to three columns in, within list items, closed by a fence that is as
//! long, by the end of the item, or by the end of the reply. Blocks of HTML are read as text, so a
//! fence in one counts.

use super::{Block, Note, fences::Fence, finals, finals::Final};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) blocks: Vec<Block>,
    pub(super) answer: Option<Final>,
    pub(super) notes: Vec<Note>,
}

/// A scan that is under way.
#[derive(Debug, Default)]
struct Scan {
    found: Scanned,
    /// Where the texts of the list items begin that the line is in.
    items: Vec<usize>,
    open: Option<(Fence, Vec<String>)>,
}

pub(super) fn scan(text: &str) -> Scanned {
    let lines: Vec<String> = text.split('\n').map(with_spaces).collect();
    let mut scan = Scan::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += if scan.within_block(line) { 1 } else { scan.text(line, &lines[at..]) };
    }
    if let Some((fence, mut code)) = scan.open.take() {
        // The end of the last line is no line.
        if code.last().is_some_and(String::is_empty) {
            code.pop();
        }
        scan.close(&fence, &code, false);
    }
    scan.found
}

/// A line whose leading tabs are spaces, to the next column of four.
fn with_spaces(line: &str) -> String {
    let rest = line.trim_start_matches([' ', '\t']);
    let indent = &line[..line.len() - rest.len()];
    let columns = indent.chars().fold(0, |at, it| if it == '\t' { at / 4 * 4 + 4 } else { at + 1 });
    if indent.contains('\t') { " ".repeat(columns) + rest } else { line.to_owned() }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

impl Scan {
    /// Takes a line into the block that is open; `false` where none is, or where it has just ended.
    fn within_block(&mut self, line: &str) -> bool {
        let Some((fence, mut code)) = self.open.take() else { return false };
        let (indent, text) = (indent_of(line), line.trim_start_matches(' '));
        if indent < fence.item && !text.is_empty() {
            self.close(&fence, &code, true);
            return false;
        }
        if fence.is_closed_by(text, indent) {
            self.close(&fence, &code, true);
        } else {
            code.push(fence.content(line).to_owned());
            self.open = Some((fence, code));
        }
        true
    }

    fn close(&mut self, fence: &Fence, code: &[String], is_closed: bool) {
        let mut code = code.join("\n");
        code.push('\n');
        self.found.blocks.push(Block { tag: fence.tag.clone(), code, is_closed });
    }

    /// Reads a line outside of blocks; gives how many lines it took.
    fn text(&mut self, line: &str, from_here: &[String]) -> usize {
        let mut text = line.trim_start_matches(' ');
        if text.is_empty() {
            return 1;
        }
        let mut column = indent_of(line);
        while self.items.last().is_some_and(|item| column < *item) {
            self.items.pop();
        }
        let mut is_in_item = false;
        while let Some((width, rest)) = marker(text).filter(|_| column - self.item() < 4) {
            (column, text, is_in_item) = (column + width, rest, true);
            self.items.push(column);
        }
        let indent = column - self.item();
        if let Some(fence) = Fence::open(text, self.item(), indent) {
            self.open = Some((fence, Vec::new()));
            return 1;
        }
        if indent < 4 && text.starts_with('>') {
            self.quotation(text);
            return 1;
        }
        if finals::begins(text) && indent < 4 && !is_in_item && self.found.answer.is_none() {
            return self.answer(from_here);
        }
        self.plain(text);
        1
    }

    fn item(&self) -> usize {
        self.items.last().copied().unwrap_or(0)
    }

    fn answer(&mut self, from_here: &[String]) -> usize {
        let lines: Vec<&str> = from_here.iter().map(String::as_str).collect();
        match finals::read(&lines) {
            Ok((answer, count)) => {
                self.found.answer = Some(answer);
                count
            }
            Err(note) => {
                self.found.notes.push(note);
                1
            }
        }
    }

    fn quotation(&mut self, text: &str) {
        let text = text.trim_start_matches(['>', ' ']);
        let quotes = |mark| text.starts_with(mark);
        if quotes("```") || quotes("~~~") {
            self.found.notes.push(Note::Quoted);
        }
        if finals::is_mention(text) {
            self.found.notes.push(Note::Mention);
        }
    }

    fn plain(&mut self, text: &str) {
        if text.contains("```") || text.starts_with("~~~") {
            self.found.notes.push(Note::NoFence);
        }
        if finals::is_mention(text) {
            self.found.notes.push(Note::Mention);
        }
    }
}

/// The marker of a list item that a text begins with: its columns, and what is behind it.
fn marker(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let behind = match text.as_bytes().get(digits)? {
        b'-' | b'+' | b'*' if digits == 0 => &text[1..],
        b'.' | b')' if (1..=9).contains(&digits) => &text[digits + 1..],
        _ => return None,
    };
    let rest = behind.trim_start_matches(' ');
    let spaces = behind.len() - rest.len();
    if spaces == 0 || rest.is_empty() {
        return None;
    }
    // Five spaces or more: one belongs to the marker, and the rest is indented code.
    let own = if spaces > 4 { 1 } else { spaces };
    Some((text.len() - behind.len() + own, &behind[own..]))
}
