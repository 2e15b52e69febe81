//! Preformatted text: as it is, with the language that its classes name.

use crate::extract::dom::{Dom, Element, NodeId, Step};

use super::{Source, clean::clean};

/// The text of a `pre`, without the blank lines around it, and how many characters nobody would see.
pub(super) fn text(source: Source<'_>, top: NodeId) -> (String, usize) {
    let mut text = String::new();
    let mut walk = source.dom.walk(top);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) if source.shown.is_hidden(id) => walk.prune(id),
            Step::Enter(id) => {
                if let Some(part) = source.dom.text(id).filter(|_| source.is_chosen(id)) {
                    text.push_str(part);
                } else if source.dom.name(id) == "br" {
                    text.push('\n');
                }
            }
            // A line that is a block of its own ends where the block does.
            Step::Leave(id) => {
                let is_line = matches!(source.dom.name(id), "div" | "p" | "li" | "tr");
                if is_line && !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
            }
        }
    }
    let (text, dropped) = clean(&text);
    let text = text.trim_end();
    let start = text.find(|c: char| !c.is_whitespace()).unwrap_or(0);
    let start = text.get(..start).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    (text.get(start..).unwrap_or_default().to_owned(), dropped)
}

/// The language of a `pre`, from the classes of itself, its `code`, and what is right around it.
pub(super) fn language(dom: &Dom, top: NodeId) -> String {
    let code = dom.children(top).find(|&child| dom.name(child) == "code");
    let around = dom.ancestors(top).take(2);
    let nodes = [Some(top), code].into_iter().flatten().chain(around);
    let found = nodes.filter_map(|id| dom.element(id)).find_map(of_element);
    found.unwrap_or_default()
}

fn of_element(element: &Element) -> Option<String> {
    for name in ["data-lang", "data-language"] {
        if let Some(language) = element.attribute(name).and_then(word) {
            return Some(language);
        }
    }
    let class = element.attribute("class")?;
    let mut classes = class.split_ascii_whitespace().peekable();
    while let Some(class) = classes.next() {
        if class == "brush:" {
            return classes.peek().and_then(|next| word(next.trim_end_matches(';')));
        }
        for prefix in ["language-", "lang-", "highlight-source-", "brush:"] {
            if let Some(language) =
                class.strip_prefix(prefix).and_then(|l| word(l.trim_end_matches(';')))
            {
                return Some(language);
            }
        }
    }
    None
}

/// A word that can stand behind a fence.
fn word(text: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '.' | '_');
    (!text.is_empty() && text.len() <= 30 && text.chars().all(fits))
        .then(|| text.to_ascii_lowercase())
}
