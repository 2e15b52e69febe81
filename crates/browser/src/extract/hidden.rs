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
    /// Whether parts are shown that the page hides, because they are most of it.
    pub(super) unfiltered: bool,
}

/// Fewest characters that make a hidden part the page itself.
const PAGE: usize = 400;

impl Shown {
    /// Finds out for every node of a page.
    pub(super) fn of(dom: &Dom) -> Self {
        let mut shown = Self { hidden: vec![false; dom.len()], characters: 0, unfiltered: false };
        let mut parts = Vec::new();
        let mut visible = 0;
        let mut walk = dom.walk(NodeId::ROOT);
        while let Some(step) = walk.next() {
            let Step::Enter(id) = step else { continue };
            match dom.element(id) {
                Some(element) if is_no_content(element) => {
                    shown.hidden[id.index()] = true;
                    walk.prune(id);
                }
                Some(element) if is_hidden(element) => {
                    parts.push((id, count(dom, id), is_streamed(element)));
                    walk.prune(id);
                }
                Some(_) => {}
                None => visible += dom.text(id).map_or(0, characters),
            }
        }
        shown.hide(&parts, visible);
        shown
    }

    /// Hides the parts, but for those without which there would be no page: a page that is sent in
    /// pieces has them in hidden elements, and a page that fades in is hidden as a whole.
    fn hide(&mut self, parts: &[(NodeId, usize, bool)], visible: usize) {
        let all: usize = visible + parts.iter().map(|(_, characters, _)| characters).sum::<usize>();
        let nothing_else = all - visible >= PAGE && visible * 6 < all;
        for &(id, characters, streamed) in parts {
            let is_page =
                streamed || nothing_else || (characters >= PAGE && characters * 5 > all * 2);
            if is_page && characters > 0 {
                self.unfiltered = true;
            } else {
                self.hidden[id.index()] = true;
                self.characters += characters;
            }
        }
    }

    /// Whether a node is hidden by itself; what is below a hidden node is not asked for.
    pub(super) fn is_hidden(&self, id: NodeId) -> bool {
        self.hidden[id.index()]
    }
}

fn characters(text: &str) -> usize {
    text.chars().filter(|c| !c.is_whitespace()).count()
}

/// Whether it is a part of a page that a script of React's moves to its place.
fn is_streamed(element: &Element) -> bool {
    element.attribute("id").is_some_and(|id| {
        id.strip_prefix("S:").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    })
}

/// Characters of text below a node, but for white space and for what is never content.
fn count(dom: &Dom, top: NodeId) -> usize {
    let mut total = 0;
    let mut walk = dom.walk(top);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if dom.element(id).is_some_and(is_no_content) {
            walk.prune(id);
        } else if let Some(text) = dom.text(id) {
            total += characters(text);
        }
    }
    total
}

/// Elements that hold no text of the page.
fn is_no_content(element: &Element) -> bool {
    if !element.is_html() {
        return &**element.name() == "svg";
    }
    match &**element.name() {
        "script" | "style" | "head" | "iframe" | "object" | "embed" | "canvas" | "audio"
        | "video" | "map" | "noembed" | "noframes" | "datalist" | "select" | "textarea"
        | "input" => true,
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
