//! A registry of images on 127.0.0.1, which engines fetch from without TLS: one image, in layers that
//! come as slowly as they are told to.

use std::{io, time::Duration};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::web::{Answer, Part, WebRequest, WebServer};

const MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const CONFIG: &str = "application/vnd.docker.container.image.v1+json";
const LAYER: &str = "application/vnd.docker.image.rootfs.diff.tar.gzip";
/// How long a block of an archive is.
const BLOCK: usize = 512;

/// A layer of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    tar: Vec<u8>,
    pause: Duration,
}

impl Layer {
    /// One that is sent at once.
    #[must_use]
    pub fn new(tar: Vec<u8>) -> Self {
        Self { tar, pause: Duration::ZERO }
    }

    /// One with a single file, of as many bytes.
    #[must_use]
    pub fn of_file(name: &str, bytes: &[u8]) -> Self {
        let mut tar = header(name, bytes.len());
        tar.extend_from_slice(bytes);
        // The file is filled up to whole blocks, and two empty ones are the end.
        tar.resize(tar.len().next_multiple_of(BLOCK) + 2 * BLOCK, 0);
        Self::new(tar)
    }

    /// The same with a pause after its first half.
    #[must_use]
    pub fn slow(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    fn answer(&self) -> Answer {
        let (first, second) = self.tar.split_at(self.tar.len() / 2);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            self.tar.len()
        );
        let (head, first) = (head.into_bytes(), first.to_vec());
        Answer::script([
            Part::Send(head),
            Part::Send(first),
            Part::Wait(self.pause),
            Part::Send(second.to_vec()),
        ])
    }
}

/// The head of a file in an archive.
fn header(name: &str, size: usize) -> Vec<u8> {
    let mut block = vec![0_u8; BLOCK];
    let mut put =
        |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{size:011o}\0"));
    put(136, "00000000000\0");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\0");
    put(263, "00");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// A registry with one image, under every tag of one name.
#[derive(Debug)]
pub struct Registry {
    server: WebServer,
}

impl Registry {
    /// The name of the image.
    pub const NAME: &str = "remit/fetched";

    /// Starts one.
    ///
    /// # Errors
    /// There is no port, or no thread.
    pub fn start(layers: Vec<Layer>) -> io::Result<Self> {
        Self::with_pause(layers, Duration::ZERO)
    }

    /// Starts one that thinks for a while before it says what it has of an image.
    ///
    /// # Errors
    /// There is no port, or no thread.
    pub fn with_pause(layers: Vec<Layer>, pause: Duration) -> io::Result<Self> {
        let shelf = Shelf::new(layers);
        let server = WebServer::start(move |request| {
            let answer = shelf.answer(request);
            let is_manifest = request.target.contains("/manifests/");
            if is_manifest { answer.after(pause) } else { answer }
        })?;
        Ok(Self { server })
    }

    /// What an image of this name here is called by engines on this machine.
    #[must_use]
    pub fn image(&self, name: &str) -> String {
        format!("{}/{name}:latest", self.server.host())
    }

    /// How many requests there were whose path holds a text.
    #[must_use]
    pub fn requests(&self, text: &str) -> usize {
        self.server.requests().iter().filter(|request| request.target.contains(text)).count()
    }

    /// How often a layer was asked for.
    #[must_use]
    pub fn fetches(&self, layer: &Layer) -> usize {
        self.requests(&digest(&layer.tar))
    }
}

/// What a registry has.
struct Shelf {
    manifest: Vec<u8>,
    config: Vec<u8>,
    layers: Vec<(String, Layer)>,
}

impl Shelf {
    fn new(layers: Vec<Layer>) -> Self {
        let layers: Vec<_> = layers.into_iter().map(|it| (digest(&it.tar), it)).collect();
        let digests: Vec<_> = layers.iter().map(|(digest, _)| digest).collect();
        let config = json!({
            "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" },
            "os": "linux",
            "config": {"Cmd": ["bash"], "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]},
            "rootfs": {"type": "layers", "diff_ids": digests},
        });
        let config = config.to_string().into_bytes();
        let part = |media: &str, digest: &str, size: usize| -> Value {
            json!({"mediaType": media, "digest": digest, "size": size})
        };
        let parts = layers.iter().map(|(digest, layer)| part(LAYER, digest, layer.tar.len()));
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": part(CONFIG, &digest(&config), config.len()),
            "layers": parts.collect::<Vec<_>>(),
        });
        Self { manifest: manifest.to_string().into_bytes(), config, layers }
    }

    fn answer(&self, request: &WebRequest) -> Answer {
        let path = request.target.split('?').next().unwrap_or_default();
        let (kind, body) = match path.strip_prefix(&format!("/v2/{}/", Registry::NAME)) {
            _ if path == "/v2/" => ("application/json", b"{}".as_slice()),
            Some(part) if part.starts_with("manifests/") => (MANIFEST, self.manifest.as_slice()),
            Some(part) if part == format!("blobs/{}", digest(&self.config)) => {
                (CONFIG, self.config.as_slice())
            }
            part => {
                let wanted = part.and_then(|part| part.strip_prefix("blobs/")).unwrap_or_default();
                let layer = self.layers.iter().find(|(digest, _)| digest == wanted);
                return layer.map_or_else(unknown, |(_, layer)| layer.answer());
            }
        };
        let digest = digest(body);
        let headers = [("Content-Type", kind), ("Docker-Content-Digest", digest.as_str())];
        match request.method.as_str() {
            "HEAD" => Answer::raw_open(format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nDocker-Content-Digest: {digest}\r\n\
                 Content-Length: {}\r\n\r\n",
                body.len()
            )),
            _ => Answer::new(200, &headers, body),
        }
    }
}

fn unknown() -> Answer {
    let body = json!({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]});
    Answer::new(404, &[("Content-Type", "application/json")], body.to_string())
}

fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
