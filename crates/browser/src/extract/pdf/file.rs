//! The objects of a file, found by looking through it.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

use super::{
    filter,
    object::{Dictionary, Lexer, Object},
};
use crate::extract::budget::Budget;

/// Most objects that are known.
const MAX_OBJECTS: usize = 300_000;
/// Bytes that all streams of a file may unpack to.
const MAX_UNPACKED: usize = 96 * 1024 * 1024;
/// Bytes of unpacked object streams that are held.
const MAX_HELD: usize = 48 * 1024 * 1024;

#[derive(Debug, Clone, Copy)]
enum Place {
    /// In the file.
    File(usize),
    /// In an unpacked stream of objects.
    Stream(usize, usize),
}

/// A file with its objects.
#[derive(Debug)]
pub(super) struct File<'a> {
    bytes: &'a [u8],
    budget: &'a Budget,
    places: HashMap<u32, Place>,
    streams: Vec<Vec<u8>>,
    left: Cell<usize>,
    cut: Cell<bool>,
    encrypted: bool,
    root: RefCell<Option<Dictionary>>,
    information: Option<Dictionary>,
}

impl<'a> File<'a> {
    /// Looks through a file.
    pub(super) fn open(bytes: &'a [u8], budget: &'a Budget) -> Self {
        let mut file = Self {
            bytes,
            budget,
            places: HashMap::new(),
            streams: Vec::new(),
            left: Cell::new(MAX_UNPACKED),
            cut: Cell::new(false),
            encrypted: false,
            root: RefCell::new(None),
            information: None,
        };
        let mut packed = Vec::new();
        file.scan(&mut packed);
        for number in packed {
            file.unpack(number);
        }
        file
    }

    /// Whether a password is needed.
    pub(super) fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Whether not all of it could be unpacked.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.get()
    }

    /// The catalogue.
    pub(super) fn root(&self) -> Option<Dictionary> {
        let mut root = self.root.borrow_mut();
        if root.is_none() {
            *root = self.of_type("Catalog").pop();
        }
        root.clone()
    }

    /// What the file says about itself.
    pub(super) fn information(&self) -> Option<Dictionary> {
        self.information.clone()
    }

    /// All dictionaries of a type, by their numbers.
    pub(super) fn of_type(&self, name: &str) -> Vec<Dictionary> {
        let mut numbers: Vec<u32> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        let objects = numbers.into_iter().filter_map(|number| match self.object(number)? {
            (Object::Dictionary(dictionary), _) => Some(dictionary),
            _ => None,
        });
        objects.filter(|dictionary| dictionary.is("Type", name)).collect()
    }

    /// What a reference stands for; anything else is itself. A reference to a reference is nothing.
    pub(super) fn resolve(&self, object: &Object) -> Object {
        match object {
            Object::Reference(number) => match self.object(*number) {
                Some((Object::Reference(_), _)) | None => Object::Null,
                Some((object, _)) => object,
            },
            object => object.clone(),
        }
    }

    /// The value of a key, resolved.
    pub(super) fn get(&self, dictionary: &Dictionary, key: &str) -> Object {
        dictionary.get(key).map(|value| self.resolve(value)).unwrap_or_default()
    }

    /// The unpacked stream that a reference stands for, with its dictionary.
    pub(super) fn stream(&self, object: &Object) -> Option<(Dictionary, Vec<u8>)> {
        let Object::Reference(number) = object else { return None };
        let (Object::Dictionary(dictionary), end) = self.object(*number)? else { return None };
        let Some(Place::File(_)) = self.places.get(number) else { return None };
        let (from, to) = self.span(&dictionary, end)?;
        let left = self.left.get();
        let (unpacked, cut) = filter::unpack(self, &dictionary, self.bytes.get(from..to)?, left);
        self.cut.set(self.cut.get() || cut);
        self.left.set(left.saturating_sub(unpacked.len()));
        Some((dictionary, unpacked))
    }

    /// An object, and where it ends.
    fn object(&self, number: u32) -> Option<(Object, usize)> {
        let (bytes, at) = match *self.places.get(&number)? {
            Place::File(at) => (self.bytes, at),
            Place::Stream(stream, at) => (self.streams.get(stream)?.as_slice(), at),
        };
        let mut lexer = Lexer::new(bytes, at);
        let object = lexer.object()?;
        let length = lexer.at.saturating_sub(at);
        self.budget.spend(1 + length / 16).then_some((object, lexer.at))
    }

    /// Where the bytes of a stream are whose dictionary ends at a place.
    fn span(&self, dictionary: &Dictionary, end: usize) -> Option<(usize, usize)> {
        if let Some(span) = self.span_by_length(dictionary, end) {
            return Some(span);
        }
        let from = self.stream_start(end)?;
        let rest = self.bytes.get(from..)?;
        let to = rest.windows(9).position(|window| window == b"endstream");
        let length = to.unwrap_or(rest.len());
        self.budget.spend(length / 16).then_some((from, from + length))
    }

    fn stream_start(&self, end: usize) -> Option<usize> {
        let mut lexer = Lexer::new(self.bytes, end);
        lexer.skip_space();
        if !lexer.take(b"stream") {
            return None;
        }
        let _ = lexer.take(b"\r\n") || lexer.take(b"\n") || lexer.take(b"\r");
        Some(lexer.at)
    }

    /// The same, where the length that the dictionary gives is right.
    fn span_by_length(&self, dictionary: &Dictionary, end: usize) -> Option<(usize, usize)> {
        let from = self.stream_start(end)?;
        let length = match dictionary.get("Length") {
            Some(Object::Reference(number)) => {
                self.object(*number).and_then(|(object, _)| object.size())
            }
            length => length.and_then(Object::size),
        };
        let to = from.checked_add(length?)?;
        let mut after = Lexer::new(self.bytes, to);
        after.skip_space();
        (to <= self.bytes.len() && after.take(b"endstream")).then_some((from, to))
    }

    fn scan(&mut self, packed: &mut Vec<u32>) {
        let mut at = 0;
        while let Some(found) = next_object(self.bytes, at) {
            if self.places.len() >= MAX_OBJECTS || !self.budget.spend(16 + (found.begins - at) / 16)
            {
                self.cut.set(true);
                return;
            }
            self.see_trailer(at, found.begins);
            at = found.begins;
            self.places.insert(found.number, Place::File(found.begins));
            let mut lexer = Lexer::new(self.bytes, found.begins);
            let object = lexer.object();
            self.budget.spend((lexer.at - at) / 16);
            if matches!(object, Some(Object::Dictionary(_) | Object::Array(_))) {
                at = lexer.at.max(at);
            }
            if let Some(Object::Dictionary(dictionary)) = object {
                // What is in a stream is no object of the file.
                if let Some((_, to)) = self.span_by_length(&dictionary, lexer.at) {
                    at = to;
                }
                if dictionary.is("Type", "ObjStm") {
                    packed.push(found.number);
                }
                if dictionary.is("Type", "XRef") {
                    self.see(&dictionary);
                }
            }
        }
        self.see_trailer(at, self.bytes.len());
    }

    fn see_trailer(&mut self, from: usize, to: usize) {
        let Some(between) = self.bytes.get(from..to) else { return };
        let Some(at) = between.windows(7).rposition(|window| window == b"trailer") else { return };
        if let Some(Object::Dictionary(dictionary)) = Lexer::new(self.bytes, from + at + 7).object()
        {
            self.see(&dictionary);
        }
    }

    fn see(&mut self, trailer: &Dictionary) {
        self.encrypted |= trailer.get("Encrypt").is_some();
        for (key, slot) in [("Root", true), ("Info", false)] {
            let Some(reference) = trailer.get(key) else { continue };
            // The object may come later in the file: only the catalogue of the last trailer is asked for.
            if let Object::Dictionary(dictionary) = self.resolve(reference) {
                if slot {
                    *self.root.borrow_mut() = Some(dictionary);
                } else {
                    self.information = Some(dictionary);
                }
            }
        }
    }

    /// Makes known the objects of a stream of objects.
    fn unpack(&mut self, number: u32) {
        let held: usize = self.streams.iter().map(Vec::len).sum();
        if held > MAX_HELD || self.budget.is_over() {
            self.cut.set(true);
            return;
        }
        let Some((dictionary, unpacked)) = self.stream(&Object::Reference(number)) else { return };
        let first = dictionary.get("First").and_then(Object::size).unwrap_or(0);
        let count = dictionary.get("N").and_then(Object::size).unwrap_or(0);
        let mut lexer = Lexer::new(&unpacked, 0);
        let mut places = Vec::new();
        for _ in 0..count.min(MAX_OBJECTS) {
            if !self.budget.spend(4) {
                break;
            }
            let (Some(number), Some(offset)) = (lexer.object(), lexer.object()) else { break };
            let (Some(number), Some(offset)) = (number.size(), offset.size()) else { break };
            places.push((u32::try_from(number).unwrap_or(u32::MAX), first + offset));
        }
        let stream = self.streams.len();
        self.streams.push(unpacked);
        for (number, at) in places {
            if self.places.len() < MAX_OBJECTS {
                self.places.insert(number, Place::Stream(stream, at));
            }
        }
    }
}

/// A place where an object begins.
struct Found {
    number: u32,
    begins: usize,
}

/// The next `N G obj` from a place on.
fn next_object(bytes: &[u8], from: usize) -> Option<Found> {
    let mut at = from;
    loop {
        let rest = bytes.get(at..)?;
        let found = at + rest.windows(3).position(|window| window == b"obj")?;
        at = found + 3;
        let before = bytes.get(from..found)?;
        let before = before.get(before.len().saturating_sub(24)..)?;
        let mut words =
            before.rsplit(|&byte| super::object::is_space(byte)).filter(|word| !word.is_empty());
        let generation = words.next().filter(|word| word.iter().all(u8::is_ascii_digit));
        let Some(number) = generation.and_then(|_| words.next()) else { continue };
        let digits = number.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = number.get(number.len() - digits..).unwrap_or_default();
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        if let Some(number) = number {
            return Some(Found { number, begins: at });
        }
    }
}
