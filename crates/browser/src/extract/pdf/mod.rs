//! The text of a PDF.
//!
//! A reader of our own, because the libraries for it can be made to allocate without end and to recurse
//! without end, and a thread can stop neither. This one reads text and nothing else: no images, forms,
//! annotations or scripts. Objects are found by looking through the file (`file`), not by its tables,
//! which are broken often enough; streams are unpacked within one budget of bytes (`filter`); fonts say
//! which characters their codes are (`font`); and the operators of a page give runs of text with their
//! places (`content`), from which lines and paragraphs are made. An encrypted file is refused.
//!
//! Source: ISO 32000-1:2008, chapters 7 and 9.

mod content;
mod file;
mod filter;
mod font;
mod glyphs;
mod object;
mod place;

use std::collections::HashSet;

use super::{budget::Budget, error::ExtractError, links::one_line, options::ExtractLimits};
use content::Interpreter;
use file::File;
use object::{Dictionary, Object};

/// Most pages that are read.
const MAX_PAGES: usize = 2000;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Pdf {
    pub(super) title: Option<String>,
    pub(super) content: String,
    /// Characters that the pages do not show.
    pub(super) hidden: usize,
    /// Whether not all of it was read.
    pub(super) cut: bool,
}

/// Reads the text of a PDF.
///
/// # Errors
///
/// Where it is encrypted, or has no pages that can be found.
pub(super) fn read(
    bytes: &[u8],
    limits: &ExtractLimits,
    budget: &Budget,
) -> Result<Pdf, ExtractError> {
    let file = File::open(bytes, budget);
    if file.is_encrypted() {
        return Err(ExtractError::Pdf { problem: "it is encrypted" });
    }
    let pages = pages(&file);
    if pages.is_empty() {
        return Err(ExtractError::Pdf { problem: "it has no pages that can be found" });
    }
    let mut pdf = Pdf { title: title(&file), ..Pdf::default() };
    for (page, resources) in &pages {
        if budget.is_over() || pdf.content.len() > limits.content {
            pdf.cut = true;
            break;
        }
        let mut interpreter = Interpreter::new(&file, budget);
        interpreter.page(page, resources);
        let (text, hidden) = interpreter.finish();
        pdf.hidden += hidden;
        let text = text.trim();
        if !text.is_empty() {
            if !pdf.content.is_empty() {
                pdf.content.push_str("\n\n");
            }
            pdf.content.push_str(text);
        }
    }
    pdf.cut |= file.is_cut() || budget.is_over() || pages.len() >= MAX_PAGES;
    Ok(pdf)
}

/// The pages in their order, each with its resources.
fn pages(file: &File<'_>) -> Vec<(Dictionary, Dictionary)> {
    let mut pages = Vec::new();
    let mut seen = HashSet::new();
    let root = file.root().and_then(|root| root.get("Pages").cloned());
    let mut open: Vec<(Object, Dictionary)> =
        root.map(|root| (root, Dictionary::default())).into_iter().collect();
    while let Some((node, inherited)) = open.pop() {
        if let Object::Reference(number) = node
            && !seen.insert(number)
        {
            continue;
        }
        let Object::Dictionary(node) = file.resolve(&node) else { continue };
        let own = node.get("Resources").map(|own| file.resolve(own));
        let resources = match own {
            Some(Object::Dictionary(own)) => own,
            _ => inherited,
        };
        match node.get("Kids").map(|kids| file.resolve(kids)) {
            Some(Object::Array(kids)) => {
                open.extend(kids.into_iter().rev().map(|kid| (kid, resources.clone())));
            }
            _ => pages.push((node, resources)),
        }
        if pages.len() >= MAX_PAGES || open.len() > 4 * MAX_PAGES {
            break;
        }
    }
    if pages.is_empty() {
        pages.extend(file.of_type("Page").into_iter().map(|page| {
            let resources = page.get("Resources").map(|own| file.resolve(own));
            let Some(Object::Dictionary(resources)) = resources else {
                return (page, Dictionary::default());
            };
            (page, resources)
        }));
    }
    pages
}

fn title(file: &File<'_>) -> Option<String> {
    let title = file.information()?.get("Title").map(|title| file.resolve(title))?;
    let Object::String(bytes) = title else { return None };
    let title = one_line(&text_string(&bytes), 500);
    (!title.is_empty()).then_some(title)
}

/// A string for readers: UTF-16 or UTF-8 with its mark, or nearly Latin-1.
fn text_string(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => {
            encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned()
        }
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        bytes => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}
