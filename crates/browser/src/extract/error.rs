//! Why nothing could be taken out of a document.

/// Why nothing could be taken out of a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// It holds no text: an image, an archive, a program.
    #[error("the document is {media_type}, which holds no text to extract")]
    NotText {
        /// What it is.
        media_type: String,
    },
    /// The selector is not one.
    #[error("the selector is not valid at character {position}: {problem}")]
    Selector {
        /// Where, counted from 0.
        position: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A selector was given for what has no elements.
    #[error("a selector needs HTML, and the document is {kind}")]
    NoElements {
        /// What it is.
        kind: &'static str,
    },
    /// The PDF can't be read.
    #[error("the PDF can't be read: {problem}")]
    Pdf {
        /// Why.
        problem: &'static str,
    },
}
