//! Tables of data: a line for each row, each cell on one line.

use std::fmt::Write as _;

use crate::extract::{
    dom::{NodeId, Step},
    tags::is_block,
};

use super::{
    super::{inline::Inline, table},
    Walker,
};

impl Walker<'_> {
    /// Writes a table of data; whether it was one.
    pub(super) fn table(&mut self, id: NodeId) -> bool {
        let Some(grid) = table::grid(self.source.dom, self.source.shown, id, self.budget) else {
            return false;
        };
        if let Some(caption) = grid.caption {
            let text = self.cell(caption);
            if !text.is_empty() {
                self.out.block(&text);
            }
        }
        let columns = grid.columns();
        let mut rows: Vec<Vec<String>> = Vec::new();
        for row in &grid.rows {
            let mut cells: Vec<String> =
                row.iter().map(|cell| cell.map_or(String::new(), |cell| self.cell(cell))).collect();
            cells.resize(columns, String::new());
            if cells.iter().any(|cell| !cell.is_empty()) {
                rows.push(cells);
            }
        }
        if rows.is_empty() {
            return true;
        }
        if self.plain {
            let lines: Vec<String> =
                rows.iter().map(|row| row.join("\t").trim_end().to_owned()).collect();
            self.out.block(&lines.join("\n"));
            return true;
        }
        if !grid.has_head {
            rows.insert(0, vec![String::new(); columns]);
        }
        let mut text = String::new();
        for (number, row) in rows.iter().enumerate() {
            let _ = writeln!(text, "| {} |", row.join(" | "));
            if number == 0 {
                let _ = writeln!(text, "|{}", " --- |".repeat(columns));
            }
        }
        self.out.block(text.trim_end());
        true
    }

    /// A cell on one line.
    fn cell(&mut self, cell: NodeId) -> String {
        let outer = std::mem::replace(&mut self.inline, Inline::for_cell(self.plain));
        let opened = std::mem::take(&mut self.open);
        let mut walk = self.source.dom.walk(cell);
        while let Some(step) = walk.next() {
            match step {
                Step::Enter(id) => {
                    let name = self.source.dom.name(id);
                    if is_block(name) && id != cell && !self.source.shown.is_hidden(id) {
                        if matches!(name, "td" | "th") {
                            self.inline.push_space();
                        } else {
                            self.inline.push_break();
                        }
                        if name == "li" && !self.plain {
                            self.inline.push_markup("• ");
                        }
                    } else if id != cell && self.enter(id) {
                        walk.prune(id);
                        self.leave_inline(id);
                    }
                }
                Step::Leave(id) => {
                    if is_block(self.source.dom.name(id)) && id != cell {
                        self.inline.push_break();
                    }
                    self.leave_inline(id);
                }
            }
            if !self.budget.spend(1) {
                break;
            }
        }
        self.open = opened;
        let mut inner = std::mem::replace(&mut self.inline, outer);
        self.dropped += inner.dropped;
        inner.take_line(if self.plain { " " } else { "<br>" })
    }
}
