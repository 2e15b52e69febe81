//! Lists and their items: markers, numbers, and whether an empty line stands between.

use crate::extract::dom::NodeId;

use super::{Open, Walker};

impl Walker<'_> {
    /// Opens a list.
    pub(super) fn list(&mut self, id: NodeId, name: &str) {
        let is_in_list = |open: &Open| matches!(open, Open::List { .. });
        let directly = self.open.last().is_some_and(is_in_list);
        let start = self
            .source
            .dom
            .element(id)
            .and_then(|list| list.attribute("start")?.trim().parse().ok());
        let number = (name == "ol").then(|| start.unwrap_or(1));
        if directly {
            self.out.open_indent();
        }
        self.open.push(Open::List { id, number, indents: directly, begun: self.out.len() });
    }

    /// Opens an item: tight, where something of its list or around it is there already.
    pub(super) fn item(&mut self, id: NodeId) {
        let value = self
            .source
            .dom
            .element(id)
            .and_then(|item| item.attribute("value")?.trim().parse().ok());
        let mut marker = "- ".to_owned();
        let holds = |open: &Open| matches!(open, Open::Item(_) | Open::List { indents: true, .. });
        let mut tight = self.open.iter().any(holds);
        let lists = self.open.iter_mut().rev();
        if let Some(Open::List { number, begun, .. }) =
            lists.into_iter().find(|open| matches!(open, Open::List { .. }))
        {
            tight = tight || self.out.len() > *begun;
            if let Some(number) = number {
                let this: i64 = value.unwrap_or(*number);
                marker = format!("{}. ", this.max(0));
                *number = this.saturating_add(1);
            }
        }
        self.out.open_item(marker, tight);
        self.open.push(Open::Item(id));
    }
}
