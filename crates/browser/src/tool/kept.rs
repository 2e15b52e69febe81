//! Pages that were read, kept for a while so that reading them on is reading the same page.
//!
//! Each reading has a version, so parts of two readings are never taken for one. What is oldest goes
//! first when there is too much, and nothing stays longer than the operator says.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::rand::{GetRandomFlags, getrandom};

use crate::{
    Fetched,
    extract::{ExtractOptions, Extracted},
};

/// A page as it was read once.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) version: String,
    /// The URL as it was asked for.
    pub(super) asked: String,
    pub(super) fetched: Fetched,
    /// What was taken out of it last, and how that was asked for.
    extracted: Mutex<Option<(ExtractOptions, Arc<Extracted>)>>,
}

impl Page {
    /// A page that was read now.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(super) fn new(asked: &str, fetched: Fetched) -> io::Result<Self> {
        let mut bytes = [0_u8; 8];
        getrandom(&mut bytes, GetRandomFlags::empty())?;
        let version = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { version, asked: asked.to_owned(), fetched, extracted: Mutex::new(None) })
    }

    /// What was taken out of it, where it was asked for in the same way.
    pub(super) fn extracted(&self, options: &ExtractOptions) -> Option<Arc<Extracted>> {
        let last = self.extracted.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, extracted) = last.as_ref()?;
        (known == options).then(|| Arc::clone(extracted))
    }

    /// Keeps what was taken out of it.
    pub(super) fn keep(&self, options: &ExtractOptions, extracted: &Arc<Extracted>) {
        let mut last = self.extracted.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((options.clone(), Arc::clone(extracted)));
    }

    /// The bytes that it takes, about.
    fn len_bytes(&self) -> usize {
        let last = self.extracted.lock().unwrap_or_else(PoisonError::into_inner);
        let content = last.as_ref().map_or(0, |(_, extracted)| {
            extracted.content.len()
                + extracted.links.iter().map(|link| link.text.len() + 128).sum::<usize>()
        });
        self.fetched.body.len() + content + 1024
    }
}

/// The pages that are kept, the newest last.
#[derive(Debug)]
pub(super) struct Kept {
    pages: Mutex<VecDeque<(Instant, Arc<Page>)>>,
    max_bytes: usize,
    time: Duration,
}

impl Kept {
    pub(super) fn new(max_bytes: usize, time: Duration) -> Self {
        Self { pages: Mutex::new(VecDeque::new()), max_bytes, time }
    }

    /// The reading of this version, where it is still there.
    pub(super) fn version(&self, version: &str) -> Option<Arc<Page>> {
        self.find(|page| page.version == version)
    }

    /// The last reading of a URL, where it is still there.
    pub(super) fn last_of(&self, asked: &str) -> Option<Arc<Page>> {
        self.find(|page| page.asked == asked)
    }

    fn find(&self, is_meant: impl Fn(&Page) -> bool) -> Option<Arc<Page>> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        self.forget(&mut pages);
        pages.iter().rev().find(|(_, page)| is_meant(page)).map(|(_, page)| Arc::clone(page))
    }

    /// Keeps a page.
    pub(super) fn put(&self, page: Arc<Page>) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.push_back((Instant::now(), page));
        self.forget(&mut pages);
    }

    /// Lets go of what is too old, and of the oldest while there is too much.
    fn forget(&self, pages: &mut VecDeque<(Instant, Arc<Page>)>) {
        let now = Instant::now();
        pages.retain(|(since, _)| now.duration_since(*since) < self.time);
        let mut bytes: usize = pages.iter().map(|(_, page)| page.len_bytes()).sum();
        while bytes > self.max_bytes {
            let Some((_, oldest)) = pages.pop_front() else { break };
            bytes -= oldest.len_bytes().min(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(asked: &str, bytes: usize) -> Arc<Page> {
        let fetched = Fetched {
            status: http::StatusCode::OK,
            url: "https://a.example/".parse().unwrap(),
            redirects: Vec::new(),
            headers: http::HeaderMap::new(),
            body: vec![0; bytes],
            wire_bytes: 0,
            is_truncated: false,
            is_incomplete: false,
            retry_after: None,
            address: "192.0.2.1:80".parse().unwrap(),
        };
        Arc::new(Page::new(asked, fetched).unwrap())
    }

    #[test]
    fn the_newest_reading_is_found_and_the_oldest_goes() {
        let kept = Kept::new(10_000, Duration::from_secs(60));
        let [first, second, other] = [page("a", 3000), page("a", 3000), page("b", 1)];
        for one in [&first, &second, &other] {
            kept.put(Arc::clone(one));
        }
        assert_eq!(kept.last_of("a").unwrap().version, second.version);
        assert_eq!(kept.version(&first.version).unwrap().version, first.version);
        kept.put(page("c", 3000));
        assert!(kept.version(&first.version).is_none() && kept.last_of("c").is_some());
        kept.put(page("large", 20_000));
        assert!(kept.last_of("large").is_none());
    }

    #[test]
    fn nothing_stays_longer_than_it_may() {
        let kept = Kept::new(10_000, Duration::from_millis(20));
        kept.put(page("a", 1));
        std::thread::sleep(Duration::from_millis(40));
        assert!(kept.last_of("a").is_none());
    }
}
