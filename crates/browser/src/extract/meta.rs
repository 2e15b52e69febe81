//! What a page says about itself: title, author, date, language, address, summary, site.
//!
//! From `meta` elements, the `html` element, linked data (JSON-LD) and microdata, in this order where
//! several speak. Only text that is short and on one line comes out.

use std::collections::HashMap;

use serde_json::Value;
use url::Url;

use super::{
    dom::Dom,
    extracted::Metadata,
    links::{Base, one_line},
};

/// Longest linked data that is read, in bytes.
const MAX_LINKED_DATA: usize = 512 * 1024;
/// Longest value, in characters.
const MAX_VALUE: usize = 500;

/// What a page says, by the names under which it says it.
#[derive(Debug)]
pub(super) struct Said<'a> {
    dom: &'a Dom,
    metas: HashMap<String, &'a str>,
    linked: Vec<Value>,
}

impl<'a> Said<'a> {
    /// Reads the head of a page, and linked data wherever it stands.
    pub(super) fn of(dom: &'a Dom) -> Self {
        let mut said = Self { dom, metas: HashMap::new(), linked: Vec::new() };
        for id in dom.ids() {
            let Some(element) = dom.element(id) else { continue };
            match &**element.name() {
                "meta" => {
                    let names = ["property", "name", "itemprop"];
                    let name = names.iter().find_map(|name| element.attribute(name));
                    if let (Some(name), Some(content)) = (name, element.attribute("content"))
                        && !content.trim().is_empty()
                    {
                        said.metas.entry(name.trim().to_ascii_lowercase()).or_insert(content);
                    }
                }
                "script" if element.attribute("type").is_some_and(is_linked_data) => {
                    said.read_linked_data(&dom.all_text(id));
                }
                _ => {}
            }
        }
        said
    }

    fn read_linked_data(&mut self, text: &str) {
        if text.len() > MAX_LINKED_DATA || is_too_deep(text) || self.linked.len() > 500 {
            return;
        }
        let Ok(value) = serde_json::from_str(text.trim()) else { return };
        let mut open: Vec<Value> = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::Array(values) => open.extend(values.into_iter().rev().take(200)),
                Value::Object(mut object) => {
                    if let Some(Value::Array(graph)) = object.remove("@graph") {
                        open.extend(graph.into_iter().rev().take(200));
                    }
                    self.linked.push(Value::Object(object));
                }
                _ => {}
            }
        }
    }

    fn meta(&self, names: &[&str]) -> Option<String> {
        let found = names.iter().find_map(|name| self.metas.get(*name));
        found.and_then(|value| short(value))
    }

    fn linked(&self, key: &str) -> Option<&Value> {
        let articles = self.linked.iter().filter(|value| is_work(value));
        articles.filter_map(|value| value.get(key)).next()
    }

    /// The title: the first `title` of the document, or what else names the page.
    pub(super) fn title(&self) -> Option<String> {
        let titles = self.dom.ids().filter(|&id| {
            let element = self.dom.element(id);
            element.is_some_and(|element| element.is_html() && &**element.name() == "title")
        });
        let mut titles = titles.filter_map(|id| short(&self.dom.all_text(id)));
        titles
            .next()
            .or_else(|| self.meta(&["og:title", "twitter:title"]))
            .or_else(|| self.linked("headline").and_then(Value::as_str).and_then(short))
            .or_else(|| self.first("h1"))
    }

    fn first(&self, name: &str) -> Option<String> {
        let mut found = self.dom.ids().filter(|&id| self.dom.name(id) == name);
        found.find_map(|id| short(&self.dom.all_text(id)))
    }

    /// The body of an article in linked data.
    pub(super) fn article_body(&self) -> Option<&str> {
        self.linked("articleBody").and_then(Value::as_str)
    }

    /// Everything else.
    pub(super) fn metadata(&self, base: &Base) -> Metadata {
        Metadata {
            author: self.author(),
            date: self.date(),
            language: self.language(),
            canonical: self.canonical(base),
            description: self.meta(&["description", "og:description", "twitter:description"]),
            site: self.meta(&["og:site_name", "application-name"]),
        }
    }

    fn author(&self) -> Option<String> {
        let names = [
            "author",
            "article:author",
            "dc.creator",
            "dcterms.creator",
            "parsely-author",
            "sailthru.author",
        ];
        let is_name = |name: &String| !name.contains("://");
        self.meta(&names)
            .filter(is_name)
            .or_else(|| self.linked("author").and_then(names_of))
            .or_else(|| self.marked(|element, name| element == "a" && name == "author"))
            .filter(is_name)
    }

    /// The text of the first element with a `rel` or `itemprop` that is asked for.
    fn marked(&self, is: impl Fn(&str, &str) -> bool) -> Option<String> {
        let mut found = self.dom.ids().filter(|&id| {
            self.dom.element(id).is_some_and(|element| {
                let names = ["rel", "itemprop"].iter().filter_map(|name| element.attribute(name));
                names.flat_map(str::split_ascii_whitespace).any(|name| is(element.name(), name))
            })
        });
        found.find_map(|id| short(&self.dom.all_text(id)))
    }

    fn date(&self) -> Option<String> {
        let names = [
            "article:published_time",
            "datepublished",
            "date",
            "dc.date",
            "dcterms.date",
            "dc.date.issued",
            "parsely-pub-date",
            "sailthru.date",
            "pubdate",
            "publish-date",
            "og:published_time",
        ];
        self.meta(&names)
            .or_else(|| self.linked("datePublished").and_then(Value::as_str).and_then(short))
            .or_else(|| {
                let times = self.dom.ids().filter(|&id| self.dom.name(id) == "time");
                let mut dates = times.filter_map(|id| self.dom.element(id)?.attribute("datetime"));
                dates.next().and_then(short)
            })
            .filter(|date| date.bytes().any(|byte| byte.is_ascii_digit()))
    }

    fn language(&self) -> Option<String> {
        let html = self.dom.ids().find(|&id| self.dom.name(id) == "html");
        let html = html.and_then(|html| self.dom.element(html));
        let names = ["lang", "xml:lang"];
        let language = html.and_then(|html| names.iter().find_map(|name| html.attribute(name)));
        let language = language.map(str::to_owned);
        let language =
            language.or_else(|| self.meta(&["content-language", "og:locale", "dc.language"]));
        let language = language.map(|language| language.trim().replace('_', "-"));
        language.filter(|language| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            (2..=35).contains(&language.len()) && language.bytes().all(fits)
        })
    }

    fn canonical(&self, base: &Base) -> Option<Url> {
        let mut links = self.dom.ids().filter_map(|id| self.dom.element(id)).filter(|element| {
            let rel = element.attribute("rel").unwrap_or_default();
            &**element.name() == "link"
                && rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("canonical"))
        });
        let href = links.find_map(|link| link.attribute("href"));
        href.or_else(|| self.metas.get("og:url").copied()).and_then(|href| base.source(href))
    }
}

fn is_linked_data(media_type: &str) -> bool {
    media_type.trim().to_ascii_lowercase().starts_with("application/ld+json")
}

/// Whether brackets stand deeper in brackets than linked data has them.
fn is_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 100
    })
}

/// Whether linked data is about something that is written, and not about its site or its publisher.
fn is_work(value: &Value) -> bool {
    let is = |name: &str| {
        name.ends_with("Article")
            || name.ends_with("Posting")
            || name.ends_with("Page")
            || name == "Report"
    };
    match value.get("@type") {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is),
        _ => false,
    }
}

fn names_of(value: &Value) -> Option<String> {
    let name = |value: &Value| match value {
        Value::String(name) => short(name),
        value => value.get("name").and_then(Value::as_str).and_then(short),
    };
    match value {
        Value::Array(values) => {
            let names: Vec<String> = values.iter().filter_map(name).take(5).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
        value => name(value),
    }
}

fn short(text: &str) -> Option<String> {
    let line = one_line(text, MAX_VALUE);
    (!line.is_empty()).then_some(line)
}
