//! What is known of a page as a whole, before its blocks are looked at one by one.

use std::collections::{HashMap, HashSet};

use url::Url;

use super::blocks::Blocks;
use crate::extract::dom::{Dom, NodeId};

/// How many facts there are.
pub(super) const COUNT: usize = 22;

/// The facts of a page, and what of its text it names elsewhere.
#[derive(Debug)]
pub(super) struct Page {
    /// Numbers that say what kind of page it is.
    pub(super) facts: [f32; COUNT],
    /// The title's words.
    pub(super) title: HashSet<String>,
    /// The signs of the title's words.
    signs: u64,
    /// Texts that the page gives in its metadata, on one line, in lower case.
    pub(super) known: String,
    /// How often each text is there.
    pub(super) repeats: HashMap<u64, u32>,
}

/// Longest metadata that is compared with.
const LONGEST_KNOWN: usize = 200_000;

impl Page {
    /// Looks at a page.
    pub(super) fn of(dom: &Dom, blocks: &Blocks, url: &Url) -> Self {
        let mut page = Self {
            facts: [0.0; COUNT],
            title: HashSet::new(),
            signs: 0,
            known: String::new(),
            repeats: HashMap::new(),
        };
        for block in &blocks.blocks {
            *page.repeats.entry(block.hash).or_insert(0) += 1;
        }
        for id in dom.ids() {
            page.see(dom, id);
        }
        page.signs = page.title.iter().fold(0, |signs, word| signs | sign(word));
        page.see_text(dom, blocks);
        page.see_address(url);
        page.known.make_ascii_lowercase();
        page
    }

    /// Whether a text could have a word of the title: false only where it has none.
    pub(super) fn may_share_title(&self, text: &str) -> bool {
        !text.is_ascii() || parts(text).any(|word| self.signs & sign(word) != 0)
    }

    fn see(&mut self, dom: &Dom, id: NodeId) {
        let Some(element) = dom.element(id) else { return };
        match &**element.name() {
            "article" => self.facts[0] += 1.0,
            "h1" => self.facts[1] += 1.0,
            "main" => self.facts[2] = 1.0,
            "form" => self.facts[3] += 1.0,
            "pre" => self.facts[4] += 1.0,
            "table" => self.facts[5] += 1.0,
            "title" if self.title.is_empty() => self.title = words(&dom.all_text(id)),
            "script" if element.attribute("type") == Some("application/ld+json") => {
                self.see_linked_data(&dom.all_text(id));
            }
            "meta" => {
                let name = element.attribute("property").or_else(|| element.attribute("name"));
                let content = element.attribute("content").unwrap_or_default();
                match name {
                    Some("og:type") => self.facts[6] = f32::from(u8::from(content == "article")),
                    Some("description" | "og:description") => self.know(content),
                    Some("generator") if content.contains("WordPress") => self.facts[7] = 1.0,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn know(&mut self, text: &str) {
        if self.known.len() + text.len() < LONGEST_KNOWN {
            self.known.push(' ');
            self.known.extend(text.split_whitespace().flat_map(|word| [word, " "]));
        }
    }

    /// Reads only the types and the longer strings, without a parser: what is broken is common here.
    fn see_linked_data(&mut self, text: &str) {
        for (fact, types) in [
            (8, &["Article\"", "BlogPosting\"", "NewsArticle\""][..]),
            (9, &["\"Product\"", "\"ProductGroup\""][..]),
            (10, &["DiscussionForumPosting\"", "QAPage\"", "\"Question\""][..]),
            (11, &["\"ItemList\"", "CollectionPage\""][..]),
            (12, &["\"FAQPage\"", "\"Service\"", "LocalBusiness\""][..]),
        ] {
            if types.iter().any(|name| text.contains(name)) {
                self.facts[fact] = 1.0;
            }
        }
        for key in ["\"articleBody\"", "\"description\"", "\"text\""] {
            for (at, _) in text.match_indices(key).take(40) {
                let rest = text.get(at + key.len()..).unwrap_or_default().trim_start();
                let rest = rest.strip_prefix(':').unwrap_or_default().trim_start();
                let Some(rest) = rest.strip_prefix('"') else { continue };
                let end = rest.match_indices('"').map(|(end, _)| end);
                let mut end =
                    end.filter(|&end| !rest.get(..end).is_some_and(|s| s.ends_with('\\')));
                let value = rest.get(..end.next().unwrap_or(0)).unwrap_or_default();
                self.know(&value.replace("\\n", " ").replace("\\\"", "\"").replace("\\/", "/"));
            }
        }
    }

    fn see_text(&mut self, dom: &Dom, blocks: &Blocks) {
        let (mut words, mut links, mut paragraphs, mut items, mut long) =
            (0.0, 0.0, 0.0, 0.0, 0.0_f32);
        let mut sentences = 0.0;
        for block in &blocks.blocks {
            let count = &block.count;
            words += count.words;
            links += count.link_words;
            sentences += if block.is_sentence { count.words } else { 0.0 };
            long = long.max(count.words);
            match dom.name(block.element) {
                "p" => paragraphs += count.words,
                "li" => items += count.words,
                _ => {}
            }
        }
        let whole = words.max(1.0);
        let blocks = f32::from(u16::try_from(blocks.blocks.len()).unwrap_or(u16::MAX));
        self.facts[13] = words.ln_1p();
        self.facts[14] = links / whole;
        self.facts[15] = paragraphs / whole;
        self.facts[16] = items / whole;
        self.facts[17] = words / blocks.max(1.0);
        self.facts[18] = sentences / whole;
        self.facts[19] = long;
    }

    fn see_address(&mut self, url: &Url) {
        let path = url.path();
        let segments = path.split('/').filter(|segment| !segment.is_empty()).count();
        self.facts[20] = f32::from(u8::try_from(segments).unwrap_or(u8::MAX));
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let dashes = last.bytes().filter(|&byte| matches!(byte, b'-' | b'_')).count();
        self.facts[21] = f32::from(u8::try_from(dashes).unwrap_or(u8::MAX));
    }
}

/// The words of a text, in lower case.
pub(super) fn words(text: &str) -> HashSet<String> {
    parts(text).map(str::to_lowercase).collect()
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// One bit from the length and the first letter of a word, so that most words differ in it.
fn sign(word: &str) -> u64 {
    let first = word.bytes().next().unwrap_or(0).to_ascii_lowercase();
    1 << ((word.len() * 7 + usize::from(first)) % 64)
}
