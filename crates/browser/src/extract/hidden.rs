//! What of a page a reader would not see.
//!
//! A page can hold text for machines alone: words for search engines, and instructions for models that
//! read it. What the markup itself hides is left out and counted: `hidden`, `aria-hidden`, inline styles
//! that show nothing (`display: none`, `visibility: hidden`, no opacity, no size, off the screen, the
//! text in the colour of its background), closed dialogs, and the classes that the usual style sheets
//! hide with. Style sheets themselves are not read, so a class of a page's own hides nothing here.

mod style;

use super::dom::{Dom, Element, NodeId, Step};

/// Which nodes are shown.
#[derive(Debug)]
pub(super) struct Shown {
    hidden: Vec<bool>,
    /// Characters of text that are hidden, but for white space.
    pub(super) characters: usize,
}

impl Shown {
    /// Finds out for every node of a page.
    pub(super) fn of(dom: &Dom) -> Self {
        let mut shown = Self { hidden: vec![false; dom.len()], characters: 0 };
        let mut walk = dom.walk(NodeId::ROOT);
        while let Some(step) = walk.next() {
            let Step::Enter(id) = step else { continue };
            let Some(element) = dom.element(id) else { continue };
            if is_no_content(element) {
                shown.hidden[id.index()] = true;
                walk.prune(id);
            } else if is_hidden(element) {
                shown.hidden[id.index()] = true;
                shown.characters += count(dom, id);
                walk.prune(id);
            }
        }
        shown
    }

    /// Nothing hidden but what is never content.
    pub(super) fn all(dom: &Dom) -> Self {
        let no_content = |index| dom.element(index).is_some_and(is_no_content);
        let hidden = dom.ids().map(no_content).collect();
        Self { hidden, characters: 0 }
    }

    /// Whether a node is hidden by itself; what is below a hidden node is not asked for.
    pub(super) fn is_hidden(&self, id: NodeId) -> bool {
        self.hidden[id.index()]
    }
}

/// Characters of text below a node, but for white space and for what is never content.
fn count(dom: &Dom, top: NodeId) -> usize {
    let mut characters = 0;
    let mut walk = dom.walk(top);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if dom.element(id).is_some_and(is_no_content) {
            walk.prune(id);
        } else if let Some(text) = dom.text(id) {
            characters += text.chars().filter(|c| !c.is_whitespace()).count();
        }
    }
    characters
}

/// Elements that hold no text of the page.
fn is_no_content(element: &Element) -> bool {
    if !element.is_html() {
        return &**element.name() == "svg";
    }
    match &**element.name() {
        "script" | "style" | "noscript" | "head" | "iframe" | "object" | "embed" | "canvas" | "audio"
        | "video" | "map" | "noembed" | "noframes" | "datalist" | "select" | "textarea" | "input" => true,
        "template" => element.attribute("shadowrootmode").is_none(),
        _ => false,
    }
}

/// Classes that hide, by the names of the usual style sheets.
const HIDING: &[&str] = &[
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
    "screen-reader-only",
    "d-none",
    "display-none",
    "is-hidden",
    "element-invisible",
    "offscreen",
    "u-hidden",
];

fn is_hidden(element: &Element) -> bool {
    let name = &**element.name();
    // A style on these hides the page until a script has run.
    if matches!(name, "html" | "body") {
        return false;
    }
    let is = |attribute, value: &str| {
        element.attribute(attribute).is_some_and(|there| there.trim().eq_ignore_ascii_case(value))
    };
    element.attribute("hidden").is_some()
        || is("aria-hidden", "true")
        || (name == "dialog" && element.attribute("open").is_none())
        || element.attribute("style").is_some_and(style::hides)
        || element.attribute("class").is_some_and(|class| {
            class.split_ascii_whitespace().any(|class| HIDING.contains(&class))
        })
}
