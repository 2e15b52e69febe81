//! What goes over the stream to a supervisor, both ways: a kind, a number, a length, and as many bytes.
//!
//! What comes from there is as untrusted as what code prints: a frame that is too long, or of no kind,
//! ends the container.

/// The bytes before a frame's own: kind, number, length.
pub(super) const HEAD: usize = 9;
/// The longest frame that a supervisor may send.
const MAX_RECEIVED: usize = 4 << 20;

/// A frame for the supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    bytes: Vec<u8>,
}

impl Frame {
    /// The bytes belong to the number: a driver's, or a request's.
    pub(super) fn new(kind: u8, number: u32, body: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(HEAD + body.len());
        bytes.push(kind);
        bytes.extend_from_slice(&number.to_be_bytes());
        // What is sent is cut into pieces far below.
        bytes.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend_from_slice(body);
        Self { bytes }
    }

    /// Bytes that are no frame: what comes before the first one.
    pub(super) fn raw(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// What a supervisor says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It is there: JSON.
    Hello(Vec<u8>),
    /// What a driver wrote, or nothing where it will write no more.
    Wrote { driver: u32, channel: Channel, bytes: Vec<u8> },
    /// How a driver ended: JSON.
    Ended { driver: u32, how: Vec<u8> },
    /// A piece of what was asked for.
    Piece { request: u32, bytes: Vec<u8> },
    /// The answer to what was asked: JSON.
    Answer { request: u32, json: Vec<u8> },
}

/// Where a driver writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    Control = 0,
    Stdout = 1,
    Stderr = 2,
}

/// The stream can't be read any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// Frames out of pieces of the stream.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    received: Vec<u8>,
    /// Where the next frame begins.
    at: usize,
}

impl Decoder {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.at > 0 {
            self.received.drain(..self.at);
            self.at = 0;
        }
        self.received.extend_from_slice(bytes);
    }

    /// The next whole frame.
    pub(super) fn next(&mut self) -> Result<Option<Said>, Broken> {
        let rest = self.received.get(self.at..).unwrap_or_default();
        let Some((head, body)) = rest.split_at_checked(HEAD) else { return Ok(None) };
        let number = |at: usize| {
            let bytes = head.get(at..at + 4).and_then(|four| four.try_into().ok());
            bytes.map_or(0, u32::from_be_bytes)
        };
        let (kind, number, size) = (head.first().copied().unwrap_or(0), number(1), number(5));
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > MAX_RECEIVED {
            return Err(Broken);
        }
        let Some(body) = body.get(..size) else { return Ok(None) };
        let said = said(kind, number, body.to_vec())?;
        self.at += HEAD + size;
        Ok(Some(said))
    }
}

fn said(kind: u8, number: u32, bytes: Vec<u8>) -> Result<Said, Broken> {
    Ok(match kind {
        b'H' => Said::Hello(bytes),
        b'D' => {
            let channel = match number % 4 {
                1 => Channel::Control,
                2 => Channel::Stdout,
                3 => Channel::Stderr,
                _ => return Err(Broken),
            };
            Said::Wrote { driver: number / 4, channel, bytes }
        }
        b'E' => Said::Ended { driver: number, how: bytes },
        b'P' => Said::Piece { request: number, bytes },
        b'R' => Said::Answer { request: number, json: bytes },
        _ => return Err(Broken),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Result<Vec<Said>, Broken> {
        let (mut decoder, mut all) = (Decoder::default(), Vec::new());
        for piece in pieces {
            decoder.push(piece);
            while let Some(said) = decoder.next()? {
                all.push(said);
            }
        }
        Ok(all)
    }

    #[test]
    fn frames_are_whole_wherever_the_stream_is_cut() {
        let mut stream = Frame::new(b'D', 4 * 7 + 2, b"out").bytes().to_vec();
        stream.extend_from_slice(Frame::new(b'E', 7, b"{}").bytes());
        stream.extend_from_slice(Frame::new(b'D', 4 * 7 + 1, b"").bytes());
        let wrote = |channel, bytes: &[u8]| Said::Wrote { driver: 7, channel, bytes: bytes.into() };
        let expected = [
            wrote(Channel::Stdout, b"out"),
            Said::Ended { driver: 7, how: b"{}".to_vec() },
            wrote(Channel::Control, b""),
        ];
        for at in 0..=stream.len() {
            assert_eq!(all(&[&stream[..at], &stream[at..]]).unwrap(), expected, "cut at {at}");
        }
        let bytes: Vec<_> = stream.chunks(1).collect();
        assert_eq!(all(&bytes).unwrap(), expected);
    }

    #[test]
    fn what_is_no_frame_breaks_the_stream() {
        for wrong in [
            Frame::new(b'Z', 0, b"").bytes(),
            Frame::new(b'D', 4, b"").bytes(),
            b"Traceback (most recent call last)",
            &[b'P', 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff],
        ] {
            assert_eq!(all(&[wrong]), Err(Broken), "{wrong:?}");
        }
    }
}
