//! Server-sent events, read from bytes as they arrive.
//!
//! In: pieces of a body, cut anywhere, also inside a character. Out: whole events. Lines end in LF, CR
//! or CRLF; comments and the fields `id` and `retry` are skipped; several `data` lines are joined by
//! LF. What stands after the last empty line is given by [`SseReader::finish`], because some servers
//! leave that line out; whether the stream was whole is for the reader of the events to say.
//! The size is bounded by whoever feeds it.
//!
//! Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// Its kind; empty where the server names none.
    pub(crate) kind: String,
    /// Its data.
    pub(crate) data: String,
}

/// A line that is not UTF-8.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line of the event stream is not UTF-8 at byte {at} of the line")]
pub(crate) struct NotUtf8 {
    at: usize,
}

/// Reads events from bytes.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    line: Vec<u8>,
    /// The line before ended in CR, so an LF that comes next belongs to it.
    is_after_cr: bool,
    is_past_start: bool,
    kind: String,
    data: Option<String>,
}

impl SseReader {
    /// The events that these bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, NotUtf8> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if self.is_after_cr {
                self.is_after_cr = false;
                if *first == b'\n' {
                    rest = &rest[1..];
                    continue;
                }
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                break;
            };
            self.line.extend_from_slice(&rest[..end]);
            self.is_after_cr = rest.get(end) == Some(&b'\r');
            rest = &rest[end + 1..];
            events.extend(self.end_line()?);
        }
        Ok(events)
    }

    /// The event that was still open when the body ended.
    pub(crate) fn finish(mut self) -> Result<Option<SseEvent>, NotUtf8> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        Ok(self.take_event())
    }

    fn end_line(&mut self) -> Result<Option<SseEvent>, NotUtf8> {
        let bytes = std::mem::take(&mut self.line);
        let line = str::from_utf8(&bytes).map_err(|error| NotUtf8 { at: error.valid_up_to() })?;
        let line = match self.is_past_start {
            true => line,
            false => line.strip_prefix('\u{feff}').unwrap_or(line),
        };
        self.is_past_start = true;
        if line.is_empty() {
            return Ok(self.take_event());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.kind),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // A comment has an empty field name; the others mean nothing to us.
            _ => {}
        }
        Ok(None)
    }

    fn take_event(&mut self) -> Option<SseEvent> {
        let kind = std::mem::take(&mut self.kind);
        self.data.take().map(|data| SseEvent { kind, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut reader = SseReader::default();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(reader.push(piece).unwrap());
        }
        events.extend(reader.finish().unwrap());
        events.into_iter().map(|event| (event.kind, event.data)).collect()
    }

    #[test]
    fn the_format_holds_at_its_edges() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let own: Vec<_> =
                expected.iter().map(|(k, d)| (k.to_string(), d.to_string())).collect();
            assert_eq!(read(&[text.as_bytes()]), own, "{text:?}");
        };
        check("data: a\n\ndata:b\n\n", &[("", "a"), ("", "b")]);
        check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &[("", "a"), ("", "b"), ("", "c")]);
        check(": comment\nid: 7\nretry: 3\nevent: ping\ndata: x\n\n", &[("ping", "x")]);
        check("data: a\ndata\ndata:  b\n\n", &[("", "a\n\n b")]);
        check("event: lonely\n\ndata: x\n\n", &[("", "x")]);
        check("\u{feff}data: x\n\n", &[("", "x")]);
        check("data: [DONE]", &[("", "[DONE]")]);
        check("\n\n\n", &[]);
        assert_eq!(SseReader::default().push(b"data: \xff\n"), Err(NotUtf8 { at: 6 }));
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_does_not_matter(
            datas in vec("[aä\u{1F980} :]{0,8}", 1..6),
            end in prop_oneof![Just("\n"), Just("\r"), Just("\r\n")],
            size in 1usize..9,
        ) {
            let text: String = datas.iter().map(|data| format!("data: {data}{end}{end}")).collect();
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let expected: Vec<_> = datas.into_iter().map(|data| (String::new(), data)).collect();
            prop_assert_eq!(read(&pieces), expected);
        }
    }
}
