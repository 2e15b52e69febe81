//! A bound on requests a second: a bucket that fills evenly and holds two seconds' worth.

use std::{
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

    fn takes_one_at(&self, now: Instant) -> bool {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_duration_since(bucket.0).as_secs_f64();
        let held = (bucket.1 + since * self.per_second).min(2.0 * self.per_second);
        let takes = held >= 1.0;
        *bucket = (now, if takes { held - 1.0 } else { held });
        takes
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
}
