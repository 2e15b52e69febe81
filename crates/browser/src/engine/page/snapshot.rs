//! A page as a tree of what a person would hear of it, with references for what can be used.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::super::state::Target;
use super::tree::{AxNode, Lines};
use super::{EngineError, Page};

/// The most elements of a page of which a tree is made.
const MAX_ELEMENTS: u64 = 50_000;

/// The most documents within a page that are shown.
const MAX_FRAMES: usize = 16;

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Where the page is.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The tree: an element a line.
    pub tree: String,
    /// How many lines were left out.
    pub left_out: usize,
}

#[derive(Deserialize)]
struct Tree {
    nodes: Vec<AxNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    frame_tree: FrameTree,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTree {
    frame: Frame,
    #[serde(default)]
    child_frames: Vec<FrameTree>,
}

#[derive(Deserialize)]
struct Frame {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    backend_node_id: u64,
}

impl Page {
    /// The tree of the page, at most this many bytes of it.
    ///
    /// # Errors
    /// The page is too large, or the deadline passed.
    pub async fn snapshot(
        &mut self,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<Snapshot, EngineError> {
        let begun = Instant::now();
        let target = self.begin(deadline).await?;
        let done = async {
            self.check_size(&target, deadline).await?;
            let (tree, left_out) = self.tree(&target, max_bytes, deadline).await?;
            let place = self.place(&target, deadline).await?;
            Ok(Snapshot { url: place.url, title: place.title, tree, left_out })
        };
        let done = done.await;
        self.finish(done).map_err(|error| error.after(begun.elapsed()))
    }

    async fn check_size(&self, target: &Target, deadline: Instant) -> Result<(), EngineError> {
        let count = "document.getElementsByTagName('*').length";
        let count: u64 = self.evaluate(target, count, deadline).await?;
        if count <= MAX_ELEMENTS {
            return Ok(());
        }
        Err(EngineError::Browser(format!(
            "the page has {count} elements, and snapshots are made of at most {MAX_ELEMENTS}; \
             use a selector or a screenshot"
        )))
    }

    /// The lines of the page and of the documents within.
    async fn tree(
        &mut self,
        target: &Target,
        max_bytes: usize,
        deadline: Instant,
    ) -> Result<(String, usize), EngineError> {
        let document = self.state.borrow().loader.clone().unwrap_or_default();
        let Frames { frame_tree } =
            self.call(target, "Page.getFrameTree", json!({}), deadline).await?;
        // Innermost first, so that each is there when the document around it is written.
        let mut inner = HashMap::new();
        for frame in within(&frame_tree).into_iter().rev() {
            let owner = json!({"frameId": frame});
            // A frame that is gone meanwhile is none to show.
            let Ok(Owner { backend_node_id }) =
                self.call(target, "DOM.getFrameOwner", owner, deadline).await
            else {
                continue;
            };
            let Ok(Tree { nodes }) = self.nodes(target, frame, deadline).await else { continue };
            let references = &mut self.references;
            let mut reference = |node| references.of(&document, node);
            let (lines, _) = Lines::write(&nodes, &inner, max_bytes, &mut reference);
            inner.insert(backend_node_id, lines);
        }
        let Tree { nodes } = self.nodes(target, &target.id, deadline).await?;
        let references = &mut self.references;
        let mut reference = |node| references.of(&document, node);
        Ok(Lines::write(&nodes, &inner, max_bytes, &mut reference))
    }

    async fn nodes(
        &self,
        target: &Target,
        frame: &str,
        deadline: Instant,
    ) -> Result<Tree, EngineError> {
        self.call(target, "Accessibility.getFullAXTree", json!({"frameId": frame}), deadline).await
    }
}

/// The frames within a page, outermost first.
fn within(tree: &FrameTree) -> Vec<&str> {
    let mut frames = Vec::new();
    let mut open: Vec<&FrameTree> = tree.child_frames.iter().collect();
    while let Some(next) = open.pop() {
        if frames.len() >= MAX_FRAMES {
            break;
        }
        frames.push(next.frame.id.as_str());
        open.extend(&next.child_frames);
    }
    frames
}
