//! Turns at a host: so many requests at once, and a delay between the beginnings of two.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep_until},
};

/// From so many hosts on those that nobody uses are forgotten.
const MAX_HOSTS: usize = 1024;

/// Who is at which host.
#[derive(Debug)]
pub(super) struct Hosts {
    at_once: usize,
    delay: Duration,
    hosts: Mutex<HashMap<String, Arc<Host>>>,
}

#[derive(Debug)]
struct Host {
    places: Arc<Semaphore>,
    /// When the next one may begin.
    next: Mutex<Instant>,
}

/// A place at a host; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _place: Option<OwnedSemaphorePermit>,
}

impl Hosts {
    pub(super) fn new(at_once: usize, delay: Duration) -> Self {
        Self { at_once, delay, hosts: Mutex::new(HashMap::new()) }
    }

    /// Waits for a turn. A wait that is given up has taken its turn.
    pub(super) async fn turn(&self, name: &str) -> Turn {
        let host = self.host(name);
        // A semaphore that nobody closes gives its places out.
        let place = Arc::clone(&host.places).acquire_owned().await.ok();
        let begin = {
            let mut next = host.next.lock().unwrap_or_else(PoisonError::into_inner);
            let begin = (*next).max(Instant::now());
            *next = begin + self.delay;
            begin
        };
        if !self.delay.is_zero() {
            sleep_until(begin).await;
        }
        Turn { _place: place }
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= MAX_HOSTS && !hosts.contains_key(name) {
            let now = Instant::now();
            let is_used = |host: &Arc<Host>| {
                Arc::strong_count(host) > 1
                    || *host.next.lock().unwrap_or_else(PoisonError::into_inner) > now
            };
            hosts.retain(|_, host| is_used(host));
        }
        let new = || {
            let places = Arc::new(Semaphore::new(self.at_once));
            Arc::new(Host { places, next: Mutex::new(Instant::now()) })
        };
        Arc::clone(hosts.entry(name.to_owned()).or_insert_with(new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn places_and_delays_are_kept() {
        let hosts = Arc::new(Hosts::new(2, Duration::from_millis(100)));
        let started = Instant::now();
        let first = hosts.turn("a").await;
        let second = hosts.turn("a").await;
        assert_eq!(started.elapsed().as_millis(), 100);
        let _other = hosts.turn("b").await;
        assert_eq!(started.elapsed().as_millis(), 100);
        let waiting = tokio::time::timeout(Duration::from_secs(5), hosts.turn("a")).await;
        assert!(waiting.is_err());
        drop(first);
        let _third = hosts.turn("a").await;
        drop(second);
    }
}
