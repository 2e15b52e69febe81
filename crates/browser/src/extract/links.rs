//! Addresses of a page, made absolute; those that can't be followed are none.

use std::collections::HashSet;

use url::Url;

use super::{
    dom::{Dom, NodeId, Step},
    extracted::{Link, Refresh},
    hidden::Shown,
    render::clean,
};

/// Longest address that is kept.
const MAX_LENGTH: usize = 2048;
/// Longest text of a link, in characters.
const MAX_TEXT: usize = 300;

/// What addresses of a page are relative to.
#[derive(Debug)]
pub(super) struct Base(Url);

impl Base {
    /// The first `base` with an address, itself relative to the page's.
    pub(super) fn of(dom: &Dom, url: &Url) -> Self {
        let mut bases = dom.ids().filter(|&id| dom.name(id) == "base");
        let href = bases.find_map(|id| dom.element(id)?.attribute("href"));
        let base = href.and_then(|href| url.join(href.trim()).ok());
        Self(
            base.filter(|base| matches!(base.scheme(), "http" | "https"))
                .unwrap_or_else(|| url.clone()),
        )
    }

    /// An address as an absolute one that a reader could follow.
    pub(super) fn link(&self, href: &str) -> Option<Url> {
        let url = self.0.join(href.trim()).ok()?;
        let followed = matches!(url.scheme(), "http" | "https" | "mailto" | "tel" | "ftp");
        (followed && url.as_str().len() <= MAX_LENGTH).then_some(url)
    }

    /// The address of what a page is made of: an image, a frame.
    pub(super) fn source(&self, source: &str) -> Option<Url> {
        self.link(source).filter(|url| matches!(url.scheme(), "http" | "https"))
    }
}

/// The links of what is shown, each address once.
pub(super) fn links(dom: &Dom, shown: &Shown, base: &Base, most: usize) -> Vec<Link> {
    let (mut links, mut seen) = (Vec::new(), HashSet::new());
    let mut walk = dom.walk(NodeId::ROOT);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if links.len() >= most {
            break;
        }
        if shown.is_hidden(id) {
            walk.prune(id);
            continue;
        }
        if !matches!(dom.name(id), "a" | "area") {
            continue;
        }
        let href = dom.element(id).and_then(|element| element.attribute("href"));
        if let Some(url) = href.and_then(|href| base.link(href))
            && seen.insert(url.clone())
        {
            links.push(Link { text: text(dom, shown, id), url });
        }
    }
    links
}

fn text(dom: &Dom, shown: &Shown, top: NodeId) -> String {
    let mut text = String::new();
    let mut walk = dom.walk(top);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        if shown.is_hidden(id) {
            walk.prune(id);
        } else if let Some(part) = dom.text(id) {
            text.push_str(part);
        } else if dom.name(id) == "img" {
            let alternative = dom.element(id).and_then(|image| image.attribute("alt"));
            text.push_str(alternative.unwrap_or_default());
        } else {
            text.push(' ');
        }
        if text.len() > MAX_TEXT * 8 {
            break;
        }
    }
    one_line(&text, MAX_TEXT)
}

/// A text on one line, cleaned, of at most so many characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let (text, _) = clean(text);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(most).collect()
}

/// The frames of a page, also those of a frame set.
pub(super) fn frames(dom: &Dom, base: &Base) -> Vec<Url> {
    let frames = dom.ids().filter(|&id| matches!(dom.name(id), "iframe" | "frame"));
    let mut found = Vec::new();
    for id in frames.take(1000) {
        let source = dom.element(id).and_then(|frame| frame.attribute("src"));
        if let Some(url) = source.and_then(|source| base.source(source))
            && !found.contains(&url)
            && found.len() < 50
        {
            found.push(url);
        }
    }
    found
}

/// What the page wants to be replaced by.
pub(super) fn refreshes(dom: &Dom, base: &Base) -> Vec<Refresh> {
    let metas = dom.ids().filter_map(|id| dom.element(id)).filter(|element| {
        &**element.name() == "meta"
            && element
                .attribute("http-equiv")
                .is_some_and(|is| is.trim().eq_ignore_ascii_case("refresh"))
    });
    metas.filter_map(|meta| refresh(meta.attribute("content")?, base)).take(5).collect()
}

fn refresh(content: &str, base: &Base) -> Option<Refresh> {
    let content = content.trim_start();
    let digits = content.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (seconds, rest) = content.split_at(digits);
    let seconds: f64 = seconds.parse().ok()?;
    let rest = rest.trim_start_matches([' ', ';', ',', '\t', '\n']);
    let rest = match rest.get(..3) {
        Some(url) if url.eq_ignore_ascii_case("url") => {
            rest.get(3..).unwrap_or_default().trim_start().trim_start_matches('=').trim_start()
        }
        _ => rest,
    };
    let address = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            rest.trim_start_matches(quote).split(quote).next().unwrap_or_default()
        }
        _ => rest.trim(),
    };
    if address.is_empty() {
        return None;
    }
    let after = std::time::Duration::try_from_secs_f64(seconds.min(1e9)).ok()?;
    Some(Refresh { after, url: base.source(address)? })
}
