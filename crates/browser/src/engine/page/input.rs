//! Clicking, typing, pressing and scrolling, as a person would: a click goes to a place on the screen, and
//! is refused where something else lies on it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::super::state::{Notices, Target};
use super::element::{Element, problem};
use super::geometry::{Viewport, area, middle};
use super::keys::{self, Stroke};
use super::navigate::Place;
use super::scripts::{CHOOSE, COVER, FACTS, SELECT_ALL};
use super::{EngineError, Locator, Page};

/// How long something that a page does by itself has to begin.
const REACTION: Duration = Duration::from_millis(50);

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Acted {
    /// Where the page is now.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Whether it shows another document than before.
    pub has_navigated: bool,
    /// Whether what it shows is a page about an error, since what it led to was refused or not there.
    pub is_error_page: bool,
    /// What happened that nobody asked for.
    pub notices: Notices,
}

/// Where to scroll.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Towards {
    /// By CSS pixels to the right and down; negative ones to the left and up.
    By {
        /// To the right.
        x: i32,
        /// Down.
        y: i32,
    },
    /// To the beginning of the page.
    Top,
    /// To its end.
    Bottom,
    /// To an element.
    Element(Locator),
}

/// Where a page is scrolled to, in CSS pixels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scrolled {
    /// From its left edge.
    pub x: f64,
    /// From its upper edge.
    pub y: f64,
    /// How wide all of it is.
    pub width: f64,
    /// How high.
    pub height: f64,
}

#[derive(Deserialize)]
struct Facts {
    tag: String,
    kind: String,
    disabled: bool,
    read_only: bool,
    writable: bool,
}

#[derive(Deserialize)]
struct Quads {
    quads: Vec<[f64; 8]>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    css_layout_viewport: Viewport,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Located {
    backend_node_id: u64,
}

impl Page {
    /// Clicks an element.
    ///
    /// # Errors
    /// The element is not there, not visible, disabled or covered; or the deadline passed.
    pub async fn click(&mut self, at: &Locator, deadline: Instant) -> Result<Acted, EngineError> {
        let begun = Instant::now();
        let target = self.begin(deadline).await?;
        let before = self.state.borrow().documents;
        let done = async {
            let element = self.find(&target, at, deadline).await?;
            let facts = self.usable(&target, &element, deadline).await?;
            if facts.tag == "select" || facts.tag == "option" {
                return Err(problem(
                    &element.name,
                    "an option is chosen by typing it into the select",
                ));
            }
            self.click_element(&target, &element, deadline).await?;
            self.acted(&target, before, deadline).await
        };
        let done = done.await;
        self.release(&target);
        self.finish(done).map_err(|error| error.after(begun.elapsed()))
    }

    /// Writes text into an element, or chooses an option of a `select`. What is there is replaced where
    /// `replace` says so; `submit` presses Enter afterwards.
    ///
    /// # Errors
    /// The element is not there, or nothing can be written into it; or the deadline passed.
    pub async fn write(
        &mut self,
        into: &Locator,
        text: &str,
        (replace, submit): (bool, bool),
        deadline: Instant,
    ) -> Result<Acted, EngineError> {
        let begun = Instant::now();
        let target = self.begin(deadline).await?;
        let before = self.state.borrow().documents;
        let done = async {
            let element = self.find(&target, into, deadline).await?;
            let facts = self.usable(&target, &element, deadline).await?;
            if facts.tag == "select" {
                self.choose(&target, &element, text, deadline).await?;
            } else {
                check_writable(&element, &facts)?;
                self.write_element(&target, &element, text, replace, deadline).await?;
            }
            if submit {
                self.stroke(&target, "Enter", deadline).await?;
            }
            self.acted(&target, before, deadline).await
        };
        let done = done.await;
        self.release(&target);
        self.finish(done).map_err(|error| error.after(begun.elapsed()))
    }

    /// Presses a key, such as `Enter` or `Control+a`, where the focus is.
    ///
    /// # Errors
    /// No such key, or the deadline passed.
    pub async fn press(&mut self, key: &str, deadline: Instant) -> Result<Acted, EngineError> {
        let begun = Instant::now();
        let target = self.begin(deadline).await?;
        let before = self.state.borrow().documents;
        let done = async {
            self.stroke(&target, key, deadline).await?;
            self.acted(&target, before, deadline).await
        };
        let done = done.await;
        self.finish(done).map_err(|error| error.after(begun.elapsed()))
    }

    /// Scrolls the page.
    ///
    /// # Errors
    /// The element is not there, or the deadline passed.
    pub async fn scroll(
        &mut self,
        towards: &Towards,
        deadline: Instant,
    ) -> Result<Scrolled, EngineError> {
        let begun = Instant::now();
        let target = self.begin(deadline).await?;
        let done = async {
            let step = match towards {
                Towards::By { x, y } => {
                    format!("scrollBy({{left: {x}, top: {y}, behavior: 'instant'}})")
                }
                Towards::Top => "scrollTo({left: 0, top: 0, behavior: 'instant'})".to_owned(),
                Towards::Bottom => {
                    "scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})"
                        .to_owned()
                }
                Towards::Element(at) => {
                    let element = self.find(&target, at, deadline).await?;
                    self.show_element(&target, &element, deadline).await?;
                    "0".to_owned()
                }
            };
            let expression = format!(
                "({step}, {{x: scrollX, y: scrollY, width: document.documentElement.scrollWidth, \
                 height: document.documentElement.scrollHeight}})"
            );
            self.evaluate(&target, &expression, deadline).await
        };
        let done = done.await;
        self.release(&target);
        self.finish(done).map_err(|error| error.after(begun.elapsed()))
    }

    /// What an element is, if it may be used.
    async fn usable(
        &self,
        target: &Target,
        element: &Element,
        deadline: Instant,
    ) -> Result<Facts, EngineError> {
        let facts: Facts = self.call_on(target, element, FACTS, Vec::new(), deadline).await?;
        if facts.disabled {
            return Err(problem(&element.name, "it is disabled"));
        }
        if facts.kind == "file" {
            return Err(problem(&element.name, "files can't be uploaded"));
        }
        Ok(facts)
    }

    /// Brings an element into view.
    async fn show_element(
        &self,
        target: &Target,
        element: &Element,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let asked = json!({"backendNodeId": element.node});
        match self.call::<Value>(target, "DOM.scrollIntoViewIfNeeded", asked, deadline).await {
            Ok(_) => Ok(()),
            Err(EngineError::Browser(said)) if said.contains("detached") => {
                Err(problem(&element.name, "it is no longer in the page; take a snapshot"))
            }
            Err(EngineError::Browser(_)) => Err(problem(&element.name, "it is not visible")),
            Err(other) => Err(other),
        }
    }

    /// Clicks in the middle of what is visible of an element.
    async fn click_element(
        &self,
        target: &Target,
        element: &Element,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.show_element(target, element, deadline).await?;
        let asked = json!({"backendNodeId": element.node});
        let Quads { quads } = match self.call(target, "DOM.getContentQuads", asked, deadline).await
        {
            Err(EngineError::Browser(_)) => Quads { quads: Vec::new() },
            answer => answer?,
        };
        let quad = quads.iter().find(|quad| area(quad) >= 1.0);
        let quad = quad.ok_or_else(|| problem(&element.name, "it is not visible"))?;
        let Metrics { css_layout_viewport: view } =
            self.call(target, "Page.getLayoutMetrics", json!({}), deadline).await?;
        let (x, y) = middle(quad, &view);
        self.check_cover(target, element, (x + view.page_x, y + view.page_y), deadline).await?;
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let count = i32::from(kind != "mouseMoved");
            let button = if count == 0 { "none" } else { "left" };
            let event =
                json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": count});
            self.call::<Value>(target, "Input.dispatchMouseEvent", event, deadline).await?;
        }
        Ok(())
    }

    /// Whether something else lies where a click would go.
    async fn check_cover(
        &self,
        target: &Target,
        element: &Element,
        (x, y): (f64, f64),
        deadline: Instant,
    ) -> Result<(), EngineError> {
        // A whole number is asked for.
        let asked = json!({"x": x.floor(), "y": y.floor(), "ignorePointerEventsNone": true});
        let hit: Located = match self.call(target, "DOM.getNodeForLocation", asked, deadline).await
        {
            Err(EngineError::Browser(_)) => {
                return Err(problem(&element.name, "it is not visible"));
            }
            answer => answer?,
        };
        if hit.backend_node_id == element.node {
            return Ok(());
        }
        let hit = self.resolve(target, &element.name, hit.backend_node_id, deadline).await?;
        let arguments = vec![json!({"objectId": hit.object})];
        let cover = match self.call_on(target, element, COVER, arguments, deadline).await {
            // What was hit is in another frame.
            Err(EngineError::Browser(_)) => Some("something in another frame".to_owned()),
            answer => answer?,
        };
        match cover {
            None => Ok(()),
            Some(cover) => Err(problem(&element.name, format!("it is covered by {cover}"))),
        }
    }

    async fn choose(
        &self,
        target: &Target,
        element: &Element,
        wanted: &str,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let arguments = vec![json!({"value": wanted})];
        let others: Option<Vec<String>> =
            self.call_on(target, element, CHOOSE, arguments, deadline).await?;
        match others {
            None => Ok(()),
            Some(others) => Err(problem(
                &element.name,
                format!("it has no such option, but {}", others.join(", ")),
            )),
        }
    }

    async fn write_element(
        &self,
        target: &Target,
        element: &Element,
        text: &str,
        replace: bool,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let asked = json!({"backendNodeId": element.node});
        match self.call::<Value>(target, "DOM.focus", asked, deadline).await {
            Err(EngineError::Browser(_)) => {
                return Err(problem(&element.name, "it is not visible"));
            }
            answer => answer?,
        };
        if replace {
            self.call_on::<Value>(target, element, SELECT_ALL, Vec::new(), deadline).await?;
            if text.is_empty() {
                return self.stroke(target, "Delete", deadline).await;
            }
        }
        self.call::<Value>(target, "Input.insertText", json!({"text": text}), deadline).await?;
        Ok(())
    }

    async fn stroke(
        &self,
        target: &Target,
        key: &str,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let stroke = Stroke::of(key).ok_or_else(|| EngineError::Argument {
            name: "key",
            problem: format!("{key:?} is no key; accepted: {}", keys::ACCEPTED),
        })?;
        for event in stroke.events() {
            self.call::<Value>(target, "Input.dispatchKeyEvent", event, deadline).await?;
        }
        Ok(())
    }

    /// Waits for what an action began, and says where the page is.
    async fn acted(
        &mut self,
        target: &Target,
        before: u64,
        deadline: Instant,
    ) -> Result<Acted, EngineError> {
        sleep(REACTION).await;
        self.come_to_rest(target, deadline).await?;
        let Place { url, title } = self.place(target, deadline).await?;
        let has_navigated = self.state.borrow().documents != before;
        let is_error_page = self.state.borrow().is_error_page;
        Ok(Acted { url, title, has_navigated, is_error_page, notices: self.take_notices() })
    }
}

fn check_writable(element: &Element, facts: &Facts) -> Result<(), EngineError> {
    if !facts.writable {
        return Err(problem(&element.name, "nothing can be typed into it"));
    }
    if facts.read_only {
        return Err(problem(&element.name, "it is read-only"));
    }
    Ok(())
}
