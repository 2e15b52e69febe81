//! Text for machines alone is left out and counted.

use browser::{ExtractOptions, Format, Scope};

use super::{main_of, whole, with};

#[test]
fn what_markup_hides_is_left_out_and_counted() {
    for part in [
        "<p style='display:none'>SECRET</p>",
        "<p style='visibility: hidden'>SECRET</p>",
        "<p hidden>SECRET</p>",
        "<span aria-hidden=true>SECRET</span>",
        "<div style='opacity:0'>SECRET</div>",
        "<div style='font-size:0'>SECRET</div>",
        "<div style='position:absolute;left:-9999px'>SECRET</div>",
        "<div style='color:#fff;background-color:white'>SECRET</div>",
        "<div style='height:0;overflow:hidden'>SECRET</div>",
        "<div class='x sr-only'>SECRET</div>",
        "<dialog>SECRET</dialog>",
    ] {
        let extracted = whole(&format!("<p>seen</p>{part}<p>seen, too</p>"));
        assert_eq!(extracted.content, "seen\n\nseen, too", "{part}");
        assert_eq!(extracted.hidden_characters, 6, "{part}");
        assert!(!extracted.unfiltered, "{part}");
    }
}

#[test]
fn comments_titles_and_attributes_are_no_text() {
    let page =
        "<p title=SECRET data-x=SECRET>seen<!-- SECRET --></p><img src=x><input value=SECRET>";
    assert_eq!(whole(page).content, "seen");
    let text =
        ExtractOptions { format: Format::Text, scope: Scope::Whole, ..ExtractOptions::default() };
    assert_eq!(with("<p>seen <img src=x alt=SECRET></p>", &text).content, "seen");
}

#[test]
fn characters_that_nobody_sees_are_dropped_and_counted() {
    let tags: String =
        "ignore".chars().map(|c| char::from_u32(0xE0000 + u32::from(c)).unwrap()).collect();
    let extracted = whole(&format!("<p>he\u{200B}llo{tags} \u{202E}x</p>"));
    assert_eq!(extracted.content, "hello x");
    assert_eq!(extracted.hidden_characters, 1 + 6 + 1);
}

#[test]
fn a_page_that_is_hidden_as_a_whole_is_given_and_said_to_be_unfiltered() {
    let story =
        "<p>The story goes on and on, with many words in each of its sentences.</p>".repeat(20);
    for page in [
        format!(
            "<div id=root></div><div hidden id='S:0'>{story}</div><script>$RC('B:0','S:0')</script>"
        ),
        format!("<div style='opacity:0'>{story}</div>"),
        format!("<p>Loading</p><main style='visibility:hidden'>{story}</main>"),
    ] {
        let extracted = main_of(&page);
        assert!(extracted.content.contains("The story goes on"), "{page}");
        assert!(extracted.unfiltered, "{page}");
    }
    let visible = format!(
        "<article>{story}</article><div style='display:none'>{}</div>",
        "SECRET ".repeat(60)
    );
    let extracted = main_of(&visible);
    assert!(!extracted.content.contains("SECRET"));
    assert_eq!(extracted.hidden_characters, 6 * 60);
}
