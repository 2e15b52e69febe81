//! First bytes of formats that hold no text.

/// Bytes at an offset, and the media type of what has them there.
const SIGNATURES: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xFF\xD8\xFF", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"\0\0\x01\0", "image/x-icon"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
    (0, b"\xFF\x0A", "image/jxl"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1A\x45\xDF\xA3", "video/webm"),
    (0, b"FLV\x01", "video/x-flv"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xFF\xFB", "audio/mpeg"),
    (0, b"OggS", "application/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
    (0, b"\x1F\x8B", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xFD7zXZ\0", "application/x-xz"),
    (0, b"\x28\xB5\x2F\xFD", "application/zstd"),
    (0, b"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"),
    (0, b"Rar!\x1A\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"!<arch>\n", "application/x-archive"),
    (0, b"\0asm", "application/wasm"),
    (0, b"\x7FELF", "application/x-elf"),
    (0, b"MZ\x90\0", "application/vnd.microsoft.portable-executable"),
    (0, b"\xCA\xFE\xBA\xBE", "application/java-vm"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"\0\x01\0\0\0", "font/ttf"),
    (0, b"OTTO\0", "font/otf"),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "application/x-ole-storage"),
];

/// The type of what begins so.
pub(super) fn find(head: &[u8]) -> Option<&'static str> {
    let found = SIGNATURES
        .iter()
        .find(|(offset, bytes, _)| head.get(*offset..).is_some_and(|rest| rest.starts_with(bytes)));
    let riff = |media_type: &&str| match *media_type {
        "image/webp" | "audio/wav" | "video/x-msvideo" => head.starts_with(b"RIFF"),
        _ => true,
    };
    found.map(|(_, _, media_type)| *media_type).filter(riff)
}
