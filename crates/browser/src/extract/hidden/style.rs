//! Whether an inline style shows nothing.

/// Far enough to be off any screen, in pixels.
const FAR: f32 = 900.0;

/// Whether an inline style shows nothing of its element.
pub(super) fn hides(style: &str) -> bool {
    if !style.contains(':') {
        return false;
    }
    let style = style.to_ascii_lowercase();
    let declarations: Vec<(&str, &str)> = style.split(';').filter_map(declaration).collect();
    let value = |name| declarations.iter().rev().find(|(there, _)| *there == name).map(|(_, v)| *v);
    let moves = declarations.iter().any(|(name, _)| is_motion(name));
    declarations
        .iter()
        .any(|(name, value)| hides_alone(name, value) && !(moves && *name == "opacity"))
        || is_clipped_to_nothing(&value)
        || has_no_contrast(&value)
}

/// What has no opacity and is moved or faded is about to appear.
fn is_motion(name: &str) -> bool {
    matches!(
        name.trim_start_matches("-webkit-").trim_start_matches("-moz-").trim_start_matches("-ms-"),
        "transform" | "transition" | "animation" | "animation-name" | "will-change" | "filter"
    )
}

fn declaration(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let value = value.trim();
    Some((name.trim(), value.strip_suffix("!important").unwrap_or(value).trim_end()))
}

fn hides_alone(name: &str, value: &str) -> bool {
    match name {
        "display" => value == "none",
        "visibility" => matches!(value, "hidden" | "collapse"),
        "content-visibility" => value == "hidden",
        "opacity" => number(value).is_some_and(|opacity| opacity <= 0.05),
        "font-size" => number(value).is_some_and(|size| size < 2.0) && !is_relative(value),
        "left" | "right" | "top" | "margin-left" | "margin-top" | "text-indent" => {
            number(value).is_some_and(|offset| offset <= -FAR)
        }
        "transform" => value.contains("scale(0)") || value.contains("translatex(-9999"),
        "clip" => {
            value.replace(' ', "").starts_with("rect(0,0,0,0")
                || value.starts_with("rect(0 0 0 0")
                || value.starts_with("rect(1px")
        }
        "clip-path" => value.starts_with("inset(50%") || value.starts_with("inset(100%"),
        "color" => value == "transparent",
        _ => false,
    }
}

/// A size of `1em` is one of the text around it; of `0em`, none.
fn is_relative(value: &str) -> bool {
    !value.ends_with("px") && number(value) != Some(0.0)
}

/// The number that a value begins with.
fn number(value: &str) -> Option<f32> {
    let ends = |c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let digits = value.split(ends).next().unwrap_or_default();
    digits.parse().ok()
}

fn is_clipped_to_nothing<'a>(value: &impl Fn(&'static str) -> Option<&'a str>) -> bool {
    let tiny = |name| value(name).and_then(number).is_some_and(|size| size <= 1.0);
    let clipped = value("overflow").is_some_and(|overflow| overflow.starts_with("hidden"));
    clipped
        && [tiny("height"), tiny("width"), tiny("max-height"), tiny("max-width")].contains(&true)
        && !value("height").is_some_and(|height| height.ends_with('%'))
}

fn has_no_contrast<'a>(value: &impl Fn(&'static str) -> Option<&'a str>) -> bool {
    let Some(colour) = value("color").and_then(rgb) else { return false };
    let background = value("background-color").or_else(|| value("background"));
    match background
        .map(|background| background.split_ascii_whitespace().next().unwrap_or_default())
    {
        Some(background) => rgb(background).is_some_and(|background| background == colour),
        // Nothing is said of what is behind it, and most pages are white.
        None => colour == [255, 255, 255] && value("background-image").is_none(),
    }
}

fn rgb(colour: &str) -> Option<[u8; 3]> {
    match colour {
        "white" => return Some([255, 255, 255]),
        "black" => return Some([0, 0, 0]),
        _ => {}
    }
    let hex = colour.strip_prefix('#');
    if let Some(hex) = hex.filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        let digits: Vec<u8> =
            hex.chars().filter_map(|c| u8::try_from(c.to_digit(16)?).ok()).collect();
        return match digits[..] {
            [r, g, b] => Some([r * 17, g * 17, b * 17]),
            [r1, r2, g1, g2, b1, b2] => Some([r1 * 16 + r2, g1 * 16 + g2, b1 * 16 + b2]),
            _ => None,
        };
    }
    let inner = colour.strip_prefix("rgb(")?.strip_suffix(')')?;
    let mut parts = inner.split([',', ' ']).filter(|part| !part.is_empty()).map(str::parse::<u8>);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_hide_or_do_not() {
        for style in [
            "display:none",
            "color: red; DISPLAY : None !important",
            "visibility: hidden",
            "opacity:0",
            "opacity: .01",
            "font-size:0",
            "font-size: 1px",
            "position:absolute; left:-9999px",
            "text-indent: -1000em",
            "height:1px;width:1px;overflow:hidden",
            "clip: rect(0, 0, 0, 0)",
            "color:#fff;background:#FFFFFF",
            "color: white",
            "color:rgb(1, 2, 3); background-color: #010203",
        ] {
            assert!(hides(style), "{style}");
        }
        for style in [
            "display:block",
            "opacity: 0.9",
            "opacity:0;transform:translateY(20px)",
            "font-size: 1em",
            "font-size: 1.2rem",
            "margin-left:-10px",
            "left: -50%",
            "height: 100%; overflow: hidden",
            "color: white; background: #333",
            "color: black",
            "",
            "none",
        ] {
            assert!(!hides(style), "{style}");
        }
    }
}
