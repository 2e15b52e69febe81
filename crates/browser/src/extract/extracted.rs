//! What an extraction gives.

use std::time::Duration;

use url::Url;

/// What kind of document the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// HTML, or XHTML.
    Html,
    /// Plain text.
    Text,
    /// Markdown, given as it is.
    Markdown,
    /// One JSON document.
    Json,
    /// JSON documents, one a line.
    JsonLines,
    /// An RSS or Atom feed.
    Feed,
    /// Other XML, given as it is.
    Xml,
    /// A PDF.
    Pdf,
}

impl Kind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Json => "json",
            Self::JsonLines => "json-lines",
            Self::Feed => "feed",
            Self::Xml => "xml",
            Self::Pdf => "pdf",
        }
    }
}

/// How the character encoding was found, most trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharsetSource {
    /// A byte order mark.
    Bom,
    /// The `Content-Type` header.
    Header,
    /// A `meta` element within the first 1,024 bytes, or the XML declaration.
    Declared,
    /// A guess from the bytes.
    Detected,
    /// Nothing spoke for another: UTF-8.
    Default,
}

impl CharsetSource {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bom => "bom",
            Self::Header => "header",
            Self::Declared => "declared",
            Self::Detected => "detected",
            Self::Default => "default",
        }
    }
}

/// The character encoding of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset {
    /// Its name, as the Encoding Standard writes it.
    pub name: &'static str,
    /// How it was found.
    pub source: CharsetSource,
    /// Whether bytes did not fit it and were replaced.
    pub malformed: bool,
}

/// What a page says about itself. All of it is the page's word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Who wrote it.
    pub author: Option<String>,
    /// When it was published, as written there.
    pub date: Option<String>,
    /// Its language, as a language tag.
    pub language: Option<String>,
    /// The address that it wants to be known by.
    pub canonical: Option<Url>,
    /// A summary.
    pub description: Option<String>,
    /// The name of the site.
    pub site: Option<String>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What is to be clicked on.
    pub text: String,
    /// Where it leads: absolute, and of a scheme that can be followed.
    pub url: Url,
}

/// A page's wish to be replaced by another. Nothing follows it by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refresh {
    /// After how long.
    pub after: Duration,
    /// By which page.
    pub url: Url,
}

/// Why a part of the document is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The document is longer than what is read, or has more nodes.
    Size,
    /// The time was over.
    Time,
    /// The content is longer than what is given.
    Content,
}

impl Cut {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Time => "time",
            Self::Content => "content",
        }
    }
}

/// What was taken out of a page. Every text in it is the page's, and says what the page wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// What kind of document it is.
    pub kind: Kind,
    /// Its title, on one line.
    pub title: Option<String>,
    /// The content, in the form that was asked for; where the kind has only one form, in that.
    pub content: String,
    /// What the page says about itself.
    pub metadata: Metadata,
    /// Its links, in the order of the page, each address once.
    pub links: Vec<Link>,
    /// Its encoding.
    pub charset: Charset,
    /// How many elements the selector matched, where there was one.
    pub matches: Option<usize>,
    /// Characters of text that a reader would not see, and that were left out.
    pub hidden_characters: usize,
    /// Whether the content is likely made by scripts, which do not run here.
    pub needs_javascript: bool,
    /// Whether no main content was found, and the content is all of the page, hidden parts included.
    pub unfiltered: bool,
    /// Pages that it wants to be replaced by.
    pub refreshes: Vec<Refresh>,
    /// Sources of its frames.
    pub frames: Vec<Url>,
    /// Why a part of it is missing.
    pub cut: Option<Cut>,
}
