//! What can be set of browsers.

use std::time::Duration;

use tool_core::ByteCount;

/// How browsers are started, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The width of a page, in CSS pixels.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// The memory of one browser with all its processes, its profile and its cache.
    pub memory: ByteCount,
    /// The most pages at a time.
    pub max_pages: usize,
    /// After how long without use a page is closed.
    pub idle_time: Duration,
    /// How long a page lives at the most.
    pub life_time: Duration,
    /// How long a page that never ends to load is waited for.
    pub load_timeout: Duration,
    /// How the browser says who it is; its own way where absent.
    pub user_agent: Option<String>,
}

impl Default for Settings {
    /// 1280 by 720 pixels, 2 GiB, four pages, ten minutes without use, an hour in all, ten seconds to load.
    fn default() -> Self {
        Self {
            width: 1280,
            height: 720,
            memory: ByteCount(2 << 30),
            max_pages: 4,
            idle_time: Duration::from_secs(600),
            life_time: Duration::from_secs(3600),
            load_timeout: Duration::from_secs(10),
            user_agent: None,
        }
    }
}
