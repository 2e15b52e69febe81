//! The operators of a page that show text, and the lines that the shown text makes.

use std::{collections::HashMap, rc::Rc};

use super::{
    file::File,
    font::Font,
    object::{Dictionary, Lexer, Object},
    place::Matrix,
};
use crate::extract::budget::Budget;

/// How deep forms may stand in forms.
const MAX_FORMS: usize = 8;
/// Most operands of an operator.
const MAX_OPERANDS: usize = 1000;
/// Most saved states.
const MAX_SAVED: usize = 256;

/// What the operators change.
#[derive(Debug, Clone)]
struct State {
    page: Matrix,
    text: Matrix,
    line: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    leading: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    rise: f64,
    invisible: bool,
}

/// Text that is being put together from runs and their places.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    /// Where the last run ended, its size and its direction.
    end: Option<(f64, f64, f64, (f64, f64))>,
}

impl Lines {
    fn push(
        &mut self,
        text: &str,
        start: (f64, f64),
        end: (f64, f64),
        size: f64,
        direction: (f64, f64),
    ) {
        if text.is_empty() {
            return;
        }
        if let Some((x, y, last_size, last_direction)) = self.end {
            let size = size.max(last_size).max(0.1);
            let (dx, dy) = (start.0 - x, start.1 - y);
            let along = dx * last_direction.0 + dy * last_direction.1;
            let across = (dy * last_direction.0 - dx * last_direction.1).abs();
            let turned = (direction.0 - last_direction.0).abs()
                + (direction.1 - last_direction.1).abs()
                > 0.2;
            let blank = text.starts_with(' ') || self.text.ends_with([' ', '\n']);
            if turned || across > size * 1.9 {
                self.text.push_str("\n\n");
            } else if across > size * 0.5 {
                self.text.push('\n');
            } else if (along > size * 0.18 || along < -size * 2.0) && !blank {
                self.text.push(' ');
            }
        }
        self.text.push_str(text);
        self.end = Some((end.0, end.1, size, direction));
    }
}

/// Runs the operators of one page.
pub(super) struct Interpreter<'a> {
    file: &'a File<'a>,
    budget: &'a Budget,
    shown: Lines,
    hidden: Lines,
    fonts: HashMap<u32, Rc<Font>>,
    forms: usize,
}

impl<'a> Interpreter<'a> {
    pub(super) fn new(file: &'a File<'a>, budget: &'a Budget) -> Self {
        let (shown, hidden) = (Lines::default(), Lines::default());
        Self { file, budget, shown, hidden, fonts: HashMap::new(), forms: 0 }
    }

    /// The text of what was run, and how many characters of it nobody sees. A scanned page has its text
    /// invisible below the picture: where there is no other, it is the text.
    pub(super) fn finish(self) -> (String, usize) {
        let visible = self.shown.text.split_whitespace().count();
        let hidden = self.hidden.text.chars().filter(|c| !c.is_whitespace()).count();
        if visible == 0 { (self.hidden.text, 0) } else { (self.shown.text, hidden) }
    }

    /// Runs a page.
    pub(super) fn page(&mut self, page: &Dictionary, resources: &Dictionary) {
        let parts = match page.get("Contents") {
            Some(Object::Array(parts)) => parts.clone(),
            Some(reference @ Object::Reference(_)) => match self.file.resolve(reference) {
                Object::Array(parts) => parts,
                _ => vec![reference.clone()],
            },
            _ => return,
        };
        let mut content = Vec::new();
        for part in parts.iter().take(1000) {
            if let Some((_, bytes)) = self.file.stream(part) {
                content.extend_from_slice(&bytes);
                content.push(b'\n');
            }
        }
        self.run(&content, resources, Matrix::ONE);
    }

    fn run(&mut self, content: &[u8], resources: &Dictionary, page: Matrix) {
        let mut state = State {
            page,
            text: Matrix::ONE,
            line: Matrix::ONE,
            font: None,
            size: 1.0,
            leading: 0.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            rise: 0.0,
            invisible: false,
        };
        let mut saved: Vec<State> = Vec::new();
        let mut operands: Vec<Object> = Vec::new();
        let mut lexer = Lexer::new(content, 0);
        while let Some(object) = lexer.object() {
            if !self.budget.spend(2) {
                return;
            }
            match object {
                Object::Word(word) => {
                    match word.as_slice() {
                        b"q" if saved.len() < MAX_SAVED => saved.push(state.clone()),
                        b"Q" => state = saved.pop().unwrap_or(state),
                        b"BI" => skip_image(content, &mut lexer),
                        b"Do" => self.form(&state, resources, operands.last()),
                        b"Tf" => self.set_font(&mut state, resources, &operands),
                        word => self.operate(&mut state, word, &operands),
                    }
                    operands.clear();
                }
                object if operands.len() < MAX_OPERANDS => operands.push(object),
                _ => {}
            }
        }
    }

    fn operate(&mut self, state: &mut State, word: &[u8], operands: &[Object]) {
        let number = |at: usize| operands.get(at).and_then(Object::number).unwrap_or(0.0);
        let matrix = || Matrix([0, 1, 2, 3, 4, 5].map(number));
        match word {
            b"cm" => state.page = matrix().then(state.page),
            b"BT" => (state.text, state.line) = (Matrix::ONE, Matrix::ONE),
            b"Tm" => (state.text, state.line) = (matrix(), matrix()),
            b"Td" => next_line(state, number(0), number(1)),
            b"TD" => {
                state.leading = -number(1);
                next_line(state, number(0), number(1));
            }
            b"T*" => next_line(state, 0.0, -state.leading),
            b"TL" => state.leading = number(0),
            b"Tc" => state.character_space = number(0),
            b"Tw" => state.word_space = number(0),
            b"Tz" => state.scale = number(0) / 100.0,
            b"Ts" => state.rise = number(0),
            b"Tr" => {
                state.invisible = matches!(operands.first().and_then(Object::size), Some(3 | 7))
            }
            b"Tj" => self.show(state, operands.first()),
            b"'" => {
                next_line(state, 0.0, -state.leading);
                self.show(state, operands.first());
            }
            b"\"" => {
                (state.word_space, state.character_space) = (number(0), number(1));
                next_line(state, 0.0, -state.leading);
                self.show(state, operands.get(2));
            }
            b"TJ" => {
                let Some(Object::Array(parts)) = operands.first() else { return };
                for part in parts {
                    match part {
                        Object::Number(back) => {
                            let shift = -back / 1000.0 * state.size * state.scale;
                            state.text = Matrix::shift(shift, 0.0).then(state.text);
                        }
                        part => self.show(state, Some(part)),
                    }
                }
            }
            _ => {}
        }
    }

    fn set_font(&mut self, state: &mut State, resources: &Dictionary, operands: &[Object]) {
        let [Object::Name(name), size] = operands else { return };
        state.size = size.number().unwrap_or(1.0);
        let Object::Dictionary(fonts) = self.file.get(resources, "Font") else { return };
        let Some(reference) = fonts.get(name) else { return };
        let known = match reference {
            Object::Reference(number) => self.fonts.get(number).cloned(),
            _ => None,
        };
        if known.is_some() {
            state.font = known;
            return;
        }
        let Object::Dictionary(dictionary) = self.file.resolve(reference) else { return };
        let font = Rc::new(Font::read(self.file, &dictionary, self.budget));
        if let Object::Reference(number) = reference {
            self.fonts.insert(*number, Rc::clone(&font));
        }
        state.font = Some(font);
    }

    fn show(&mut self, state: &mut State, string: Option<&Object>) {
        let (Some(Object::String(string)), Some(font)) = (string, state.font.clone()) else {
            return;
        };
        let lines = if state.invisible { &mut self.hidden } else { &mut self.shown };
        let start = Matrix::shift(0.0, state.rise).then(state.text).then(state.page);
        let size = start.scale() * state.size;
        let mut text = String::new();
        for (characters, width, is_space) in font.decode(string) {
            self.budget.spend(1);
            text.push_str(&characters);
            let word_space = if is_space { state.word_space } else { 0.0 };
            let advance = (width * state.size + state.character_space + word_space) * state.scale;
            state.text = Matrix::shift(advance, 0.0).then(state.text);
        }
        let end = Matrix::shift(0.0, state.rise).then(state.text).then(state.page);
        lines.push(&text, start.origin(), end.origin(), size.abs(), start.direction());
    }

    fn form(&mut self, state: &State, resources: &Dictionary, name: Option<&Object>) {
        let Some(Object::Name(name)) = name else { return };
        if self.forms >= MAX_FORMS {
            return;
        }
        let Object::Dictionary(objects) = self.file.get(resources, "XObject") else { return };
        let Some(reference) = objects.get(name) else { return };
        match self.file.resolve(reference) {
            Object::Dictionary(dictionary) if dictionary.is("Subtype", "Form") => {}
            _ => return,
        }
        let Some((dictionary, content)) = self.file.stream(reference) else { return };
        let own = match self.file.get(&dictionary, "Resources") {
            Object::Dictionary(own) => own,
            _ => resources.clone(),
        };
        let matrix = match self.file.get(&dictionary, "Matrix") {
            Object::Array(numbers) => {
                let number = |at: usize| numbers.get(at).and_then(Object::number).unwrap_or(0.0);
                Matrix([0, 1, 2, 3, 4, 5].map(number))
            }
            _ => Matrix::ONE,
        };
        self.forms += 1;
        self.run(&content, &own, matrix.then(state.page));
        self.forms -= 1;
    }
}

fn next_line(state: &mut State, x: f64, y: f64) {
    state.line = Matrix::shift(x, y).then(state.line);
    state.text = state.line;
}

/// Goes past an image that stands in the operators.
fn skip_image(content: &[u8], lexer: &mut Lexer<'_>) {
    let rest = content.get(lexer.at..).unwrap_or_default();
    let ends = |window: &[u8]| matches!(window, [before, b'E', b'I', after] if super::object::is_space(*before) && super::object::is_space(*after));
    let end = rest.windows(4).position(ends);
    lexer.at = end.map_or(content.len(), |end| lexer.at + end + 3);
}
