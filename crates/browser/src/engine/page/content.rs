//! A page as HTML, as its scripts have made it.

use serde::Deserialize;
use tokio::time::Instant;

use super::{EngineError, Page};

/// The HTML of a page after its scripts have run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Where the page is.
    pub url: String,
    /// Its HTML; the first part of it where it is longer than was asked for.
    pub html: String,
    /// Whether that is all of it.
    pub is_whole: bool,
    /// The status of the answer that the page was made of, where one came over HTTP.
    pub status: Option<u16>,
}

#[derive(Deserialize)]
struct Told {
    url: String,
    html: String,
    whole: bool,
}

impl Page {
    /// The HTML of the page, at most about this many bytes of it.
    ///
    /// # Errors
    /// The page does not answer before the deadline.
    pub async fn html(
        &mut self,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<Rendered, EngineError> {
        let begun = Instant::now();
        let target = self.begin(deadline).await?;
        // A character of JavaScript has at most three bytes in UTF-8, so this is cut once more here.
        let expression = format!(
            "(() => {{ const html = document.documentElement?.outerHTML ?? ''; \
             return {{url: document.URL, html: html.slice(0, {max_bytes}), whole: html.length <= {max_bytes}}}; }})()"
        );
        let done = self.evaluate::<Told>(&target, &expression, deadline).await;
        let Told { url, html, whole } =
            self.finish(done).map_err(|error| error.after(begun.elapsed()))?;
        let cut = tool_core::clip(&html, max_bytes);
        let is_whole = whole && cut.len() == html.len();
        let status = self.state.borrow().hops.last().map(|hop| hop.status);
        Ok(Rendered { url, html: cut.to_owned(), is_whole, status })
    }
}
