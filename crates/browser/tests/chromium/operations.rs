//! Every operation, against pages of our own.

use browser::engine::{EngineError, Held, ImageFormat, Locator, Shot, Towards};

use crate::png::Image;
use crate::support::{Server, page, program, soon};

/// An element by a selector.
fn by(selector: &str) -> Locator {
    Locator::Selector(selector.to_owned())
}

/// The reference that a tree gives to the line that holds this.
fn reference(tree: &str, text: &str) -> Locator {
    let line = tree.lines().find(|line| line.contains(text));
    let line = line.unwrap_or_else(|| panic!("{text} is not in {tree}"));
    let (_, rest) = line.split_once("[ref=").unwrap_or_else(|| panic!("no reference: {line}"));
    Locator::Reference(rest.split_once(']').unwrap().0.to_owned())
}

/// The tree of a page.
async fn tree(page: &mut Held) -> String {
    page.snapshot(1 << 20, soon()).await.unwrap().tree
}

/// What the script of a page has put into its title.
async fn title(page: &mut Held) -> String {
    page.snapshot(1 << 20, soon()).await.unwrap().title
}

#[tokio::test]
async fn a_page_is_opened_and_told() {
    let Some(program) = program() else { return };
    let server = Server::start(&[
        ("/start", "!302\n\n/middle".to_owned()),
        ("/middle", "!307\n\n/end".to_owned()),
        ("/end", "<title>The &amp; end</title><p>Text".to_owned()),
        ("/gone", "!404\ntext/html\n<title>No</title>".to_owned()),
        ("/onward", "<script>location.replace('/end')</script>".to_owned()),
        (
            "/built",
            "<body><script>document.body.textContent = 'made by a script'</script>".to_owned(),
        ),
    ])
    .await;
    let (_pages, mut page) = page(program, &server).await;
    let visit = page.navigate(&server.url("/start"), soon()).await.unwrap();
    assert_eq!((visit.status, visit.title.as_str()), (Some(200), "The & end"));
    assert_eq!(visit.url, server.url("/end"));
    assert_eq!(visit.content_type.as_deref(), Some("text/html; charset=utf-8"));
    assert!(visit.is_complete && visit.notices.is_empty(), "{visit:?}");
    let hops: Vec<_> = visit.hops.iter().map(|hop| (hop.status, hop.url.clone())).collect();
    let expected = [(302, "/start"), (307, "/middle"), (200, "/end")];
    assert_eq!(hops, expected.map(|(status, path)| (status, server.url(path))));

    let missing = page.navigate(&server.url("/gone"), soon()).await.unwrap();
    assert_eq!((missing.status, missing.title.as_str()), (Some(404), "No"));

    let onward = page.navigate(&server.url("/onward"), soon()).await.unwrap();
    assert_eq!((onward.url, onward.title.as_str()), (server.url("/end"), "The & end"));

    page.navigate(&server.url("/built"), soon()).await.unwrap();
    let rendered = page.html(1 << 20, soon()).await.unwrap();
    assert_eq!((rendered.url, rendered.is_whole), (server.url("/built"), true));
    assert!(rendered.html.contains("<body>made by a script</body>"), "{}", rendered.html);
    let cut = page.html(10, soon()).await.unwrap();
    assert_eq!((cut.html.as_str(), cut.is_whole), ("<html><hea", false));
}

#[tokio::test]
async fn a_server_that_is_not_there_or_never_answers_is_told() {
    let Some(program) = program() else { return };
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let reached = [silent.local_addr().unwrap(), gone.local_addr().unwrap()];
    drop(gone);
    let settings = browser::engine::Settings::default();
    let pages = crate::support::pages_with(program, &reached, settings);
    let (_, mut page) = pages.open().await.unwrap();
    let refused = page.navigate(&format!("http://{}/", reached[1]), soon()).await.unwrap();
    assert_eq!(refused.status, Some(502), "the proxy's own answer");
    let short = tokio::time::Instant::now() + std::time::Duration::from_secs(1);
    let late = page.navigate(&format!("http://{}/", reached[0]), short).await.unwrap_err();
    assert!(matches!(late, EngineError::TimedOut { .. }), "{late}");
}

const FORM: &str = r#"<!doctype html><title>Form</title>
<style>#cover { position: fixed; left: 0; top: 300px; width: 400px; height: 100px; background: silver }
#covered { position: fixed; left: 10px; top: 310px } #far { margin-top: 3000px }</style>
<label>Name <input id=name value=old></label>
<input id=ro readonly value=kept aria-label=Fixed>
<textarea aria-label=Notes></textarea>
<div id=rich contenteditable aria-label=Rich role=textbox></div>
<select aria-label=Colour><option value=r>Red</option><option value=g>Green</option></select>
<input type=file id=file aria-label=Upload>
<input type=checkbox id=agree aria-label=Agree>
<button id=off disabled>Off</button>
<button id=go onclick="document.title = 'clicked ' + event.isTrusted">Go</button>
<button id=covered onclick="document.title = 'through'">Under</button><div id=cover></div>
<button id=hidden style="display:none">Hidden</button>
<a href="/next">Onward</a>
<a href="/next" target=_blank>Window</a>
<form action="/next"><input id=q name=q aria-label=Query></form>
<div id=host></div>
<iframe srcdoc="<button onclick='parent.document.title = &quot;framed&quot;'>Inner</button>"></iframe>
<button id=far onclick="document.title = 'far'">Far</button>
<script>
const shadow = document.getElementById('host').attachShadow({mode: 'open'});
shadow.innerHTML = "<button onclick=\"document.title = 'shadowed'\">Shadow</button>";
document.querySelector('select').onchange = e => document.title = 'chose ' + e.target.value;
document.getElementById('name').oninput = e => document.title = 'name ' + e.target.value;
</script>"#;

#[tokio::test]
async fn elements_are_clicked_as_a_person_would() {
    let Some(program) = program() else { return };
    let next = "<title>Next</title>".to_owned();
    let server = Server::start(&[("/", FORM.to_owned()), ("/next", next)]).await;
    let (_pages, mut page) = page(program, &server).await;
    page.navigate(&server.url("/"), soon()).await.unwrap();
    let seen = tree(&mut page).await;
    for (name, expected) in [
        ("button \"Go\"", "clicked true"),
        ("button \"Far\"", "far"),
        ("button \"Shadow\"", "shadowed"),
        ("button \"Inner\"", "framed"),
    ] {
        let acted = page.click(&reference(&seen, name), soon()).await.unwrap();
        assert_eq!((acted.title.as_str(), acted.has_navigated), (expected, false));
    }
    page.click(&by("#agree"), soon()).await.unwrap();
    let checked = tree(&mut page).await;
    assert!(checked.contains("checkbox \"Agree\"") && checked.contains(" checked"), "{checked}");

    for (locator, expected) in [
        (reference(&seen, "button \"Off\""), "it is disabled"),
        (by("#covered"), "it is covered by <div#cover>"),
        (by("#hidden"), "it is not visible"),
        (by("#file"), "files can't be uploaded"),
        (by("select"), "an option is chosen by typing"),
        (by("#absent"), "it matches no element"),
        (Locator::Reference("e4096".to_owned()), "no snapshot has given this reference"),
    ] {
        let error = page.click(&locator, soon()).await.unwrap_err();
        assert!(matches!(error, EngineError::Element { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert_ne!(title(&mut page).await, "through");
    let bad = page.click(&by("p:::"), soon()).await.unwrap_err();
    assert!(matches!(bad, EngineError::Argument { name: "selector", .. }), "{bad}");

    let window = page.click(&reference(&seen, "link \"Window\""), soon()).await.unwrap();
    assert_eq!((window.has_navigated, window.notices.windows.count), (false, 1));
    let onward = page.click(&reference(&seen, "link \"Onward\""), soon()).await.unwrap();
    assert_eq!((onward.title.as_str(), onward.has_navigated), ("Next", true));
    let stale = page.click(&reference(&seen, "button \"Go\""), soon()).await.unwrap_err();
    assert!(stale.to_string().contains("a document that is no longer shown"), "{stale}");
}

#[tokio::test]
async fn text_is_written_and_keys_are_pressed() {
    let Some(program) = program() else { return };
    let next = "<title>Next</title><script>document.title = location.search</script>".to_owned();
    let server = Server::start(&[("/", FORM.to_owned()), ("/next", next)]).await;
    let (_pages, mut page) = page(program, &server).await;
    page.navigate(&server.url("/"), soon()).await.unwrap();
    let seen = tree(&mut page).await;
    let name = reference(&seen, "textbox \"Name\"");
    let text = "Zoë 你好 👩‍🚀";
    let acted = page.write(&name, text, (true, false), soon()).await.unwrap();
    assert_eq!(acted.title, format!("name {text}"));
    let added = page.write(&name, "!", (false, false), soon()).await.unwrap();
    assert_eq!(added.title, format!("name {text}!"));
    page.press("Backspace", soon()).await.unwrap();
    assert_eq!(title(&mut page).await, format!("name {text}"));
    page.press("Control+a", soon()).await.unwrap();
    page.press("x", soon()).await.unwrap();
    assert_eq!(title(&mut page).await, "name x");
    page.write(&name, "", (true, false), soon()).await.unwrap();
    assert_eq!(title(&mut page).await, "name");

    for field in ["textbox \"Notes\"", "textbox \"Rich\""] {
        page.write(&reference(&seen, field), "line", (true, false), soon()).await.unwrap();
        let now = tree(&mut page).await;
        let line = now.lines().find(|line| line.contains(field)).unwrap();
        assert!(line.contains("value=\"line\""), "{line}");
    }
    let select = reference(&seen, "combobox \"Colour\"");
    let chosen = page.write(&select, "Green", (true, false), soon()).await.unwrap();
    assert_eq!(chosen.title, "chose g");
    for (locator, expected) in [
        (select, "it has no such option, but Red, Green"),
        (by("#ro"), "it is read-only"),
        (by("#go"), "nothing can be typed into it"),
        (by("#file"), "files can't be uploaded"),
    ] {
        let error = page.write(&locator, "Blue", (true, false), soon()).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let bad = page.press("Entr", soon()).await.unwrap_err();
    assert!(matches!(bad, EngineError::Argument { name: "key", .. }), "{bad}");
    let sent = page.write(&by("#q"), "a b", (true, true), soon()).await.unwrap();
    assert_eq!((sent.title.as_str(), sent.has_navigated), ("?q=a+b", true));
}

#[tokio::test]
async fn a_page_is_scrolled() {
    let Some(program) = program() else { return };
    let tall = "<!doctype html><body style='height: 5000px; margin: 0'><p id=p style='position: absolute; top: 3000px'>x";
    let server = Server::start(&[("/", tall.to_owned())]).await;
    let (_pages, mut page) = page(program, &server).await;
    page.navigate(&server.url("/"), soon()).await.unwrap();
    let mut y = Vec::new();
    for towards in [
        Towards::By { x: 0, y: 300 },
        Towards::By { x: 0, y: -100 },
        Towards::Bottom,
        Towards::Top,
        Towards::Element(by("#p")),
    ] {
        y.push(page.scroll(&towards, soon()).await.unwrap().y);
    }
    assert!(
        y[..4].iter().zip([300.0, 200.0, y[2], 0.0]).all(|(y, e)| (y - e).abs() < 1.0),
        "{y:?}"
    );
    assert!(y[2] > 4000.0 && y[4] > 2000.0, "{y:?}");
}

/// A page of four colours, with a box at the end of a long page.
const COLOURS: &str = "<!doctype html><style>
body { margin: 0; height: 2000px } div { position: absolute; width: 640px; height: 360px }
#a { background: #f00 } #b { background: #0f0; left: 640px } #c { background: #00f; top: 360px }
#d { background: #fc0; left: 640px; top: 360px }
#last { width: 50px; height: 40px; top: 1900px; left: 100px; background: #a0f }
</style><div id=a></div><div id=b></div><div id=c></div><div id=d></div><div id=last></div>";

#[tokio::test]
async fn a_screenshot_shows_what_is_there() {
    let Some(program) = program() else { return };
    let noise = "<canvas id=c width=1280 height=720 style='position:fixed;inset:0'></canvas><script>
        const ctx = c.getContext('2d'), image = ctx.createImageData(1280, 720);
        for (let i = 0; i < image.data.length; i++) image.data[i] = i % 4 == 3 ? 255 : Math.random() * 256;
        ctx.putImageData(image, 0, 0)</script>";
    let server = Server::start(&[("/", COLOURS.to_owned()), ("/noise", noise.to_owned())]).await;
    let (_pages, mut page) = page(program, &server).await;
    page.navigate(&server.url("/"), soon()).await.unwrap();
    let max = 4 << 20;
    let shot = page.screenshot(&Shot::View, ImageFormat::Png, max, soon()).await.unwrap();
    let image = Image::read(&shot.data);
    assert_eq!((image.width, image.height), (1280, 720));
    for (place, colour) in [
        ((10, 10), [255, 0, 0]),
        ((1270, 10), [0, 255, 0]),
        ((10, 710), [0, 0, 255]),
        ((1270, 710), [255, 204, 0]),
        ((639, 359), [255, 0, 0]),
        ((640, 360), [255, 204, 0]),
    ] {
        assert_eq!(image.at(place.0, place.1), colour, "{place:?}");
    }
    let whole = page.screenshot(&Shot::Whole, ImageFormat::Png, max, soon()).await.unwrap();
    let image = Image::read(&whole.data);
    assert_eq!((image.width, image.height), (1280, 2000));
    assert_eq!((image.at(110, 1910), image.at(10, 1500)), ([170, 0, 255], [255, 255, 255]));

    let element = Shot::Element(by("#last"));
    let part = page.screenshot(&element, ImageFormat::Png, max, soon()).await.unwrap();
    let image = Image::read(&part.data);
    assert_eq!((image.width, image.height, image.at(25, 20)), (50, 40, [170, 0, 255]));

    page.navigate(&server.url("/noise"), soon()).await.unwrap();
    let small = page.screenshot(&Shot::View, ImageFormat::Png, 600_000, soon()).await.unwrap();
    assert!(matches!(small.format, ImageFormat::Jpeg(_)) && small.data.len() <= 600_000);
    assert_eq!(small.format.media_type(), "image/jpeg");
    let none = page.screenshot(&Shot::View, ImageFormat::Png, 1000, soon()).await.unwrap_err();
    assert!(none.to_string().contains("no image of it fits"), "{none}");
}

#[tokio::test]
async fn references_last_as_long_as_their_elements() {
    let Some(program) = program() else { return };
    let text = "<title>0</title><ul id=list><li><button onclick='document.title = 1'>One</button></ul>
        <button onclick=\"list.prepend(Object.assign(document.createElement('button'), {textContent: 'New'}))\">Add</button>
        <button onclick='list.lastElementChild.remove()'>Drop</button>";
    let server = Server::start(&[("/", text.to_owned())]).await;
    let (_pages, mut page) = page(program, &server).await;
    page.navigate(&server.url("/"), soon()).await.unwrap();
    let first = tree(&mut page).await;
    let one = reference(&first, "\"One\"");
    page.click(&reference(&first, "\"Add\""), soon()).await.unwrap();
    let second = tree(&mut page).await;
    assert_eq!(reference(&second, "\"One\""), one);
    assert!(!first.contains("\"New\"") && second.contains("\"New\""));
    assert_eq!(page.click(&one, soon()).await.unwrap().title, "1");
    page.click(&reference(&first, "\"Drop\""), soon()).await.unwrap();
    let gone = page.click(&one, soon()).await.unwrap_err();
    assert!(gone.to_string().contains("no longer in the page"), "{gone}");
}
