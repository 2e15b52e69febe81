//! A real browser behind a proxy that holds the policy.
//!
//! Each page is a Chromium of its own, started by `confine` and driven over two pipes. Walls, outermost
//! first: the kernel gives it a network in which nothing is but the proxy of this page, and a file system
//! without anything of the host's but programs; the proxy dials what the policy accepts; inside, every
//! request is judged before it leaves the browser.
//!
//! - `find`: which program.
//! - `arguments`, `launch`: how it is started and confined.
//! - `cdp`: the protocol that it is driven by.
//! - `reach`, `proxy`: what a page may reach, and its only way there.
//! - `warden`, `state`: what is answered to the browser's events, and known from them.
//! - `page`: what can be done in a page.
//! - `sessions`: the pages of a host.

mod arguments;
mod cdp;
mod error;
mod find;
mod launch;
mod page;
mod proxy;
mod reach;
mod sessions;
mod settings;
mod state;
mod warden;

pub use self::error::EngineError;
pub use self::find::{FindError, Program};
pub use self::launch::LaunchError;
pub use self::page::{
    Acted, ImageFormat, Locator, Page, Rendered, Screenshot, Scrolled, Shot, Snapshot, Towards,
    Visit,
};
pub use self::sessions::{Held, Pages};
pub use self::settings::Settings;
pub use self::state::{Hop, Notices, Seen};
