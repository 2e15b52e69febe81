//! Lines of Markdown or text, each behind the marks of the quotes and list items that it is in.

/// What a line stands in.
#[derive(Debug)]
enum Prefix {
    Quote { used: bool },
    Item { marker: String, used: bool, tight: bool },
    Indent,
}

/// Lines that are being written.
#[derive(Debug, Default)]
pub(super) struct Out {
    text: String,
    prefixes: Vec<Prefix>,
    plain: bool,
}

impl Out {
    /// Writes Markdown, or text without marks.
    pub(super) fn new(plain: bool) -> Self {
        Self { plain, ..Self::default() }
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// What was written.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn open_quote(&mut self) {
        self.prefixes.push(Prefix::Quote { used: false });
    }

    /// Opens an item; a tight one follows what is before it without an empty line.
    pub(super) fn open_item(&mut self, marker: String, tight: bool) {
        self.prefixes.push(Prefix::Item { marker, used: false, tight });
    }

    pub(super) fn open_indent(&mut self) {
        self.prefixes.push(Prefix::Indent);
    }

    /// Closes what was opened last.
    pub(super) fn close(&mut self) {
        self.prefixes.pop();
    }

    /// Writes a block of lines.
    pub(super) fn block(&mut self, block: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
            if !self.is_tight() {
                self.empty_line();
            }
        }
        for (number, line) in block.split('\n').enumerate() {
            if number > 0 {
                self.text.push('\n');
            }
            let start = self.text.len();
            self.start_line();
            self.text.push_str(line);
            if line.is_empty() {
                let end = self.text.trim_end_matches(' ').len().max(start);
                self.text.truncate(end);
            }
        }
    }

    /// Whether the next line is the first of a tight item.
    fn is_tight(&self) -> bool {
        let unused = self.prefixes.iter().find_map(|prefix| match prefix {
            Prefix::Item { used: false, tight, .. } => Some(*tight),
            _ => None,
        });
        unused.unwrap_or(false)
    }

    fn empty_line(&mut self) {
        if !self.plain {
            let start = self.text.len();
            for prefix in &self.prefixes {
                match prefix {
                    Prefix::Quote { used: false } | Prefix::Item { used: false, .. } => break,
                    Prefix::Quote { used: true } => self.text.push_str("> "),
                    Prefix::Item { marker, .. } => push_spaces(&mut self.text, marker.len()),
                    Prefix::Indent => push_spaces(&mut self.text, 2),
                }
            }
            let end = self.text.trim_end_matches(' ').len().max(start);
            self.text.truncate(end);
        }
        self.text.push('\n');
    }

    fn start_line(&mut self) {
        if self.plain {
            return;
        }
        for prefix in &mut self.prefixes {
            match prefix {
                Prefix::Quote { used } => {
                    self.text.push_str("> ");
                    *used = true;
                }
                Prefix::Indent => push_spaces(&mut self.text, 2),
                Prefix::Item { marker, used: true, .. } => {
                    push_spaces(&mut self.text, marker.len())
                }
                Prefix::Item { marker, used, .. } => {
                    self.text.push_str(marker);
                    *used = true;
                }
            }
        }
    }
}

fn push_spaces(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_behind_the_marks_of_what_they_are_in() {
        let mut out = Out::new(false);
        out.open_quote();
        out.block("quoted");
        out.open_item("- ".to_owned(), false);
        out.block("first\nsecond");
        out.block("third");
        out.open_item("1. ".to_owned(), true);
        out.block("inner");
        out.close();
        out.close();
        out.close();
        out.block("after");
        let wanted = "> quoted\n>\n> - first\n>   second\n>\n>   third\n>   1. inner\n\nafter";
        assert_eq!(out.into_text(), wanted);
    }
}
