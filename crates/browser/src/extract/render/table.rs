//! Tables: which of them hold data, and their cells in a grid.

use crate::extract::{
    budget::Budget,
    dom::{Dom, NodeId, Step},
    hidden::Shown,
};

/// Most columns of a grid.
const MAX_COLUMNS: usize = 64;

/// A cell of a grid: the element that begins there, or a part of one that began before.
pub(super) type Cell = Option<NodeId>;

/// The rows of a table.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub(super) rows: Vec<Vec<Cell>>,
    /// Whether the first row names the columns.
    pub(super) has_head: bool,
    pub(super) caption: Option<NodeId>,
}

impl Grid {
    /// How many columns there are.
    pub(super) fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// The grid of a table that holds data; none for one that only places what is in it.
pub(super) fn grid(dom: &Dom, shown: &Shown, table: NodeId, budget: &Budget) -> Option<Grid> {
    let element = dom.element(table)?;
    if matches!(element.attribute("role"), Some("presentation" | "none")) {
        return None;
    }
    let (mut grid, mut heads, mut heavy) = (Grid::default(), 0, false);
    let mut spans: Vec<usize> = Vec::new();
    let mut walk = dom.walk(table);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if !budget.spend(1) {
            return None;
        }
        match dom.name(id) {
            _ if shown.is_hidden(id) => walk.prune(id),
            "caption" => {
                grid.caption = Some(id);
                walk.prune(id);
            }
            "tr" => {
                let row = row(dom, shown, id, &mut spans);
                let names = row.iter().flatten().filter(|&&cell| dom.name(cell) == "th").count();
                let in_head = dom.parent(id).is_some_and(|parent| dom.name(parent) == "thead");
                if grid.rows.is_empty() {
                    let cells = row.iter().flatten().count();
                    grid.has_head = in_head || (names > 0 && names * 2 >= cells && cells > 1);
                }
                heads += names;
                if !row.is_empty() {
                    grid.rows.push(row);
                }
            }
            "table" if id != table => heavy = true,
            "h1" | "h2" | "h3" | "form" | "article" | "section" | "nav" => heavy = true,
            _ => {}
        }
    }
    let is_data =
        heads > 0 || grid.caption.is_some() || (grid.rows.len() > 1 && grid.columns() > 1);
    let is_list = grid.columns() < 2 && heads == 0;
    (is_data && !is_list && !heavy && !grid.rows.is_empty()).then_some(grid)
}

/// A row, with a hole where a cell of a row above reaches down or a cell is wide.
fn row(dom: &Dom, shown: &Shown, row: NodeId, spans: &mut Vec<usize>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    let skip = |cells: &mut Vec<Cell>, spans: &mut Vec<usize>| {
        while let Some(left) = spans.get_mut(cells.len()).filter(|left| **left > 0) {
            *left -= 1;
            cells.push(None);
        }
    };
    for cell in dom.children(row) {
        if !matches!(dom.name(cell), "td" | "th") || shown.is_hidden(cell) {
            continue;
        }
        skip(&mut cells, spans);
        let span = |name, most| {
            let value =
                dom.element(cell).and_then(|cell| cell.attribute(name)?.trim().parse().ok());
            value.unwrap_or(1_usize).clamp(1, most)
        };
        let (wide, high) = (span("colspan", MAX_COLUMNS), span("rowspan", 1000));
        for at in 0..wide {
            if cells.len() >= MAX_COLUMNS {
                break;
            }
            if spans.len() <= cells.len() {
                spans.resize(cells.len() + 1, 0);
            }
            spans[cells.len()] = high - 1;
            cells.push((at == 0).then_some(cell));
        }
    }
    skip(&mut cells, spans);
    cells
}
