//! How far the fetch of an image has come: what an engine says of its layers, put together.

use std::{collections::BTreeMap, fmt};

use bollard::models::CreateImageInfo;

/// The layers of an image, as far as they were told of.
#[derive(Debug, Default)]
pub(super) struct Steps {
    layers: BTreeMap<String, Layer>,
}

#[derive(Debug, Default)]
struct Layer {
    is_there: bool,
    fetched: u64,
    size: u64,
}

impl Steps {
    /// Takes the next thing in that an engine says.
    pub(super) fn take(&mut self, said: &CreateImageInfo) {
        let (Some(id), Some(status)) = (&said.id, &said.status) else { return };
        let is_there = match status.as_str() {
            "Already exists" | "Pull complete" => true,
            "Pulling fs layer" | "Waiting" | "Downloading" | "Verifying Checksum"
            | "Download complete" | "Extracting" => false,
            // Said of the tag, not of a layer.
            _ => return,
        };
        let layer = self.layers.entry(id.clone()).or_default();
        layer.is_there = is_there;
        let detail = said.progress_detail.as_ref();
        let number = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
        match status.as_str() {
            "Downloading" => {
                layer.fetched = number(detail.and_then(|it| it.current)).unwrap_or(layer.fetched);
                layer.size = number(detail.and_then(|it| it.total)).unwrap_or(layer.size);
            }
            "Download complete" | "Extracting" | "Pull complete" => layer.fetched = layer.size,
            _ => {}
        }
    }
}

impl fmt::Display for Steps {
    /// Nothing where nothing is known yet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.layers.is_empty() {
            return Ok(());
        }
        let there = self.layers.values().filter(|layer| layer.is_there).count();
        write!(f, "{there} of {} layers", self.layers.len())?;
        let sum = |of: fn(&Layer) -> u64| self.layers.values().map(of).fold(0, u64::saturating_add);
        let (fetched, size) = (sum(|layer| layer.fetched), sum(|layer| layer.size));
        if size > 0 {
            write!(f, ", {} of {} MB", Megabytes(fetched), Megabytes(size))?;
        }
        Ok(())
    }
}

/// Bytes in millions, to one place.
struct Megabytes(u64);

impl fmt::Display for Megabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1_000_000, self.0 % 1_000_000 / 100_000)
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ProgressDetail;

    use super::*;

    fn said(id: &str, status: &str, detail: Option<(i64, i64)>) -> CreateImageInfo {
        let detail = detail
            .map(|(current, total)| ProgressDetail { current: Some(current), total: Some(total) });
        CreateImageInfo {
            id: Some(id.to_owned()),
            status: Some(status.to_owned()),
            progress_detail: detail,
            ..CreateImageInfo::default()
        }
    }

    #[test]
    fn layers_are_added_up() {
        let mut steps = Steps::default();
        let mut after = |id: &str, status: &str, detail| {
            steps.take(&said(id, status, detail));
            steps.to_string()
        };
        assert_eq!(after("3.12", "Pulling from library/python", None), "");
        assert_eq!(after("a", "Pulling fs layer", None), "0 of 1 layers");
        assert_eq!(after("b", "Already exists", None), "1 of 2 layers");
        let half = Some((1_260_000, 2_500_000));
        assert_eq!(after("a", "Downloading", half), "1 of 2 layers, 1.2 of 2.5 MB");
        assert_eq!(after("a", "Download complete", None), "1 of 2 layers, 2.5 of 2.5 MB");
        assert_eq!(after("a", "Pull complete", None), "2 of 2 layers, 2.5 of 2.5 MB");
        assert_eq!(after("a", "Downloading", Some((-1, -1))), "1 of 2 layers, 2.5 of 2.5 MB");
    }
}
