//! The time that one extraction may take, asked for often and read rarely.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Units of work between two looks at the clock.
const STRIDE: usize = 4096;

/// A deadline that loops ask whether they may go on.
#[derive(Debug)]
pub(super) struct Budget {
    deadline: Instant,
    left: Cell<usize>,
    over: Cell<bool>,
}

impl Budget {
    /// A budget that ends after some time.
    pub(super) fn new(time: Duration) -> Self {
        let now = Instant::now();
        let deadline = now.checked_add(time).unwrap_or(now);
        Self { deadline, left: Cell::new(STRIDE), over: Cell::new(false) }
    }

    /// Spends some units of work; whether there is time for more.
    pub(super) fn spend(&self, units: usize) -> bool {
        match self.left.get().checked_sub(units) {
            Some(left) => self.left.set(left),
            None => {
                self.left.set(STRIDE);
                self.over.set(self.over.get() || Instant::now() >= self.deadline);
            }
        }
        !self.over.get()
    }

    /// Whether the time was over at the last look.
    pub(super) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// A budget for a part of what is left.
    pub(super) fn part(&self, numerator: u32, denominator: u32) -> Self {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Self::new(left * numerator / denominator.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_and_stays_ended() {
        let budget = Budget::new(Duration::ZERO);
        assert!(budget.spend(1), "the clock is not looked at yet");
        assert!(!budget.spend(STRIDE));
        assert!(!budget.spend(1));
        assert!(budget.is_over());
        assert!(Budget::new(Duration::from_secs(60)).spend(10 * STRIDE));
    }
}
