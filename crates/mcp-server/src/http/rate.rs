//! Bounds on requests a second: a bucket that fills evenly and holds two seconds' worth.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Instant,
};

#[derive(Debug)]
pub(super) struct Rate {
    per_second: f64,
    bucket: Mutex<(Instant, f64)>,
}

impl Rate {
    pub(super) fn new(per_second: u32) -> Self {
        let per_second = f64::from(per_second.max(1));
        Self { per_second, bucket: Mutex::new((Instant::now(), 2.0 * per_second)) }
    }

    /// Takes one request, where there is room for it.
    pub(super) fn takes_one(&self) -> bool {
        self.takes_one_at(Instant::now())
    }

    /// Whether nothing was taken of late: a new bucket would be the same.
    fn is_full(&self, now: Instant) -> bool {
        let bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_duration_since(bucket.0).as_secs_f64();
        bucket.1 + since * self.per_second >= 2.0 * self.per_second
    }

    fn takes_one_at(&self, now: Instant) -> bool {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_duration_since(bucket.0).as_secs_f64();
        let held = (bucket.1 + since * self.per_second).min(2.0 * self.per_second);
        let takes = held >= 1.0;
        *bucket = (now, if takes { held - 1.0 } else { held });
        takes
    }
}

/// How many clients' buckets are kept before full ones are thrown away.
const MANY: usize = 1024;

/// A bucket for each client.
#[derive(Debug)]
pub(super) struct Rates {
    per_second: u32,
    buckets: Mutex<HashMap<String, Rate>>,
}

impl Rates {
    pub(super) fn new(per_second: u32) -> Self {
        Self { per_second, buckets: Mutex::default() }
    }

    /// Takes one request of a client, where there is room for it.
    pub(super) fn takes_one(&self, client: &str) -> bool {
        self.takes_one_at(client, Instant::now())
    }

    fn takes_one_at(&self, client: &str, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rate) = buckets.get(client) {
            return rate.takes_one_at(now);
        }
        if buckets.len() >= MANY {
            buckets.retain(|_, rate| !rate.is_full(now));
        }
        let rate = buckets.entry(client.to_owned()).or_insert_with(|| Rate::new(self.per_second));
        rate.takes_one_at(now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_bucket_empties_and_fills() {
        let (rate, now) = (Rate::new(10), Instant::now());
        let taken = (0..100).filter(|_| rate.takes_one_at(now)).count();
        assert_eq!(taken, 20);
        let later = now + Duration::from_millis(510);
        assert_eq!((0..100).filter(|_| rate.takes_one_at(later)).count(), 5);
    }

    #[test]
    fn each_client_has_a_bucket() {
        let (rates, now) = (Rates::new(5), Instant::now());
        let taken = |client| (0..100).filter(|_| rates.takes_one_at(client, now)).count();
        assert_eq!((taken("a"), taken("a"), taken("b")), (10, 0, 10));
    }

    #[test]
    fn clients_that_are_gone_are_forgotten() {
        let (rates, now) = (Rates::new(5), Instant::now());
        for n in 0..MANY {
            assert!(rates.takes_one_at(&n.to_string(), now));
        }
        assert!(rates.takes_one_at("new", now + Duration::from_secs(1)));
        assert_eq!(rates.buckets.lock().unwrap().len(), 1);
    }
}
