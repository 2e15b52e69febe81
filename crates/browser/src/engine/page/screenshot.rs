//! A page as an image.

use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::super::state::Target;
use super::element::problem;
use super::{EngineError, Locator, Page};

/// The highest page that is shown whole, in CSS pixels.
const MAX_HEIGHT: f64 = 8192.0;

/// What is tried where an image is too large: the quality of a JPEG, and its scale.
const SMALLER: [(u8, f64); 5] = [(80, 1.0), (50, 1.0), (60, 0.5), (40, 0.35), (30, 0.2)];

/// The form of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageFormat {
    /// Without loss.
    #[default]
    Png,
    /// Smaller; the quality in percent.
    Jpeg(u8),
}

/// What is shown of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shot {
    /// What is in view.
    #[default]
    View,
    /// All of it, to a height of 8192 CSS pixels.
    Whole,
    /// One element.
    Element(Locator),
}

/// An image of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screenshot {
    /// Its bytes in base64.
    pub data: String,
    /// Its form.
    pub format: ImageFormat,
    /// Where the page is.
    pub url: String,
    /// Its title.
    pub title: String,
}

impl ImageFormat {
    /// Its name as a media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg(_) => "image/jpeg",
        }
    }
}

#[derive(Deserialize)]
struct Captured {
    data: String,
}

#[derive(Deserialize)]
struct Modelled {
    model: BoxModel,
}

#[derive(Deserialize)]
struct BoxModel {
    border: [f64; 8],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    css_content_size: Rectangle,
    css_layout_viewport: Offset,
}

#[derive(Deserialize)]
struct Rectangle {
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offset {
    page_x: f64,
    page_y: f64,
    client_width: f64,
    client_height: f64,
}

/// A part of the document, in CSS pixels.
struct Clip {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Page {
    /// Shows the page, no larger than `max_bytes` of base64: where that would be larger, it is a JPEG
    /// of a quality and a scale that fit.
    ///
    /// # Errors
    /// The element is not there; no image fits; or the deadline passed.
    pub async fn screenshot(
        &mut self,
        shot: &Shot,
        format: ImageFormat,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<Screenshot, EngineError> {
        let begun = Instant::now();
        let target = self.begin(deadline).await?;
        let done = async {
            // The browser says where the page is while the page paints.
            let showing = self.show(&target, shot, format, max_bytes, deadline);
            let (shown, place) = tokio::join!(showing, self.place(&target, deadline));
            let ((data, format), place) = (shown?, place?);
            Ok(Screenshot { data, format, url: place.url, title: place.title })
        };
        let done = done.await;
        if matches!(shot, Shot::Element(_)) {
            self.release(&target);
        }
        self.finish(done).map_err(|error| error.after(begun.elapsed()))
    }

    /// An image that fits.
    async fn show(
        &self,
        target: &Target,
        shot: &Shot,
        format: ImageFormat,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<(String, ImageFormat), EngineError> {
        if *shot == Shot::View {
            // The most frequent one, in one question: what is in view needs no rectangle.
            let data = self.capture(target, None, (format, 1.0), deadline).await?;
            if data.len() <= max_bytes {
                return Ok((data, format));
            }
        }
        let clip = self.clip(target, shot, deadline).await?;
        self.fitting(target, &clip, format, max_bytes, deadline).await
    }

    /// The first image that fits: as asked for, and then smaller and smaller.
    async fn fitting(
        &self,
        target: &Target,
        clip: &Clip,
        format: ImageFormat,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<(String, ImageFormat), EngineError> {
        let smaller = SMALLER.map(|(quality, scale)| (ImageFormat::Jpeg(quality), scale));
        for (format, scale) in [(format, 1.0)].into_iter().chain(smaller) {
            let data = self.capture(target, Some(clip), (format, scale), deadline).await?;
            if data.len() <= max_bytes {
                return Ok((data, format));
            }
        }
        Err(EngineError::Browser(format!("no image of it fits into {max_bytes} bytes")))
    }

    async fn capture(
        &self,
        target: &Target,
        clip: Option<&Clip>,
        (format, scale): (ImageFormat, f64),
        deadline: Instant,
    ) -> Result<String, EngineError> {
        let mut asked = match format {
            ImageFormat::Png => json!({"format": "png"}),
            ImageFormat::Jpeg(quality) => json!({"format": "jpeg", "quality": quality}),
        };
        if let Some(Clip { x, y, width, height }) = clip {
            asked["clip"] =
                json!({"x": x, "y": y, "width": width, "height": height, "scale": scale});
            asked["captureBeyondViewport"] = true.into();
        }
        let Captured { data } =
            self.call(target, "Page.captureScreenshot", asked, deadline).await?;
        Ok(data)
    }

    /// The part of the document to show.
    async fn clip(
        &self,
        target: &Target,
        shot: &Shot,
        deadline: Instant,
    ) -> Result<Clip, EngineError> {
        let Metrics { css_content_size: size, css_layout_viewport: view } =
            self.call(target, "Page.getLayoutMetrics", json!({}), deadline).await?;
        let Shot::Element(locator) = shot else {
            return Ok(match shot {
                Shot::Whole => Clip {
                    x: 0.0,
                    y: 0.0,
                    width: size.width.min(MAX_HEIGHT),
                    height: size.height.min(MAX_HEIGHT),
                },
                _ => Clip {
                    x: view.page_x,
                    y: view.page_y,
                    width: view.client_width,
                    height: view.client_height,
                },
            });
        };
        let element = self.find(target, locator, deadline).await?;
        let asked = json!({"backendNodeId": element.node});
        let border = match self.call::<Modelled>(target, "DOM.getBoxModel", asked, deadline).await {
            Err(EngineError::Browser(_)) => {
                return Err(problem(&element.name, "it is not visible"));
            }
            answer => answer?.model.border,
        };
        let side = |first: usize| {
            let corners = border.iter().skip(first).step_by(2);
            corners.fold((f64::MAX, f64::MIN), |(low, high), &at| (low.min(at), high.max(at)))
        };
        let ((left, right), (top, bottom)) = (side(0), side(1));
        let (width, height) = ((right - left).min(MAX_HEIGHT), (bottom - top).min(MAX_HEIGHT));
        if width < 1.0 || height < 1.0 {
            return Err(problem(&element.name, "it is not visible"));
        }
        let (x, y) = (left + view.page_x, top + view.page_y);
        Ok(Clip { x, y, width, height })
    }
}
