//! The objects of a PDF, and how they are written.

use std::{collections::BTreeMap, sync::Arc};

/// How deep objects may stand in objects.
const MAX_DEPTH: usize = 24;
/// Most objects in one array or dictionary.
const MAX_ITEMS: usize = 100_000;

/// A dictionary, shared by its copies.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary(Arc<BTreeMap<String, Object>>);

impl Dictionary {
    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Object> {
        self.0.get(key)
    }

    /// Whether a key has a name as its value.
    pub(super) fn is(&self, key: &str, name: &str) -> bool {
        matches!(self.get(key), Some(Object::Name(there)) if there == name)
    }
}

/// An object.
#[derive(Debug, Clone, Default)]
pub(super) enum Object {
    #[default]
    Null,
    Number(f64),
    Name(String),
    String(Vec<u8>),
    Array(Vec<Object>),
    Dictionary(Dictionary),
    Reference(u32),
    /// A word, as operators are.
    Word(Vec<u8>),
}

impl Object {
    /// The number that it is.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The number that it is, where that is a size.
    pub(super) fn size(&self) -> Option<usize> {
        let number = self.number().filter(|number| (0.0..4e9).contains(number))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it was looked at"
        )]
        let size = number as usize;
        Some(size)
    }
}

/// Reads objects from bytes.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    /// Where it reads next.
    pub(super) at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Goes past white space and comments.
    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                while self.peek().is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
                    self.at += 1;
                }
            } else if is_space(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// Goes past some bytes, if they are next.
    pub(super) fn take(&mut self, wanted: &[u8]) -> bool {
        let is = self.rest().starts_with(wanted);
        self.at += if is { wanted.len() } else { 0 };
        is
    }

    /// The next object; none at the end, and where what is next begins none.
    pub(super) fn object(&mut self) -> Option<Object> {
        self.object_within(MAX_DEPTH)
    }

    fn object_within(&mut self, depth: usize) -> Option<Object> {
        self.skip_space();
        let depth = depth.checked_sub(1)?;
        match self.peek()? {
            b'/' => {
                self.at += 1;
                Some(Object::Name(self.name()))
            }
            b'(' => Some(Object::String(self.string())),
            b'<' if self.rest().starts_with(b"<<") => self.dictionary(depth),
            b'<' => Some(Object::String(self.hexadecimal())),
            b'[' => {
                self.at += 1;
                let items = self.items(depth, b"]");
                Some(Object::Array(items))
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => Some(self.number_or_reference()),
            b']' | b'>' | b')' | b'{' | b'}' => {
                self.at += 1;
                Some(Object::Word(Vec::new()))
            }
            _ => Some(self.word()),
        }
    }

    fn items(&mut self, depth: usize, end: &[u8]) -> Vec<Object> {
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.take(end) || items.len() >= MAX_ITEMS {
                return items;
            }
            match self.object_within(depth) {
                Some(Object::Word(word)) if word == b"endobj" || word == b"stream" => return items,
                Some(item) => items.push(item),
                None => return items,
            }
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Object> {
        self.at += 2;
        let items = self.items(depth, b">>");
        let mut map = BTreeMap::new();
        let mut items = items.into_iter();
        while let Some(key) = items.next() {
            if let Object::Name(key) = key {
                map.insert(key, items.next().unwrap_or_default());
            }
        }
        Some(Object::Dictionary(Dictionary(Arc::new(map))))
    }

    fn name(&mut self) -> String {
        let mut name = Vec::new();
        while let Some(byte) = self.peek().filter(|&byte| is_regular(byte)) {
            self.at += 1;
            let code = self.rest().get(..2).filter(|_| byte == b'#').and_then(hex_pair);
            match code {
                Some(code) => {
                    self.at += 2;
                    name.push(code);
                }
                None => name.push(byte),
            }
        }
        String::from_utf8_lossy(&name).into_owned()
    }

    fn word(&mut self) -> Object {
        let start = self.at;
        while self.peek().is_some_and(is_regular) {
            self.at += 1;
        }
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        match word {
            b"null" => Object::Null,
            word => Object::Word(word.to_vec()),
        }
    }

    fn number_or_reference(&mut self) -> Object {
        let number = self.number();
        let after = self.at;
        if number.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&number) {
            self.skip_space();
            if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                self.number();
                self.skip_space();
                let is_reference = self.peek() == Some(b'R')
                    && !self.bytes.get(self.at + 1).is_some_and(|&byte| is_regular(byte));
                if is_reference {
                    self.at += 1;
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "it was looked at"
                    )]
                    return Object::Reference(number as u32);
                }
            }
        }
        self.at = after;
        Object::Number(number)
    }

    fn number(&mut self) -> f64 {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.'))
        {
            self.at += 1;
        }
        let digits = self.bytes.get(start..self.at).unwrap_or_default();
        let digits = digits.get(..40).unwrap_or(digits);
        std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0.0)
    }

    fn string(&mut self) -> Vec<u8> {
        self.at += 1;
        let (mut string, mut depth) = (Vec::new(), 1_usize);
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.escape(&mut string),
                b'(' => {
                    depth += 1;
                    string.push(byte);
                }
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                    string.push(byte);
                }
                byte => string.push(byte),
            }
        }
        string
    }

    fn escape(&mut self, string: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => string.push(b'\n'),
            b'r' => string.push(b'\r'),
            b't' => string.push(b'\t'),
            b'b' | b'f' => string.push(b' '),
            b'\r' => {
                self.take(b"\n");
            }
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit) = self.peek().filter(|byte| matches!(byte, b'0'..=b'7')) else {
                        break;
                    };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                string.push(u8::try_from(code & 0xFF).unwrap_or(b' '));
            }
            byte => string.push(byte),
        }
    }

    fn hexadecimal(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut digits = Vec::new();
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            if byte.is_ascii_hexdigit() {
                digits.push(byte);
            }
        }
        if digits.len() % 2 == 1 {
            digits.push(b'0');
        }
        digits.chunks(2).filter_map(hex_pair).collect()
    }
}

fn hex_pair(pair: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(pair).ok()?;
    u8::from_str_radix(text, 16).ok().filter(|_| pair.iter().all(u8::is_ascii_hexdigit))
}

/// White space, as PDF has it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte)
        && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}
