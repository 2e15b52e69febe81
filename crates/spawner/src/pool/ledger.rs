//! The operator's bounds, and what is spent of them.
//!
//! A spawn reserves what its agent may use at most; the agent's end settles what it did use. So the sum
//! of what was spent and of what is promised never exceeds a bound, however many agents run.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{Earlier, SpawnError};
use crate::SubagentConfig;

/// The bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) live: u64,
    pub(crate) total: u64,
    pub(crate) depth: u64,
    pub(crate) time: Duration,
    pub(crate) tokens: u64,
    pub(crate) output: u64,
}

impl Bounds {
    pub(super) fn of(config: &SubagentConfig) -> Self {
        Self {
            live: config.max_live,
            total: config.max_total,
            depth: config.max_depth,
            time: Duration::from_secs(config.total_time_secs),
            tokens: config.total_tokens,
            output: config.total_output_bytes,
        }
    }
}

/// What is spent and promised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Spent {
    live: u64,
    total: u64,
    time: Duration,
    tokens: u64,
    output: u64,
}

/// What one agent wants at most. Time, tokens and output are cut to what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) depth: u64,
    pub(crate) time: Duration,
    pub(crate) tokens: u64,
    pub(crate) output: u64,
}

/// The bounds and what is spent of them.
#[derive(Debug)]
pub(crate) struct Ledger {
    bounds: Bounds,
    spent: Mutex<Spent>,
}

impl Ledger {
    /// A ledger in which some of the bounds was used before.
    pub(super) fn new(bounds: Bounds, earlier: Earlier) -> Self {
        let Earlier { total, time, tokens, output } = earlier;
        Self { bounds, spent: Mutex::new(Spent { live: 0, total, time, tokens, output }) }
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn live(&self) -> u64 {
        self.spent().live
    }

    /// Takes what an agent may use, checked and taken in one step.
    pub(crate) fn reserve(ledger: &Arc<Self>, ask: Ask) -> Result<Reservation, SpawnError> {
        let (bounds, mut spent) = (ledger.bounds, ledger.spent());
        check(&bounds, &spent, ask.depth)?;
        let granted = Ask {
            depth: ask.depth,
            time: ask.time.min(bounds.time.saturating_sub(spent.time)),
            tokens: ask.tokens.min(bounds.tokens.saturating_sub(spent.tokens)),
            output: ask.output.min(bounds.output.saturating_sub(spent.output)),
        };
        spent.live += 1;
        spent.total += 1;
        spent.time += granted.time;
        spent.tokens += granted.tokens;
        spent.output += granted.output;
        Ok(Reservation { ledger: Arc::clone(ledger), granted, is_settled: false })
    }
}

/// The first bound that is reached.
fn check(bounds: &Bounds, spent: &Spent, depth: u64) -> Result<(), SpawnError> {
    let refuse = |bound: &'static str, message: String| Err(SpawnError::Bound { bound, message });
    if depth > bounds.depth {
        return refuse(
            "max_depth",
            format!(
                "agents may be {} deep, and this one would be {depth}; do the task without a sub-agent",
                bounds.depth
            ),
        );
    }
    if bounds.live == 0 {
        return refuse("max_live", "no agent may live here (max_live is 0)".to_owned());
    }
    if spent.live >= bounds.live {
        return refuse(
            "max_live",
            format!(
                "{} agents live, and no more may; wait for one to end, or terminate one",
                spent.live
            ),
        );
    }
    if spent.total >= bounds.total {
        return refuse(
            "max_total",
            format!(
                "all {} agents that may be started within a day have been; no more are accepted",
                bounds.total
            ),
        );
    }
    if spent.time >= bounds.time {
        let secs = bounds.time.as_secs();
        return refuse(
            "total_time_secs",
            format!(
                "the {secs} s that all agents of a day have are spent or promised; wait for one to end early"
            ),
        );
    }
    if spent.tokens >= bounds.tokens {
        return refuse(
            "total_tokens",
            format!(
                "the {} tokens that all agents of a day have are spent or promised; wait for one to end",
                bounds.tokens
            ),
        );
    }
    if spent.output >= bounds.output {
        return refuse(
            "total_output_bytes",
            format!(
                "the {} bytes of output that all agents of a day have are spent or promised; wait for one to end",
                bounds.output
            ),
        );
    }
    Ok(())
}

/// What one agent may use. Dropped without being settled, nothing was used.
#[derive(Debug)]
pub(crate) struct Reservation {
    ledger: Arc<Ledger>,
    pub(crate) granted: Ask,
    is_settled: bool,
}

impl Reservation {
    /// Gives back what was not used.
    pub(crate) fn settle(mut self, time: Duration, tokens: u64, output: u64) {
        self.is_settled = true;
        let mut spent = self.ledger.spent();
        spent.live -= 1;
        spent.time = (spent.time - self.granted.time).saturating_add(time);
        spent.tokens = (spent.tokens - self.granted.tokens).saturating_add(tokens);
        spent.output = (spent.output - self.granted.output).saturating_add(output);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        let mut spent = self.ledger.spent();
        spent.live -= 1;
        spent.total -= 1;
        spent.time -= self.granted.time;
        spent.tokens -= self.granted.tokens;
        spent.output -= self.granted.output;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOUNDS: Bounds = Bounds {
        live: 3,
        total: 8,
        depth: 2,
        time: Duration::from_secs(50),
        tokens: 400,
        output: 3000,
    };

    #[test]
    fn the_last_place_goes_to_one_of_many() {
        let bounds = Bounds { live: 1, ..BOUNDS };
        let ledger = Arc::new(Ledger::new(bounds, Earlier::default()));
        let ask = Ask { depth: 1, time: Duration::from_secs(1), tokens: 1, output: 1 };
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let ledger = Arc::clone(&ledger);
                std::thread::spawn(move || Ledger::reserve(&ledger, ask).ok())
            })
            .collect();
        let got: Vec<_> = threads.into_iter().filter_map(|one| one.join().unwrap()).collect();
        assert_eq!(got.len(), 1);
    }

    proptest! {
        #[test]
        fn no_bound_is_ever_exceeded(
            steps in proptest::collection::vec((0_u8..3, 1_u64..4, 0_u64..40, 0_u64..300, 0_u64..2000), 0..40),
        ) {
            let ledger = Arc::new(Ledger::new(BOUNDS, Earlier::default()));
            let mut held = Vec::new();
            for (step, depth, secs, tokens, output) in steps {
                let time = Duration::from_secs(secs);
                match step {
                    0 => {
                        let before = *ledger.spent();
                        match Ledger::reserve(&ledger, Ask { depth, time, tokens, output }) {
                            Ok(reservation) => {
                                prop_assert!(depth <= BOUNDS.depth);
                                held.push(reservation);
                            }
                            Err(SpawnError::Bound { bound, .. }) => {
                                let left = match bound {
                                    "max_depth" => depth <= BOUNDS.depth,
                                    "max_live" => before.live < BOUNDS.live,
                                    "max_total" => before.total < BOUNDS.total,
                                    "total_time_secs" => before.time < BOUNDS.time,
                                    "total_tokens" => before.tokens < BOUNDS.tokens,
                                    _ => before.output < BOUNDS.output,
                                };
                                prop_assert!(!left, "{} was not reached", bound);
                                prop_assert_eq!(before, *ledger.spent());
                            }
                            Err(error) => prop_assert!(false, "{}", error),
                        }
                    }
                    1 if !held.is_empty() => {
                        let one = held.remove(0);
                        let granted = one.granted;
                        one.settle(granted.time.min(time), granted.tokens.min(tokens), granted.output.min(output));
                    }
                    _ => { held.pop(); }
                }
                let spent = *ledger.spent();
                prop_assert_eq!(spent.live, u64::try_from(held.len()).unwrap());
                prop_assert!(spent.live <= BOUNDS.live && spent.total <= BOUNDS.total);
                prop_assert!(spent.time <= BOUNDS.time && spent.tokens <= BOUNDS.tokens);
                prop_assert!(spent.output <= BOUNDS.output);
            }
        }
    }
}
