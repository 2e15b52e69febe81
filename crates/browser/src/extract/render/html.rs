//! A part of a page as HTML of a few elements, without anything that runs, loads or styles.

use crate::extract::{
    budget::Budget,
    dom::{NodeId, Step},
};

use super::{Rendered, Source, clean};

/// Renders as cleaned HTML.
pub(super) fn render(source: Source<'_>, top: NodeId, limit: usize, budget: &Budget) -> Rendered {
    let kept = source.chosen.map(|chosen| holding(source, chosen));
    let mut rendered = Rendered::default();
    let mut walk = source.dom.walk(top);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) if source.shown.is_hidden(id) => walk.prune(id),
            Step::Enter(id) => {
                if kept.as_ref().is_some_and(|kept| !kept[id.index()]) {
                    walk.prune(id);
                } else if let Some(text) = source.dom.text(id) {
                    let (text, dropped) = clean(text);
                    rendered.dropped += dropped;
                    escape(&mut rendered.content, &text);
                } else {
                    open(&mut rendered.content, source, id);
                }
            }
            Step::Leave(id) => close(&mut rendered.content, source.dom.name(id)),
        }
        if rendered.content.len() > limit || !budget.spend(1) {
            break;
        }
    }
    rendered.content = rendered.content.trim().to_owned();
    rendered
}

/// Which nodes are, or hold, a chosen text.
fn holding(source: Source<'_>, chosen: &[bool]) -> Vec<bool> {
    let mut holding = chosen.to_vec();
    for step in source.dom.walk(NodeId::ROOT) {
        if let Step::Leave(id) = step
            && holding[id.index()]
            && let Some(parent) = source.dom.parent(id)
        {
            holding[parent.index()] = true;
        }
    }
    holding
}

/// Elements that keep their tags; of others, what is in them stays.
fn is_kept(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "article"
            | "b"
            | "blockquote"
            | "br"
            | "caption"
            | "code"
            | "dd"
            | "del"
            | "div"
            | "dl"
            | "dt"
            | "em"
            | "figcaption"
            | "figure"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "hr"
            | "i"
            | "img"
            | "kbd"
            | "li"
            | "mark"
            | "ol"
            | "p"
            | "pre"
            | "q"
            | "s"
            | "samp"
            | "section"
            | "small"
            | "strong"
            | "sub"
            | "sup"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "time"
            | "tr"
            | "ul"
            | "var"
    )
}

fn open(out: &mut String, source: Source<'_>, id: NodeId) {
    let Some(element) = source.dom.element(id).filter(|element| is_kept(element.name())) else {
        return;
    };
    out.push('<');
    out.push_str(element.name());
    for (name, value) in element.attributes() {
        let value = match name {
            "href" => source.base.link(value).map(String::from),
            "src" => source.base.source(value).map(String::from),
            "colspan" | "rowspan" | "start" | "datetime" => Some(value.to_owned()),
            "alt" => Some(value.chars().take(200).collect()),
            _ => None,
        };
        if let Some(value) = value {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape(out, &clean(&value).0);
            out.push('"');
        }
    }
    out.push('>');
}

fn close(out: &mut String, name: &str) {
    if is_kept(name) && !matches!(name, "br" | "hr" | "img") {
        out.push_str("</");
        out.push_str(name);
        out.push('>');
    }
}

/// Adds text so that it stays text, also within an attribute.
pub(super) fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}
