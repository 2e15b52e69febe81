//! `file_put` and `file_get`: files into a session and out of it.

use serde_json::{Value, json};
use tool_core::{Content, ExecContext, ToolOutput, ValidatedArgs};

use super::{
    failure::Failure,
    operations::{Operations, session, waiting},
};
use crate::{FilePart, SessionId, base64};

/// What is kept free in a result for everything but the content.
const FRAME: usize = 1024;

impl Operations {
    pub(super) async fn put(
        &self,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, Failure> {
        let path = args.get_str("path").unwrap_or_default();
        let content = content(args)?;
        let bytes = content.len();
        let overwrite = args.get("overwrite").and_then(Value::as_bool).unwrap_or(false);
        let session = session(args)?;
        if session.is_none() {
            self.manager.prepare_default(waiting(ctx)).await?;
        }
        let id = self.manager.put_file(session, path, content, overwrite).await?;
        Ok(ToolOutput::json(json!({"session_id": id.to_string(), "path": path, "bytes": bytes})))
    }

    pub(super) async fn get(
        &self,
        args: &ValidatedArgs,
        ctx: &ExecContext,
    ) -> Result<ToolOutput, Failure> {
        let path = args.get_str("path").unwrap_or_default();
        let offset = args.get("offset").and_then(Value::as_u64).unwrap_or(0);
        let room = ctx.limits().max_output().as_usize().saturating_sub(FRAME + path.len());
        let asked = args.get("limit").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let limit = usize::try_from(asked).unwrap_or(usize::MAX).min(room);
        let (id, part) = self.manager.get_file(session(args)?, path, offset, limit).await?;
        Ok(Got { id, path, offset, part }.output(room))
    }
}

fn content(args: &ValidatedArgs) -> Result<Vec<u8>, Failure> {
    match (args.get_str("content"), args.get_str("content_base64")) {
        (Some(text), _) => Ok(text.as_bytes().to_vec()),
        (None, Some(text)) => base64::decode(text)
            .ok_or_else(|| Failure::Argument("content_base64 is not base64".to_owned())),
        (None, None) => Err(Failure::Argument("there is no content".to_owned())),
    }
}

/// A part of a file that was got.
struct Got<'a> {
    id: SessionId,
    path: &'a str,
    offset: u64,
    part: FilePart,
}

impl Got<'_> {
    /// As text where it is text, as an image where the whole file is one, as base64 otherwise; as much
    /// of it as has room.
    fn output(&self, room: usize) -> ToolOutput {
        let bytes = &self.part.bytes;
        let is_whole = self.offset == 0 && bytes.len() as u64 == self.part.size;
        if let (true, Some(media_type)) = (is_whole, image_type(bytes)) {
            let data = base64::encode(bytes);
            if data.len() <= room {
                let image = Content::Image { media_type: media_type.to_owned(), data };
                let content = vec![Content::Json { json: self.json(bytes.len(), None) }, image];
                return ToolOutput { content, ..ToolOutput::default() };
            }
        }
        let mut kept = bytes.len();
        loop {
            let (field, text, shown) = self.text(kept);
            let output = ToolOutput::json(self.json(shown, Some((field, text))));
            // What has to be escaped takes more room than it has bytes.
            if output.len_bytes().as_usize() <= room + FRAME || kept < 4 {
                return output;
            }
            kept = kept * 3 / 4;
        }
    }

    /// The first `kept` bytes, or a character less.
    fn text(&self, kept: usize) -> (&'static str, String, usize) {
        let bytes = &self.part.bytes[..kept];
        let is_cut = self.offset + (kept as u64) < self.part.size;
        match std::str::from_utf8(bytes) {
            Ok(text) => ("content", text.to_owned(), kept),
            Err(error) if is_cut && error.error_len().is_none() && error.valid_up_to() > 0 => {
                let whole = error.valid_up_to();
                let text = String::from_utf8_lossy(&bytes[..whole]).into_owned();
                ("content", text, whole)
            }
            Err(_) => ("content_base64", base64::encode(bytes), kept),
        }
    }

    fn json(&self, shown: usize, content: Option<(&str, String)>) -> Value {
        let end = self.offset + shown as u64;
        let mut json = json!({
            "session_id": self.id.to_string(),
            "path": self.path,
            "size": self.part.size,
            "offset": self.offset,
            "bytes": shown,
        });
        if let Some((field, content)) = content {
            json[field] = content.into();
        }
        if end < self.part.size {
            json["next_offset"] = end.into();
        }
        json
    }
}

/// The type of an image that models take, by its first bytes.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(bytes: &[u8], offset: u64, size: u64, room: usize) -> ToolOutput {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        Got { id, path: "f", offset, part: FilePart { bytes: bytes.to_vec(), size } }.output(room)
    }

    fn json(output: &ToolOutput) -> &Value {
        match &output.content[0] {
            Content::Json { json } => json,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_is_cut_between_characters_and_says_where_it_goes_on() {
        let got = output("aé".as_bytes(), 0, 3, 4096);
        assert_eq!((&json(&got)["content"], json(&got).get("next_offset")), (&json!("aé"), None));
        let got = output("aé".as_bytes()[..2].as_ref(), 0, 3, 4096);
        assert_eq!((&json(&got)["content"], &json(&got)["next_offset"]), (&json!("a"), &json!(1)));
    }

    #[test]
    fn other_bytes_are_base64_and_whole_images_are_images() {
        let got = output(b"\xff\x00", 5, 7, 4096);
        assert_eq!(json(&got)["content_base64"], "/wA=");
        let png = b"\x89PNG\r\n\x1a\nrest";
        let got = output(png, 0, 12, 4096);
        assert!(
            matches!(&got.content[1], Content::Image { media_type, .. } if media_type == "image/png")
        );
        let got = output(png, 0, 13, 4096);
        assert_eq!((got.content.len(), &json(&got)["next_offset"]), (1, &json!(12)));
    }

    #[test]
    fn what_is_escaped_still_fits() {
        for bytes in [vec![1; 4000], vec![0xff; 4000], vec![b'"'; 4000]] {
            let got = output(&bytes, 0, 4000, 4000);
            assert!(got.len_bytes().as_usize() <= 4000 + FRAME, "{}", got.len_bytes());
            let shown = json(&got)["bytes"].as_u64().unwrap();
            assert!(shown > 500);
            assert_eq!(json(&got).get("next_offset").is_some(), shown < 4000);
        }
    }
}
