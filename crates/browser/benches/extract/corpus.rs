//! Pages with ground truth, in the layouts of the two public benchmarks.
//!
//! - Articles: `ground-truth.json` with `{ID: {articleBody, url}}`, and `html/ID.html.gz`.
//! - All kinds: `ground-truth/ID.json` with `{url, ground_truth: {main_content}, _internal: {page_type}}`,
//!   and `html/ID.html.gz`.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use serde_json::Value;
use url::Url;

/// A page with what is its content.
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) html: Vec<u8>,
    pub(crate) url: Url,
    pub(crate) truth: String,
}

/// The pages of a folder, by name.
pub(crate) fn load(folder: &Path) -> Vec<Page> {
    let articles = folder.join("ground-truth.json");
    let mut pages = if articles.is_file() {
        let truths = read_json(&articles);
        let truths = truths.as_object().unwrap();
        truths
            .iter()
            .map(|(id, truth)| page(folder, id, "article", &truth["articleBody"], truth))
            .collect()
    } else {
        let files = fs::read_dir(folder.join("ground-truth")).unwrap();
        let mut pages = Vec::new();
        for file in files {
            let path: PathBuf = file.unwrap().path();
            let truth = read_json(&path);
            let kind = truth["_internal"]["page_type"]["primary"].as_str().unwrap_or("article");
            let kind = if kind == "category" { "collection" } else { kind };
            let id = path.file_stem().unwrap().to_str().unwrap();
            pages.push(page(folder, id, kind, &truth["ground_truth"]["main_content"], &truth));
        }
        pages
    };
    pages.sort_by(|a: &Page, b: &Page| a.id.cmp(&b.id));
    pages
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn page(folder: &Path, id: &str, kind: &str, content: &Value, truth: &Value) -> Page {
    let packed = fs::File::open(folder.join(format!("html/{id}.html.gz"))).unwrap();
    let mut html = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut html).unwrap();
    let url = truth["url"].as_str().unwrap_or_default();
    let url = Url::parse(url).unwrap_or_else(|_| Url::parse("https://example.com/").unwrap());
    let truth = content.as_str().unwrap_or_default().to_owned();
    Page { id: id.to_owned(), kind: kind.to_owned(), html, url, truth }
}
