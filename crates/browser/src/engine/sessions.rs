//! The live pages of a host: by id, so many at a time, each for so long.
//!
//! A page that was not used for a while, or is older than its life time, is closed, also when nobody asks
//! for another. A page whose browser has ended is taken off the list when it is asked for. One page does
//! one thing at a time: a second call waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use confine::Prepared;
use rustix::rand::{GetRandomFlags, getrandom};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};

use super::{EngineError, Page, Program, Settings, launch};
use crate::policy::Dialer;

/// How often pages whose time is over are looked for.
const ROUND: Duration = Duration::from_secs(5);

/// The pages of a host. Dropping it ends them all.
#[derive(Debug)]
pub struct Pages {
    program: Program,
    settings: Settings,
    dialer: Dialer,
    /// Decided at the first launch.
    prepared: tokio::sync::Mutex<Option<Prepared>>,
    table: Arc<Table>,
}

/// A page that is in use by its holder.
pub type Held = OwnedMutexGuard<Page>;

#[derive(Debug, Default)]
struct Table {
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    by_id: HashMap<String, Slot>,
    /// Places that are taken by pages that are about to be.
    starting: usize,
    is_swept: bool,
}

#[derive(Debug)]
struct Slot {
    page: Arc<tokio::sync::Mutex<Page>>,
    born: Instant,
    used: Instant,
}

impl Pages {
    /// No page yet, and nothing started.
    #[must_use]
    pub fn new(program: Program, settings: Settings, dialer: Dialer) -> Self {
        let prepared = tokio::sync::Mutex::default();
        Self { program, settings, dialer, prepared, table: Arc::default() }
    }

    /// Starts a browser with an empty page: its id, and the page.
    ///
    /// # Errors
    /// There are as many as may be, or it does not start.
    pub async fn open(&self) -> Result<(String, Held), EngineError> {
        let starting = self.table.take_place(self.settings.max_pages)?;
        let prepared = self.prepared().await?;
        let page = Page::open(&self.program, &self.settings, prepared, self.dialer.clone()).await?;
        let id = new_id()?;
        let page = Arc::new(tokio::sync::Mutex::new(page));
        let held = Arc::clone(&page).lock_owned().await;
        starting.becomes(id.clone(), page);
        self.table.sweep(&self.settings);
        Ok((id, held))
    }

    /// A page, once nobody else uses it.
    ///
    /// # Errors
    /// There is no such page, or its browser has ended.
    pub async fn get(&self, id: &str) -> Result<Held, EngineError> {
        let found = self.table.use_now(id);
        let page = found.ok_or_else(|| EngineError::NoSuchPage { id: id.to_owned() })?;
        let held = page.lock_owned().await;
        if held.has_ended() {
            drop(held);
            self.close(id);
            return Err(EngineError::Ended);
        }
        Ok(held)
    }

    /// Closes a page; whether there was one. What it is doing is not waited for.
    pub fn close(&self, id: &str) -> bool {
        let slot = self.table.lock().by_id.remove(id);
        slot.is_some()
    }

    /// How many pages there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table.lock().by_id.len()
    }

    /// How browsers are confined, decided once.
    async fn prepared(&self) -> Result<Prepared, EngineError> {
        let mut prepared = self.prepared.lock().await;
        if let Some(prepared) = &*prepared {
            return Ok(prepared.clone());
        }
        let (program, settings) = (self.program.clone(), self.settings.clone());
        let deciding = tokio::task::spawn_blocking(move || launch::prepare(&program, &settings));
        let made = deciding.await.map_err(std::io::Error::other)??;
        Ok(prepared.insert(made).clone())
    }
}

/// A place that a page is about to take; given back where none comes.
struct Starting<'a> {
    table: &'a Table,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        let mut slots = self.table.lock();
        slots.starting = slots.starting.saturating_sub(1);
    }
}

impl Starting<'_> {
    fn becomes(self, id: String, page: Arc<tokio::sync::Mutex<Page>>) {
        let now = Instant::now();
        self.table.lock().by_id.insert(id, Slot { page, born: now, used: now });
    }
}

impl Table {
    fn lock(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_place(&self, max: usize) -> Result<Starting<'_>, EngineError> {
        let mut slots = self.lock();
        if slots.by_id.len() + slots.starting >= max {
            return Err(EngineError::TooManyPages { max });
        }
        slots.starting += 1;
        Ok(Starting { table: self })
    }

    fn use_now(&self, id: &str) -> Option<Arc<tokio::sync::Mutex<Page>>> {
        let mut slots = self.lock();
        let slot = slots.by_id.get_mut(id)?;
        slot.used = Instant::now();
        Some(Arc::clone(&slot.page))
    }

    /// Closes pages in time, as long as there are some.
    fn sweep(self: &Arc<Self>, settings: &Settings) {
        if std::mem::replace(&mut self.lock().is_swept, true) {
            return;
        }
        let (table, idle, life) = (Arc::downgrade(self), settings.idle_time, settings.life_time);
        tokio::spawn(async move {
            while sweep_once(&table, idle, life) {
                sleep(ROUND.min(idle)).await;
            }
        });
    }
}

/// Closes pages whose time is over; whether there are others.
fn sweep_once(table: &Weak<Table>, idle: Duration, life: Duration) -> bool {
    let Some(table) = table.upgrade() else { return false };
    let mut slots = table.lock();
    let over = slots.by_id.iter().filter(|(_, slot)| slot.is_over(idle, life));
    let over: Vec<String> = over.map(|(id, _)| id.clone()).collect();
    let ended: Vec<Slot> = over.iter().filter_map(|id| slots.by_id.remove(id)).collect();
    slots.is_swept = !slots.by_id.is_empty();
    let goes_on = slots.is_swept;
    drop(slots);
    // The end of a browser takes a moment, for which nobody is held up.
    drop(ended);
    goes_on
}

impl Slot {
    /// Whether its time is over. One that is in use has not been idle.
    fn is_over(&self, idle: Duration, life: Duration) -> bool {
        let is_free = self.page.try_lock().is_ok();
        self.born.elapsed() >= life || (is_free && self.used.elapsed() >= idle)
    }
}

/// An id that nobody guesses.
fn new_id() -> std::io::Result<String> {
    let mut bytes = [0_u8; 8];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(format!("page-{:016x}", u64::from_be_bytes(bytes)))
}
