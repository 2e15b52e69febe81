//! A result of the sandbox as MCP carries it.
//!
//! JSON is text and, where it is one object, `structuredContent` too; an image is an image, a file a
//! link. An error is a result with `isError` and the text that a model can act on.

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::Value;
use tool_core::{Content, ToolOutput, ToolResult};

/// The result of a call.
pub(crate) fn of(result: ToolResult) -> CallToolResult {
    match result.outcome {
        Ok(output) => done(output),
        Err(error) => {
            let text = format!("{}: {}", error.kind, error.message);
            // No structured content: clients hold it against the schema of a success.
            CallToolResult::error(vec![ContentBlock::text(text)])
        }
    }
}

fn done(output: ToolOutput) -> CallToolResult {
    let omitted = output.truncated.map(|truncated| truncated.omitted_bytes);
    let structured = match output.content.iter().filter_map(as_object).collect::<Vec<_>>()[..] {
        [one] => Some(one.clone()),
        _ => None,
    };
    let mut blocks: Vec<_> = output.content.into_iter().map(block).collect();
    if let Some(omitted) = omitted {
        // Between the head and the tail, where both were kept.
        let at = if blocks.len() == 2 { 1 } else { blocks.len() };
        blocks.insert(at, ContentBlock::text(format!("[{omitted} left out]")));
    }
    let mut result = CallToolResult::success(blocks);
    result.structured_content = structured;
    result
}

fn as_object(content: &Content) -> Option<&Value> {
    match content {
        Content::Json { json } if json.is_object() => Some(json),
        _ => None,
    }
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Json { json } => ContentBlock::text(json.to_string()),
        Content::Image { media_type, data } => ContentBlock::image(data, media_type),
        Content::File { path, bytes, media_type } => {
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            let mut link = Resource::new(format!("file:{path}"), name);
            link.size = bytes.map(|bytes| bytes.0);
            link.mime_type = media_type;
            ContentBlock::resource_link(link)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_core::{ByteCount, ToolError};

    use super::*;

    fn written(output: ToolOutput) -> Value {
        serde_json::to_value(of(ToolResult::ok("1", "t", output))).unwrap()
    }

    #[test]
    fn every_kind_of_content_has_its_block() {
        let content = vec![
            Content::Json { json: json!({"a": 1}) },
            Content::Image { media_type: "image/png".to_owned(), data: "AA==".to_owned() },
            Content::File {
                path: "out/big.txt".to_owned(),
                bytes: Some(ByteCount(5)),
                media_type: None,
            },
        ];
        let result = written(ToolOutput { content, ..ToolOutput::default() });
        assert_eq!(result["structuredContent"], json!({"a": 1}));
        assert_eq!(result["content"][0], json!({"type": "text", "text": "{\"a\":1}"}));
        assert_eq!(
            result["content"][1],
            json!({"type": "image", "data": "AA==", "mimeType": "image/png"})
        );
        assert_eq!(result["content"][2]["type"], "resource_link");
        assert_eq!(result["content"][2]["name"], "big.txt");
    }

    #[test]
    fn what_was_left_out_is_said_where_it_was() {
        let cut = ToolOutput::text("abcdefghij").truncated_to(ByteCount(4)).unwrap();
        let result = written(cut);
        assert_eq!(result["content"][1]["text"], "[6 bytes left out]");
        assert_eq!(result["content"][2]["text"], "ij");
    }

    #[test]
    fn an_error_is_a_result() {
        let error = ToolResult::error("1", "t", &ToolError::Cancelled);
        let result = serde_json::to_value(of(error)).unwrap();
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().starts_with("cancelled: "));
    }
}
