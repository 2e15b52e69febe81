//! Which characters the codes of a font are, and how wide they are.
//!
//! First the font's own map to Unicode, then its encoding with its differences. A font that has neither,
//! and whose codes are two bytes, says nothing that can be read.

use std::collections::HashMap;

use super::{
    file::File,
    glyphs,
    object::{Dictionary, Lexer, Object},
};
use crate::extract::budget::Budget;

/// Most codes that one map gives characters to.
const MAX_CODES: usize = 70_000;

/// A font.
#[derive(Debug, Default)]
pub(super) struct Font {
    unicode: HashMap<u32, String>,
    wide: bool,
    codes: Vec<Option<String>>,
    widths: HashMap<u32, f64>,
    width: f64,
}

impl Font {
    /// Reads a font.
    pub(super) fn read(file: &File<'_>, dictionary: &Dictionary, budget: &Budget) -> Self {
        let mut font =
            Self { wide: dictionary.is("Subtype", "Type0"), width: 0.5, ..Self::default() };
        if let Some((_, map)) = dictionary.get("ToUnicode").and_then(|map| file.stream(map)) {
            font.read_map(&map, budget);
        }
        if font.wide {
            font.read_descendant(file, dictionary);
        } else {
            font.read_encoding(file, dictionary);
            font.read_widths(file, dictionary);
        }
        font
    }

    /// The text of a string, the width of each of its codes in text space, and whether the code is a
    /// space that word spacing applies to.
    pub(super) fn decode(&self, string: &[u8]) -> Vec<(String, f64, bool)> {
        let step = if self.wide { 2 } else { 1 };
        let codes = string
            .chunks(step)
            .map(|code| code.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte)));
        codes.map(|code| (self.text(code), self.width(code), code == 32 && !self.wide)).collect()
    }

    fn text(&self, code: u32) -> String {
        if let Some(text) = self.unicode.get(&code) {
            return text.clone();
        }
        let known = usize::try_from(code).ok().and_then(|code| self.codes.get(code));
        known.cloned().flatten().unwrap_or_default()
    }

    fn width(&self, code: u32) -> f64 {
        self.widths.get(&code).copied().unwrap_or(self.width)
    }

    fn read_widths(&mut self, file: &File<'_>, dictionary: &Dictionary) {
        let first = file.get(dictionary, "FirstChar").size().unwrap_or(0);
        let Object::Array(widths) = file.get(dictionary, "Widths") else { return };
        for (at, width) in widths.iter().enumerate().take(256) {
            if let (Some(width), Ok(code)) =
                (file.resolve(width).number(), u32::try_from(first + at))
            {
                self.widths.insert(code, width / 1000.0);
            }
        }
    }

    fn read_descendant(&mut self, file: &File<'_>, dictionary: &Dictionary) {
        let Object::Array(fonts) = file.get(dictionary, "DescendantFonts") else { return };
        let Some(Object::Dictionary(font)) = fonts.first().map(|font| file.resolve(font)) else {
            return;
        };
        self.width = file.get(&font, "DW").number().unwrap_or(1000.0) / 1000.0;
        let Object::Array(widths) = file.get(&font, "W") else { return };
        let mut widths = widths.iter();
        while let (Some(first), Some(second)) =
            (widths.next().and_then(Object::size), widths.next())
        {
            match file.resolve(second) {
                Object::Array(list) => {
                    for (at, width) in list.iter().enumerate().take(MAX_CODES) {
                        self.set_width(first + at, width);
                    }
                }
                last => {
                    let (Some(last), Some(width)) = (last.size(), widths.next()) else { return };
                    for code in first..=last.min(first + MAX_CODES) {
                        self.set_width(code, width);
                    }
                }
            }
            if self.widths.len() > MAX_CODES {
                return;
            }
        }
    }

    fn set_width(&mut self, code: usize, width: &Object) {
        if let (Ok(code), Some(width)) = (u32::try_from(code), width.number()) {
            self.widths.insert(code, width / 1000.0);
        }
    }

    fn read_encoding(&mut self, file: &File<'_>, dictionary: &Dictionary) {
        let encoding = file.get(dictionary, "Encoding");
        let base = match &encoding {
            Object::Name(name) => Some(name.clone()),
            Object::Dictionary(encoding) => match encoding.get("BaseEncoding") {
                Some(Object::Name(name)) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        let table = match base.as_deref() {
            Some("MacRomanEncoding") => encoding_rs::MACINTOSH,
            _ => encoding_rs::WINDOWS_1252,
        };
        self.codes = (0..=255_u8)
            .map(|code| {
                let (text, _) = table.decode_without_bom_handling(std::slice::from_ref(&code));
                (code >= 32).then(|| text.into_owned())
            })
            .collect();
        let Object::Dictionary(encoding) = encoding else { return };
        let Object::Array(differences) = file.get(&encoding, "Differences") else { return };
        let mut code = 0;
        for difference in differences.iter().take(1024) {
            match difference {
                Object::Name(name) => {
                    if let Some(slot) = self.codes.get_mut(code) {
                        *slot = glyphs::find(name);
                    }
                    code += 1;
                }
                number => code = number.size().unwrap_or(code),
            }
        }
    }

    /// Reads a map from codes to Unicode.
    fn read_map(&mut self, map: &[u8], budget: &Budget) {
        let mut lexer = Lexer::new(map, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(object) = lexer.object() {
            if !budget.spend(1) || self.unicode.len() > MAX_CODES {
                return;
            }
            match object {
                Object::Word(word) => {
                    match word.as_slice() {
                        b"endbfchar" => self.characters(&operands),
                        b"endbfrange" => self.ranges(&operands),
                        b"endcodespacerange" => {
                            if let Some(Object::String(code)) = operands.last() {
                                self.wide = self.wide || code.len() > 1;
                            }
                        }
                        _ => {}
                    }
                    operands.clear();
                }
                object => operands.push(object),
            }
        }
    }

    fn characters(&mut self, operands: &[Object]) {
        for pair in operands.chunks(2) {
            if let [Object::String(code), Object::String(text)] = pair {
                self.unicode.insert(number(code), utf16(text));
            }
        }
    }

    fn ranges(&mut self, operands: &[Object]) {
        for range in operands.chunks(3) {
            let [Object::String(first), Object::String(last), to] = range else { continue };
            let (first, last) = (number(first), number(last));
            let last = last.min(first.saturating_add(65_535));
            for (step, code) in (first..=last).enumerate() {
                if self.unicode.len() > MAX_CODES {
                    return;
                }
                let text = match to {
                    Object::String(text) => utf16(&plus(text, step)),
                    Object::Array(texts) => match texts.get(step) {
                        Some(Object::String(text)) => utf16(text),
                        _ => break,
                    },
                    _ => break,
                };
                self.unicode.insert(code, text);
            }
        }
    }
}

fn number(code: &[u8]) -> u32 {
    code.iter().take(4).fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

fn utf16(bytes: &[u8]) -> String {
    let text = encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0;
    text.chars().filter(|&c| c != '\0' && c != '\u{FFFD}').take(16).collect()
}

/// A text whose last unit is some steps further.
fn plus(text: &[u8], step: usize) -> Vec<u8> {
    let mut text = text.to_vec();
    if let [.., high, low] = text.as_mut_slice() {
        let unit = usize::from(u16::from_be_bytes([*high, *low])) + step;
        [*high, *low] = u16::try_from(unit & 0xFFFF).unwrap_or(0).to_be_bytes();
    }
    text
}
