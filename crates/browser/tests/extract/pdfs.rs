//! The text of PDFs that are made here.

use std::io::Write as _;

use browser::{ExtractError, ExtractOptions, Extracted, Kind, extract};

use super::url;

const ONE_PAGE: &str = "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</X 6 0 R>>>>/Contents 4 0 R>>endobj\n\
    5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[65/eacute/fi/uni20AC]>>>>endobj\n";

fn pdf(objects: &str, content: &[u8], filter: &str) -> Vec<u8> {
    let mut file =
        format!("%PDF-1.7\n{objects}4 0 obj<</Length {}{filter}>>stream\n", content.len())
            .into_bytes();
    file.extend(content);
    file.extend(b"\nendstream endobj\ntrailer<</Root 1 0 R/Info 9 0 R>>\n%%EOF");
    file
}

fn read(file: &[u8]) -> Result<Extracted, ExtractError> {
    extract(file, Some("application/pdf"), &url(), &ExtractOptions::default())
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const CONTENT: &[u8] = b"BT /F1 12 Tf 72 700 Td (First line) Tj 0 -14 Td [(sec) -20 (ond) -400 (line)] TJ 0 -40 Td (New \\(paragraph\\)) Tj ET";

#[test]
fn lines_words_and_paragraphs_are_made_from_places() {
    let objects = format!("9 0 obj<</Title<FEFF005400EF>>>endobj\n{ONE_PAGE}");
    for (content, filter) in [(CONTENT.to_vec(), ""), (deflate(CONTENT), "/Filter/FlateDecode")] {
        let got = read(&pdf(&objects, &content, filter)).unwrap();
        assert_eq!(got.kind, Kind::Pdf);
        assert_eq!(got.content, "First line\nsecond line\n\nNew (paragraph)");
        assert_eq!(got.title.as_deref(), Some("Tï"));
    }
}

#[test]
fn codes_are_read_by_the_encoding_of_the_font() {
    let got = read(&pdf(ONE_PAGE, b"BT /F1 10 Tf (cafA Bn C5 \\223q\\224) Tj ET", "")).unwrap();
    assert_eq!(got.content, "café fin €5 “q”");
    let map = "/CIDInit begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange \
        2 beginbfchar <0001> <0041> <0002> <D83DDE00> endbfchar 1 beginbfrange <0010> <0012> <0061> endbfrange endcmap";
    let objects = ONE_PAGE.replace(
        "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica",
        "5 0 obj<</Type/Font/Subtype/Type0/ToUnicode 7 0 R",
    );
    let objects =
        format!("{objects}7 0 obj<</Length {}>>stream\n{map}\nendstream endobj\n", map.len());
    let got = read(&pdf(&objects, b"BT /F1 10 Tf <000100100011001200020099> Tj ET", "")).unwrap();
    assert_eq!(got.content, "Aabc😀");
}

#[test]
fn forms_are_run_and_hold_themselves_in_vain() {
    let form = "/X Do BT /F1 10 Tf (in the form) Tj ET";
    let form =
        format!("6 0 obj<</Subtype/Form/Length {}>>stream\n{form}\nendstream endobj\n", form.len());
    let got = read(&pdf(&format!("{ONE_PAGE}{form}"), b"/X Do", "")).unwrap();
    assert!(got.content.contains("in the form"));
    assert!(got.content.len() < 200);
}

#[test]
fn objects_in_packed_streams_are_found() {
    let root = "<</Type/Catalog/Pages 2 0 R>>";
    let head = format!("1 0 2 {} ", root.len());
    let packed = deflate(format!("{head}{root}<</Type/Pages/Kids[3 0 R]/Count 1>>").as_bytes());
    let mut file = b"%PDF-1.7\n".to_vec();
    writeln!(
        file,
        "8 0 obj<</Type/ObjStm/N 2/First {}/Filter/FlateDecode/Length {}>>stream",
        head.len(),
        packed.len()
    )
    .unwrap();
    file.extend(packed);
    file.extend(b"\nendstream endobj\n");
    let rest = ONE_PAGE.split_once("3 0 obj").map(|(_, rest)| format!("3 0 obj{rest}")).unwrap();
    file.extend(pdf(&rest, CONTENT, ""));
    assert!(read(&file).unwrap().content.starts_with("First line"));
}

#[test]
fn text_that_is_not_shown_is_dropped_where_there_is_other_text() {
    let both = b"BT /F1 10 Tf (seen) Tj 3 Tr 0 -50 Td (SECRET) Tj ET";
    let got = read(&pdf(ONE_PAGE, both, "")).unwrap();
    assert_eq!((got.content.as_str(), got.hidden_characters), ("seen", 6));
    let scanned = read(&pdf(ONE_PAGE, b"BT /F1 10 Tf 3 Tr (scanned text) Tj ET", "")).unwrap();
    assert_eq!((scanned.content.as_str(), scanned.hidden_characters), ("scanned text", 0));
}

#[test]
fn what_can_not_be_read_is_refused_with_why() {
    let encrypted = pdf(ONE_PAGE, CONTENT, "")
        .into_iter()
        .chain(*b"\ntrailer<</Encrypt 8 0 R>>")
        .collect::<Vec<_>>();
    assert_eq!(read(&encrypted), Err(ExtractError::Pdf { problem: "it is encrypted" }));
    let empty = read(b"%PDF-1.4\nnothing");
    assert_eq!(empty, Err(ExtractError::Pdf { problem: "it has no pages that can be found" }));
}

#[test]
fn a_stream_that_unpacks_to_a_gigabyte_is_cut() {
    let bomb = deflate(&deflate(&vec![b' '; 200_000_000]));
    let got = read(&pdf(ONE_PAGE, &bomb, "/Filter[/FlateDecode/FlateDecode]")).unwrap();
    assert!(got.cut.is_some());
}
