//! RSS, RDF and Atom feeds as a list of entries.
//!
//! The reader is a loop over events without a schema: what is named as a title, a link, a date or a
//! text within an entry is that, whatever the dialect. Entities that a document type declares are not
//! expanded, so none can grow. The text of an entry is HTML and is rendered as a page is.

use quick_xml::{
    Reader,
    events::{BytesRef, BytesStart, Event},
};
use url::Url;

use super::{
    budget::Budget,
    dom::{self, NodeId},
    extracted::Link,
    hidden::Shown,
    links::{Base, one_line},
    options::{ExtractLimits, Format},
    render::{self, Source},
};

/// Most entries that are given.
const MAX_ENTRIES: usize = 200;
/// Longest text of an entry that is read, in bytes.
const MAX_TEXT: usize = 256 * 1024;

/// One entry, or the feed itself: texts as HTML.
#[derive(Debug, Default)]
struct Entry {
    title: String,
    link: String,
    date: String,
    author: String,
    text: String,
}

/// A feed.
#[derive(Debug, Default)]
pub(super) struct Feed {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) content: String,
    pub(super) links: Vec<Link>,
    /// Whether not all of it was read.
    pub(super) cut: bool,
}

/// Reads a feed; none where it is not one.
pub(super) fn read(
    xml: &str,
    url: &Url,
    format: Format,
    limits: &ExtractLimits,
    budget: &Budget,
) -> Option<Feed> {
    let mut parser = Parser::default();
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    let mut cut = false;
    loop {
        if !budget.spend(8) || parser.entries.len() > MAX_ENTRIES {
            cut = true;
            break;
        }
        match reader.read_event() {
            Ok(Event::Start(start)) => parser.open(&start),
            Ok(Event::End(end)) => parser.close(&local(end.name().as_ref())),
            Ok(Event::Text(text)) => parser.text(&text.decode().unwrap_or_default()),
            Ok(Event::CData(text)) => parser.text(&text.decode().unwrap_or_default()),
            Ok(Event::GeneralRef(reference)) => parser.text(&resolve(&reference)),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(_) => {
                cut = true;
                break;
            }
        }
    }
    parser.entries.truncate(MAX_ENTRIES);
    parser.is_feed.then(|| write(&parser, url, format, limits, budget, cut))
}

fn local(name: &[u8]) -> String {
    let name = name.rsplit(|&byte| byte == b':').next().unwrap_or(name);
    String::from_utf8_lossy(name).to_ascii_lowercase()
}

/// A character for a reference, where XML knows it; HTML knows the others.
fn resolve(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return c.to_string();
    }
    let name = reference.decode().unwrap_or_default();
    match quick_xml::escape::resolve_predefined_entity(&name) {
        Some(text) => text.to_owned(),
        None => format!("&{name};"),
    }
}

#[derive(Debug, Default)]
struct Parser {
    is_feed: bool,
    feed: Entry,
    entries: Vec<Entry>,
    in_entry: bool,
    /// The names of the elements that are open, the innermost last.
    open: Vec<String>,
    /// Elements of XHTML that are open within a text.
    markup: usize,
}

/// Deepest element that is told from the others.
const MAX_OPEN: usize = 200;

impl Parser {
    fn open(&mut self, start: &BytesStart<'_>) {
        let name = local(start.name().as_ref());
        if self.markup > 0 {
            self.markup += 1;
            self.text(&format!("<{name}>"));
            return;
        }
        match name.as_str() {
            "rss" | "feed" | "rdf" => self.is_feed = true,
            "item" | "entry" => {
                self.in_entry = true;
                self.entries.push(Entry::default());
            }
            "link" => self.link(start),
            "div" if self.open.last().is_some_and(|name| is_text(name)) => {
                self.markup = 1;
                return;
            }
            _ => {}
        }
        if self.open.len() < MAX_OPEN {
            self.open.push(name);
        }
    }

    fn close(&mut self, name: &str) {
        if self.markup > 0 {
            self.markup -= 1;
            if self.markup > 0 {
                self.text(&format!("</{name}>"));
            }
            return;
        }
        if matches!(name, "item" | "entry") {
            self.in_entry = false;
        }
        if self.open.last().is_some_and(|open| open == name) {
            self.open.pop();
        }
    }

    fn link(&mut self, start: &BytesStart<'_>) {
        let value = |name: &str| {
            let attribute = start.try_get_attribute(name).ok().flatten()?;
            attribute.unescape_value().ok().map(String::from)
        };
        let is_own = value("rel").is_none_or(|rel| rel == "alternate");
        if let Some(href) = value("href").filter(|_| is_own) {
            let entry = self.entry();
            if entry.link.is_empty() {
                entry.link = href;
            }
        }
    }

    fn entry(&mut self) -> &mut Entry {
        match self.entries.last_mut().filter(|_| self.in_entry) {
            Some(entry) => entry,
            None => &mut self.feed,
        }
    }

    fn text(&mut self, text: &str) {
        let Some(name) = self.open.last().cloned() else { return };
        let of_image = self.open.iter().any(|name| matches!(name.as_str(), "image" | "textinput"));
        if of_image {
            return;
        }
        let by_author = self.open.iter().rev().nth(1).is_some_and(|name| name == "author");
        let entry = self.entry();
        let field = match name.as_str() {
            "title" => &mut entry.title,
            "link" => &mut entry.link,
            "pubdate" | "published" | "date" => &mut entry.date,
            "updated" if entry.date.is_empty() => &mut entry.date,
            "creator" | "author" => &mut entry.author,
            "name" if by_author => &mut entry.author,
            name if is_text(name) => &mut entry.text,
            _ => return,
        };
        if field.len() + text.len() <= MAX_TEXT {
            field.push_str(text);
        }
    }
}

fn is_text(name: &str) -> bool {
    matches!(name, "description" | "summary" | "content" | "encoded" | "subtitle" | "tagline")
}

fn write(
    parser: &Parser,
    url: &Url,
    format: Format,
    limits: &ExtractLimits,
    budget: &Budget,
    cut: bool,
) -> Feed {
    let mut feed = Feed { cut, ..Feed::default() };
    let text = |html: &str, format| html_to(html, url, format, limits, budget);
    let line =
        |html: &str| Some(one_line(&text(html, Format::Text), 500)).filter(|line| !line.is_empty());
    feed.title = line(&parser.feed.title);
    feed.description = line(&parser.feed.text);
    for entry in &parser.entries {
        if feed.content.len() > limits.content || budget.is_over() {
            feed.cut = true;
            break;
        }
        let title = line(&entry.title).unwrap_or_else(|| "(untitled)".to_owned());
        let link = url.join(entry.link.trim()).ok().filter(|_| !entry.link.trim().is_empty());
        let link = link.filter(|link| matches!(link.scheme(), "http" | "https"));
        let about = [one_line(&entry.date, 60), one_line(&entry.author, 200)];
        let about: Vec<String> = about.into_iter().filter(|part| !part.is_empty()).collect();
        push_entry(
            &mut feed.content,
            format,
            &title,
            link.as_ref(),
            &about.join(" · "),
            &text(&entry.text, format),
        );
        if let Some(url) = link.filter(|_| feed.links.len() < limits.links) {
            feed.links.push(Link { text: title, url });
        }
    }
    feed
}

fn push_entry(
    out: &mut String,
    format: Format,
    title: &str,
    link: Option<&Url>,
    about: &str,
    text: &str,
) {
    let parts = match format {
        Format::Markdown => {
            let title = render::escaped(title);
            let link = link.map(render::target);
            let title = link.map_or(format!("## {title}"), |link| format!("## [{title}]({link})"));
            [title, render::escaped(about), text.to_owned()]
        }
        Format::Text => [title.to_owned(), about.to_owned(), text.to_owned()],
        Format::Html => {
            let title = render::html_text(title);
            let link = link.map(|link| {
                format!("<a href=\"{}\">{title}</a>", render::html_text(link.as_str()))
            });
            let about = render::html_text(about);
            [
                format!("<h2>{}</h2>", link.unwrap_or(title)),
                format!("<p>{about}</p>"),
                text.to_owned(),
            ]
        }
    };
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(part);
    }
}

/// HTML of a feed in a form.
fn html_to(
    html: &str,
    url: &Url,
    format: Format,
    limits: &ExtractLimits,
    budget: &Budget,
) -> String {
    if html.trim().is_empty() {
        return String::new();
    }
    let parsed = dom::parse(html, limits, budget);
    let shown = Shown::of(&parsed.dom);
    let base = Base::of(&parsed.dom, url);
    let source = Source { dom: &parsed.dom, shown: &shown, chosen: None, base: &base };
    render::render(source, NodeId::ROOT, format, limits.content, budget).content
}
