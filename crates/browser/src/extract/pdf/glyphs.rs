//! Characters by the names of glyphs. Source: the Adobe Glyph List, the part that text in Latin, Greek
//! and the usual signs needs.

/// Names that are not the character itself.
const NAMES: &[(&str, &str)] = &[
    ("space", " "),
    ("exclam", "!"),
    ("quotedbl", "\""),
    ("numbersign", "#"),
    ("dollar", "$"),
    ("percent", "%"),
    ("ampersand", "&"),
    ("quotesingle", "'"),
    ("parenleft", "("),
    ("parenright", ")"),
    ("asterisk", "*"),
    ("plus", "+"),
    ("comma", ","),
    ("hyphen", "-"),
    ("period", "."),
    ("slash", "/"),
    ("zero", "0"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("colon", ":"),
    ("semicolon", ";"),
    ("less", "<"),
    ("equal", "="),
    ("greater", ">"),
    ("question", "?"),
    ("at", "@"),
    ("bracketleft", "["),
    ("backslash", "\\"),
    ("bracketright", "]"),
    ("asciicircum", "^"),
    ("underscore", "_"),
    ("grave", "`"),
    ("braceleft", "{"),
    ("bar", "|"),
    ("braceright", "}"),
    ("asciitilde", "~"),
    ("exclamdown", "¡"),
    ("cent", "¢"),
    ("sterling", "£"),
    ("currency", "¤"),
    ("yen", "¥"),
    ("brokenbar", "¦"),
    ("section", "§"),
    ("dieresis", "¨"),
    ("copyright", "©"),
    ("ordfeminine", "ª"),
    ("guillemotleft", "«"),
    ("logicalnot", "¬"),
    ("registered", "®"),
    ("macron", "¯"),
    ("degree", "°"),
    ("plusminus", "±"),
    ("acute", "´"),
    ("mu", "µ"),
    ("paragraph", "¶"),
    ("periodcentered", "·"),
    ("cedilla", "¸"),
    ("ordmasculine", "º"),
    ("guillemotright", "»"),
    ("onequarter", "¼"),
    ("onehalf", "½"),
    ("threequarters", "¾"),
    ("questiondown", "¿"),
    ("AE", "Æ"),
    ("ae", "æ"),
    ("Oslash", "Ø"),
    ("oslash", "ø"),
    ("OE", "Œ"),
    ("oe", "œ"),
    ("germandbls", "ß"),
    ("Eth", "Ð"),
    ("eth", "ð"),
    ("Thorn", "Þ"),
    ("thorn", "þ"),
    ("Lslash", "Ł"),
    ("lslash", "ł"),
    ("dotlessi", "ı"),
    ("multiply", "×"),
    ("divide", "÷"),
    ("fi", "fi"),
    ("fl", "fl"),
    ("ff", "ff"),
    ("ffi", "ffi"),
    ("ffl", "ffl"),
    ("endash", "–"),
    ("emdash", "—"),
    ("quoteleft", "‘"),
    ("quoteright", "’"),
    ("quotesinglbase", "‚"),
    ("quotedblleft", "“"),
    ("quotedblright", "”"),
    ("quotedblbase", "„"),
    ("dagger", "†"),
    ("daggerdbl", "‡"),
    ("bullet", "•"),
    ("ellipsis", "…"),
    ("perthousand", "‰"),
    ("guilsinglleft", "‹"),
    ("guilsinglright", "›"),
    ("fraction", "⁄"),
    ("Euro", "€"),
    ("trademark", "™"),
    ("minus", "−"),
    ("florin", "ƒ"),
    ("nbspace", " "),
    ("sfthyphen", "-"),
    ("Alpha", "Α"),
    ("Beta", "Β"),
    ("Gamma", "Γ"),
    ("Delta", "Δ"),
    ("Theta", "Θ"),
    ("Lambda", "Λ"),
    ("Pi", "Π"),
    ("Sigma", "Σ"),
    ("Phi", "Φ"),
    ("Psi", "Ψ"),
    ("Omega", "Ω"),
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("kappa", "κ"),
    ("lambda", "λ"),
    ("nu", "ν"),
    ("xi", "ξ"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("phi", "φ"),
    ("chi", "χ"),
    ("psi", "ψ"),
    ("omega", "ω"),
    ("partialdiff", "∂"),
    ("summation", "∑"),
    ("product", "∏"),
    ("radical", "√"),
    ("infinity", "∞"),
    ("integral", "∫"),
    ("approxequal", "≈"),
    ("notequal", "≠"),
    ("lessequal", "≤"),
    ("greaterequal", "≥"),
    ("lozenge", "◊"),
    ("arrowright", "→"),
    ("arrowleft", "←"),
    ("element", "∈"),
    ("similar", "∼"),
];

/// Letters with a mark, by the mark's name and the letters that have it.
const MARKED: &[(&str, &str, &str)] = &[
    ("acute", "AEIOUYaeiouyCcNnSsZzLlRr", "ÁÉÍÓÚÝáéíóúýĆćŃńŚśŹźĹĺŔŕ"),
    ("grave", "AEIOUaeiou", "ÀÈÌÒÙàèìòù"),
    ("circumflex", "AEIOUaeiou", "ÂÊÎÔÛâêîôû"),
    ("dieresis", "AEIOUYaeiouy", "ÄËÏÖÜŸäëïöüÿ"),
    ("tilde", "ANOano", "ÃÑÕãñõ"),
    ("ring", "AaUu", "ÅåŮů"),
    ("cedilla", "CcSsTt", "ÇçŞşŢţ"),
    ("caron", "CcDdEeNnRrSsTtZz", "ČčĎďĚěŇňŘřŠšŤťŽž"),
    ("ogonek", "AaEe", "ĄąĘę"),
    ("breve", "AaGg", "ĂăĞğ"),
    ("macron", "AEIOUaeiou", "ĀĒĪŌŪāēīōū"),
    ("hungarumlaut", "OoUu", "ŐőŰű"),
    ("dotaccent", "ZzIEe", "ŻżİĖė"),
    ("comma", "SsTt", "ȘșȚț"),
];

/// The characters of a glyph.
pub(super) fn find(name: &str) -> Option<String> {
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return Some(only.to_string());
    }
    if let Some((_, text)) = NAMES.iter().find(|(there, _)| *there == name) {
        return Some((*text).to_owned());
    }
    marked(name).or_else(|| by_number(name))
}

fn marked(name: &str) -> Option<String> {
    let letter = name.chars().next()?;
    let mark = name.get(letter.len_utf8()..)?;
    let (_, plain, with_mark) = MARKED
        .iter()
        .find(|(there, ..)| *there == mark || mark.strip_suffix("accent") == Some(there))?;
    let at = plain.chars().position(|there| there == letter)?;
    with_mark.chars().nth(at).map(String::from)
}

/// `uni20AC`, `u1F600`.
fn by_number(name: &str) -> Option<String> {
    let digits = name.strip_prefix("uni").or_else(|| name.strip_prefix('u'))?;
    let digits = digits.get(..digits.len().min(if name.starts_with("uni") { 4 } else { 6 }))?;
    (digits.len() >= 4).then_some(())?;
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyphs_have_their_characters() {
        for (name, text) in [
            ("A", "A"),
            ("eacute", "é"),
            ("Scedilla", "Ş"),
            ("scommaaccent", "ș"),
            ("uni20AC", "€"),
            ("u1F600", "😀"),
            ("fi", "fi"),
            ("one.alt", "1"),
        ] {
            assert_eq!(find(name).as_deref(), Some(text), "{name}");
        }
        assert_eq!(find("g123"), None);
        assert_eq!(find(".notdef"), None);
    }
}
