//! Keys by their names, as the protocol wants them.
//!
//! Source: UI Events KeyboardEvent key values (<https://www.w3.org/TR/uievents-key/>).

use serde_json::{Value, json};

/// A key with the modifiers that are held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stroke {
    key: String,
    code: String,
    number: u32,
    text: Option<String>,
    modifiers: u32,
}

/// Names of keys that write nothing, or something else than their name: name, code, number, text.
const NAMED: &[(&str, &str, u32, Option<&str>)] = &[
    ("Enter", "Enter", 13, Some("\r")),
    ("Tab", "Tab", 9, None),
    ("Escape", "Escape", 27, None),
    ("Backspace", "Backspace", 8, None),
    ("Delete", "Delete", 46, None),
    ("Space", "Space", 32, Some(" ")),
    ("ArrowUp", "ArrowUp", 38, None),
    ("ArrowDown", "ArrowDown", 40, None),
    ("ArrowLeft", "ArrowLeft", 37, None),
    ("ArrowRight", "ArrowRight", 39, None),
    ("Home", "Home", 36, None),
    ("End", "End", 35, None),
    ("PageUp", "PageUp", 33, None),
    ("PageDown", "PageDown", 34, None),
    ("F5", "F5", 116, None),
];

/// Modifiers with their bits.
const MODIFIERS: &[(&str, u32)] =
    &[("Alt", 1), ("Control", 2), ("Ctrl", 2), ("Meta", 4), ("Shift", 8)];

/// What is accepted.
pub(super) const ACCEPTED: &str = "a single character, or Enter, Tab, Escape, Backspace, Delete, Space, \
    ArrowUp, ArrowDown, ArrowLeft, ArrowRight, Home, End, PageUp, PageDown or F5, each after Control+, \
    Shift+, Alt+ or Meta+ if wanted";

impl Stroke {
    /// The stroke of a name such as `Enter` or `Control+a`; nothing where it is none.
    pub(super) fn of(name: &str) -> Option<Self> {
        let (mut rest, mut modifiers) = (name, 0);
        while let Some((first, others)) = rest.split_once('+').filter(|(_, rest)| !rest.is_empty())
        {
            modifiers |= MODIFIERS.iter().find(|(known, _)| *known == first)?.1;
            rest = others;
        }
        let named = NAMED.iter().find(|(known, ..)| *known == rest);
        if let Some(&(key, code, number, text)) = named {
            let key = if key == "Space" { " " } else { key }.to_owned();
            let text = text.map(str::to_owned);
            return Some(Self { key, code: code.to_owned(), number, text, modifiers });
        }
        let mut characters = rest.chars();
        let character = characters.next().filter(|one| !one.is_control())?;
        if characters.next().is_some() {
            return None;
        }
        // With Control, Alt or Meta a key is a command and writes nothing.
        let writes = modifiers & !8 == 0;
        let upper = character.to_ascii_uppercase();
        let code = match upper {
            'A'..='Z' => format!("Key{upper}"),
            '0'..='9' => format!("Digit{upper}"),
            _ => String::new(),
        };
        let number = if code.is_empty() { 0 } else { u32::from(upper) };
        let text = writes.then(|| character.to_string());
        Some(Self { key: character.to_string(), code, number, text, modifiers })
    }

    /// The two events of a stroke.
    pub(super) fn events(&self) -> [Value; 2] {
        let Self { key, code, number, text, modifiers } = self;
        let kind = if text.is_some() { "keyDown" } else { "rawKeyDown" };
        let mut down = json!({
            "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number,
            "modifiers": modifiers,
        });
        if let Some(text) = text {
            down["text"] = text.as_str().into();
        }
        if *modifiers == 2 && key.eq_ignore_ascii_case("a") {
            down["commands"] = json!(["selectAll"]);
        }
        let up = json!({
            "type": "keyUp", "key": key, "code": code, "windowsVirtualKeyCode": number,
            "modifiers": modifiers,
        });
        [down, up]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, key: &str, modifiers: u32, text: Option<&str>) {
        let stroke = Stroke::of(name).unwrap();
        let told = (stroke.key.as_str(), stroke.modifiers, stroke.text.as_deref());
        assert_eq!(told, (key, modifiers, text), "{name}");
    }

    #[test]
    fn names_are_read() {
        check("Enter", "Enter", 0, Some("\r"));
        check("Tab", "Tab", 0, None);
        check("Shift+Tab", "Tab", 8, None);
        check("Control+a", "a", 2, None);
        check("Control+Shift+ArrowLeft", "ArrowLeft", 10, None);
        check("x", "x", 0, Some("x"));
        check("ë", "ë", 0, Some("ë"));
        check("+", "+", 0, Some("+"));
        check("Control++", "+", 2, None);
        check("Space", " ", 0, Some(" "));
        for bad in ["", "Entr", "Hyper+a", "ab", "Control+", "\n", "Control+ab"] {
            assert_eq!(Stroke::of(bad), None, "{bad:?}");
        }
    }
}
