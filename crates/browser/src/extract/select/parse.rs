//! From the text of a selector to its conditions.

use super::{Combinator, Complex, ExtractError, List, Nth, Operator, Simple};

/// Longest selector, in characters.
const MAX_LENGTH: usize = 1000;
/// How deep selectors may stand in selectors.
const MAX_DEPTH: usize = 4;

/// Parses a list of selectors.
pub(super) fn parse(text: &str) -> Result<List, ExtractError> {
    let characters: Vec<char> = text.chars().collect();
    let mut parser = Parser { characters: &characters, at: 0, depth: 0 };
    if characters.len() > MAX_LENGTH {
        parser.at = MAX_LENGTH;
        return parser.fail("it is too long");
    }
    let list = parser.list()?;
    match parser.peek() {
        None => Ok(list),
        Some(_) => parser.fail("unexpected character"),
    }
}

struct Parser<'a> {
    characters: &'a [char],
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, ExtractError>;

impl Parser<'_> {
    fn fail<T>(&self, problem: &str) -> Parsed<T> {
        Err(ExtractError::Selector { position: self.at, problem: problem.to_owned() })
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is = self.peek() == Some(wanted);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, wanted: char) -> Parsed<()> {
        if self.take(wanted) { Ok(()) } else { self.fail(&format!("expected {wanted:?}")) }
    }

    fn space(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.at > start
    }

    fn list(&mut self) -> Parsed<List> {
        if self.depth > MAX_DEPTH {
            return self.fail("selectors stand too deep in selectors");
        }
        self.depth += 1;
        let mut list = Vec::new();
        loop {
            self.space();
            list.push(self.complex()?);
            if !self.take(',') {
                self.depth -= 1;
                return Ok(list);
            }
        }
    }

    fn complex(&mut self) -> Parsed<Complex> {
        let mut complex = Complex { compound: self.compound()?, before: None };
        loop {
            let spaced = self.space();
            let combinator = match self.peek() {
                None | Some(',' | ')') => return Ok(complex),
                _ => self.combinator().or(spaced.then_some(Combinator::Descendant)),
            };
            let Some(combinator) = combinator else { return self.fail("unexpected character") };
            self.space();
            let compound = self.compound()?;
            complex = Complex { compound, before: Some((combinator, Box::new(complex))) };
        }
    }

    fn combinator(&mut self) -> Option<Combinator> {
        let combinator = match self.peek()? {
            '>' => Combinator::Child,
            '+' => Combinator::Next,
            '~' => Combinator::Later,
            _ => return None,
        };
        self.at += 1;
        Some(combinator)
    }

    fn compound(&mut self) -> Parsed<Vec<Simple>> {
        let mut compound = Vec::new();
        while let Some(simple) = self.simple(compound.is_empty())? {
            compound.push(simple);
        }
        if compound.is_empty() { self.fail("expected a selector") } else { Ok(compound) }
    }

    fn simple(&mut self, first: bool) -> Parsed<Option<Simple>> {
        let simple = match self.peek() {
            Some('*') if first => {
                self.at += 1;
                Simple::Any
            }
            Some('#') => {
                self.at += 1;
                Simple::Id(self.name()?)
            }
            Some('.') => {
                self.at += 1;
                Simple::Class(self.name()?)
            }
            Some('[') => {
                self.at += 1;
                self.attribute()?
            }
            Some(':') => {
                self.at += 1;
                self.pseudo_class()?
            }
            Some(c) if first && is_name(c) => Simple::Type(self.name()?.to_ascii_lowercase()),
            _ => return Ok(None),
        };
        Ok(Some(simple))
    }

    fn name(&mut self) -> Parsed<String> {
        let (start, digit) = (self.at, self.peek().is_some_and(|c| c.is_ascii_digit()));
        let mut name = String::new();
        while let Some(c) = self.peek() {
            if c == '\\' {
                self.at += 1;
                name.push(self.escape()?);
            } else if is_name(c) {
                name.push(c);
                self.at += 1;
            } else {
                break;
            }
        }
        if name.is_empty() || digit {
            self.at = start;
            return self.fail("expected a name");
        }
        Ok(name)
    }

    fn escape(&mut self) -> Parsed<char> {
        let mut code = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
            code = Some(code.unwrap_or(0) * 16 + digit);
            self.at += 1;
            if code.is_some_and(|code| code > 0xFFFF) {
                break;
            }
        }
        if let Some(code) = code {
            if self.peek() == Some(' ') {
                self.at += 1;
            }
            return Ok(char::from_u32(code).filter(|&c| c != '\0').unwrap_or('\u{FFFD}'));
        }
        let Some(c) = self.peek() else { return self.fail("nothing is escaped") };
        self.at += 1;
        Ok(c)
    }

    fn attribute(&mut self) -> Parsed<Simple> {
        self.space();
        let name = self.name()?.to_ascii_lowercase();
        self.space();
        let operator = match self.peek() {
            Some(']') => {
                self.at += 1;
                let (value, any_case) = (String::new(), false);
                return Ok(Simple::Attribute { name, operator: Operator::Exists, value, any_case });
            }
            Some('=') => Operator::Equals,
            Some('~') => Operator::Word,
            Some('|') => Operator::Dash,
            Some('^') => Operator::Prefix,
            Some('$') => Operator::Suffix,
            Some('*') => Operator::Contains,
            _ => return self.fail("expected an operator or ]"),
        };
        self.at += 1;
        if operator != Operator::Equals {
            self.expect('=')?;
        }
        self.space();
        let value = match self.peek() {
            Some(quote @ ('"' | '\'')) => self.string(quote)?,
            _ => self.name()?,
        };
        self.space();
        let flag = self.peek().filter(|c| matches!(c, 'i' | 'I' | 's' | 'S'));
        if flag.is_some() {
            self.at += 1;
            self.space();
        }
        self.expect(']')?;
        let any_case = matches!(flag, Some('i' | 'I'));
        Ok(Simple::Attribute { name, operator, value, any_case })
    }

    fn string(&mut self, quote: char) -> Parsed<String> {
        self.at += 1;
        let mut value = String::new();
        loop {
            match self.peek() {
                None => return self.fail("the string has no end"),
                Some('\\') => {
                    self.at += 1;
                    value.push(self.escape()?);
                }
                Some(c) => {
                    self.at += 1;
                    if c == quote {
                        return Ok(value);
                    }
                    value.push(c);
                }
            }
        }
    }

    fn pseudo_class(&mut self) -> Parsed<Simple> {
        if self.peek() == Some(':') {
            return self.fail("pseudo-elements select nothing here");
        }
        let start = self.at;
        let name = self.name()?.to_ascii_lowercase();
        let nth =
            |step, offset, from_end, of_type| Simple::Nth(Nth { step, offset, from_end, of_type });
        let simple = match name.as_str() {
            "root" => Simple::Root,
            "empty" => Simple::Empty,
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, true, false),
            "first-of-type" => nth(0, 1, false, true),
            "last-of-type" => nth(0, 1, true, true),
            "only-child" => Simple::Only { of_type: false },
            "only-of-type" => Simple::Only { of_type: true },
            "is" | "where" | "matches" | "any" => Simple::Is(self.arguments(Self::list)?),
            "not" => Simple::Not(self.arguments(Self::list)?),
            "has" => Simple::Has(self.arguments(Self::relative)?),
            "nth-child" => self.nth(false, false)?,
            "nth-last-child" => self.nth(true, false)?,
            "nth-of-type" => self.nth(false, true)?,
            "nth-last-of-type" => self.nth(true, true)?,
            _ => {
                self.at = start;
                return self.fail(&format!("unknown pseudo-class :{name}"));
            }
        };
        Ok(simple)
    }

    fn arguments<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.expect('(')?;
        let inner = parse(self)?;
        self.space();
        self.expect(')')?;
        Ok(inner)
    }

    fn relative(&mut self) -> Parsed<Vec<(Combinator, Complex)>> {
        if self.depth > MAX_DEPTH {
            return self.fail("selectors stand too deep in selectors");
        }
        self.depth += 1;
        let mut list = Vec::new();
        loop {
            self.space();
            let combinator = self.combinator().unwrap_or(Combinator::Descendant);
            self.space();
            list.push((combinator, self.complex()?));
            if !self.take(',') {
                self.depth -= 1;
                return Ok(list);
            }
        }
    }

    fn nth(&mut self, from_end: bool, of_type: bool) -> Parsed<Simple> {
        self.expect('(')?;
        let start = self.at;
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|&c| c != ')') {
            text.extend((!c.is_ascii_whitespace()).then_some(c.to_ascii_lowercase()));
            self.at += 1;
        }
        self.expect(')')?;
        let Some((step, offset)) = an_plus_b(&text) else {
            self.at = start;
            return self.fail("expected An+B");
        };
        Ok(Simple::Nth(Nth { step, offset, from_end, of_type }))
    }
}

fn an_plus_b(text: &str) -> Option<(i32, i32)> {
    match text {
        "odd" => return Some((2, 1)),
        "even" => return Some((2, 0)),
        _ => {}
    }
    let number = |text: &str| text.strip_prefix('+').unwrap_or(text).parse::<i32>().ok();
    let Some((step, offset)) = text.split_once('n') else { return Some((0, number(text)?)) };
    let step = match step {
        "" | "+" => 1,
        "-" => -1,
        step => number(step)?,
    };
    let offset = if offset.is_empty() { 0 } else { number(offset)? };
    Some((step, offset))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '\\') || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_selector_is_refused_with_its_place() {
        for (text, position) in [
            ("", 0),
            ("div >", 5),
            ("div,,p", 4),
            ("p:unknown", 2),
            ("[a=", 3),
            ("[a='x]", 6),
            ("p::before", 2),
            (":nth-child(x)", 11),
            ("div)", 3),
            (".1a", 1),
            ("p..a", 2),
        ] {
            match parse(text) {
                Err(ExtractError::Selector { position: at, .. }) => {
                    assert_eq!(at, position, "{text}")
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(parse(&"a ".repeat(600)).is_err());
        assert!(parse(&format!("{}a{}", ":not(".repeat(9), ")".repeat(9))).is_err());
    }

    #[test]
    fn an_plus_b_in_its_forms() {
        for (text, wanted) in [
            ("odd", Some((2, 1))),
            ("2n+1", Some((2, 1))),
            ("-n+3", Some((-1, 3))),
            ("n", Some((1, 0))),
            ("+4", Some((0, 4))),
            ("3n-2", Some((3, -2))),
            ("x", None),
        ] {
            assert_eq!(an_plus_b(text), wanted, "{text}");
        }
    }
}
