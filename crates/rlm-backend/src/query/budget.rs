//! Budgets that are shared down a tree of queries.
//!
//! A tree has one ledger. A [`Budget`] is a place in it: what is taken there is taken from every place
//! above it too, so a child can never spend what its parent has not. Before a model is asked, a
//! [`Reservation`] holds what the request may take; settling it books what was really used, and
//! dropping it gives everything back, on whatever path. Nothing that is left is ever below zero:
//! a provider that counts more than was reserved is booked as it counts, and nothing is left then.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use model::Usage;
use serde::{Deserialize, Serialize};
use tokio::{sync::Notify, time::Instant};

use super::StopReason;

/// How much of each may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowance {
    pub(super) tokens: u64,
    pub(super) sub_calls: u64,
    /// In millionths of the currency; `None` where it is not bounded.
    pub(super) cost_micros: Option<u64>,
}

/// What was really spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens that models read, as their providers count them.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Requests to a model, and queries, that code asked for.
    pub sub_calls: u64,
    /// In millionths of the currency of the configured prices.
    pub cost_micros: u64,
}

impl Spent {
    /// Tokens read and written.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.sub_calls = self.sub_calls.saturating_add(other.sub_calls);
        self.cost_micros = self.cost_micros.saturating_add(other.cost_micros);
    }
}

/// What is asked for or held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) tokens: u64,
    pub(super) sub_calls: u64,
    pub(super) cost_micros: u64,
}

#[derive(Debug)]
struct Node {
    parent: Option<usize>,
    allowance: Allowance,
    spent: Spent,
    held: Amount,
}

impl Node {
    fn left(&self) -> Allowance {
        let left = |max: u64, spent: u64, held: u64| max.saturating_sub(spent).saturating_sub(held);
        let (max, spent, held) = (&self.allowance, &self.spent, &self.held);
        Allowance {
            tokens: left(max.tokens, spent.tokens(), held.tokens),
            sub_calls: left(max.sub_calls, spent.sub_calls, held.sub_calls),
            cost_micros: max.cost_micros.map(|max| left(max, spent.cost_micros, held.cost_micros)),
        }
    }
}

#[derive(Debug)]
struct Ledger {
    nodes: Mutex<Vec<Node>>,
    /// Something that was held was given back or spent.
    freed: Notify,
}

/// A place in the ledger of a tree. Clones are the same place.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    ledger: Arc<Ledger>,
    node: usize,
    deadline: Instant,
}

impl Budget {
    /// The root of a new tree.
    pub(super) fn new(allowance: Allowance, time: Duration) -> Self {
        let root =
            Node { parent: None, allowance, spent: Spent::default(), held: Amount::default() };
        let nodes = Mutex::new(vec![root]);
        let ledger = Arc::new(Ledger { nodes, freed: Notify::new() });
        Self { ledger, node: 0, deadline: Instant::now() + time }
    }

    /// A place below this one, with at most `share` of every 100 of what is left here, and never more
    /// than its parent has. It is over when its parent is.
    pub(super) fn child(&self, share: u64) -> Self {
        let left = self.left();
        let part = |left: u64| left / 100 * share + left % 100 * share / 100;
        let allowance = Allowance {
            tokens: part(left.tokens),
            sub_calls: part(left.sub_calls),
            cost_micros: left.cost_micros.map(part),
        };
        let (spent, held) = (Spent::default(), Amount::default());
        let mut ledger = self.lock();
        ledger.push(Node { parent: Some(self.node), allowance, spent, held });
        let node = ledger.len() - 1;
        drop(ledger);
        Self { ledger: Arc::clone(&self.ledger), node, deadline: self.deadline }
    }

    /// When it is over.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// What is neither spent nor held, here and above.
    pub(super) fn left(&self) -> Allowance {
        let ledger = self.lock();
        let lefts = self.path(&ledger).into_iter().filter_map(|at| Some(ledger.get(at)?.left()));
        let least = |a: Allowance, b: Allowance| Allowance {
            tokens: a.tokens.min(b.tokens),
            sub_calls: a.sub_calls.min(b.sub_calls),
            cost_micros: [a.cost_micros, b.cost_micros].into_iter().flatten().min(),
        };
        let none = Allowance { tokens: 0, sub_calls: 0, cost_micros: None };
        lefts.reduce(least).unwrap_or(none)
    }

    /// What was spent here and below.
    pub(super) fn spent(&self) -> Spent {
        self.lock().get(self.node).map(|node| node.spent).unwrap_or_default()
    }

    /// Holds an amount; the reason where there is not as much left.
    pub(super) fn reserve(&self, amount: Amount) -> Result<Reservation, StopReason> {
        let mut ledger = self.lock();
        let path = self.path(&ledger);
        for node in path.iter().filter_map(|at| ledger.get(*at)) {
            let left = node.left();
            if amount.sub_calls > left.sub_calls {
                return Err(StopReason::SubCalls);
            }
            if amount.tokens > left.tokens {
                return Err(StopReason::TokenBudget);
            }
            if left.cost_micros.is_some_and(|left| amount.cost_micros > left) {
                return Err(StopReason::CostBudget);
            }
        }
        for at in path {
            if let Some(node) = ledger.get_mut(at) {
                node.held.tokens += amount.tokens;
                node.held.sub_calls += amount.sub_calls;
                node.held.cost_micros += amount.cost_micros;
            }
        }
        drop(ledger);
        Ok(Reservation { budget: self.clone(), amount })
    }

    /// The tokens that are not spent, here and above, whether they are held or not.
    fn unspent(&self) -> u64 {
        let ledger = self.lock();
        let nodes = self.path(&ledger).into_iter().filter_map(|at| ledger.get(at));
        nodes.map(|it| it.allowance.tokens.saturating_sub(it.spent.tokens())).min().unwrap_or(0)
    }

    /// Holds from `least` to `most` tokens, at `price`: as many as are not spent. Waits where others
    /// hold them, because they mostly need less.
    pub(super) async fn hold(
        &self,
        least: u64,
        most: u64,
        price: impl Fn(u64) -> u64,
    ) -> Result<Reservation, StopReason> {
        loop {
            let mut freed = std::pin::pin!(self.ledger.freed.notified());
            freed.as_mut().enable();
            let unspent = self.unspent();
            if unspent < least {
                return Err(StopReason::TokenBudget);
            }
            let tokens = most.min(unspent);
            let amount = Amount { tokens, sub_calls: 0, cost_micros: price(tokens) };
            match self.reserve(amount) {
                Err(StopReason::TokenBudget) => freed.await,
                Err(StopReason::CostBudget) if self.has_held() => freed.await,
                reserved => return reserved,
            }
        }
    }

    /// Whether somebody holds something, here or above.
    fn has_held(&self) -> bool {
        let ledger = self.lock();
        let mut nodes = self.path(&ledger).into_iter().filter_map(|at| ledger.get(at));
        nodes.any(|node| node.held.tokens > 0)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Node>> {
        self.ledger.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This place and those above it.
    fn path(&self, ledger: &[Node]) -> Vec<usize> {
        let above = |at: &usize| ledger.get(*at).and_then(|node| node.parent);
        std::iter::successors(Some(self.node), above).collect()
    }

    fn book(&self, held: Amount, spent: Spent) {
        let mut ledger = self.lock();
        for at in self.path(&ledger) {
            let Some(node) = ledger.get_mut(at) else { continue };
            node.held.tokens = node.held.tokens.saturating_sub(held.tokens);
            node.held.sub_calls = node.held.sub_calls.saturating_sub(held.sub_calls);
            node.held.cost_micros = node.held.cost_micros.saturating_sub(held.cost_micros);
            node.spent.add(&spent);
        }
        drop(ledger);
        self.ledger.freed.notify_waiters();
    }
}

/// What is held for a request. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: Budget,
    amount: Amount,
}

impl Reservation {
    /// How many tokens it holds.
    pub(super) fn tokens(&self) -> u64 {
        self.amount.tokens
    }

    /// Books what was used instead of what was held; the sub-calls that were held are spent.
    pub(super) fn settle(mut self, usage: Usage, cost_micros: u64) {
        let held = std::mem::take(&mut self.amount);
        let spent = Spent {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            sub_calls: held.sub_calls,
            cost_micros,
        };
        self.budget.book(held, spent);
    }

    /// Takes one sub-call out of it, as a reservation of its own.
    pub(super) fn split_call(&mut self) -> Option<Self> {
        self.amount.sub_calls = self.amount.sub_calls.checked_sub(1)?;
        let amount = Amount { sub_calls: 1, ..Amount::default() };
        Some(Self { budget: self.budget.clone(), amount })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.book(self.amount, Spent::default());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn budget(tokens: u64, sub_calls: u64) -> Budget {
        let allowance = Allowance { tokens, sub_calls, cost_micros: Some(tokens) };
        Budget::new(allowance, Duration::from_secs(60))
    }

    fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens }
    }

    fn tokens(tokens: u64) -> Amount {
        Amount { tokens, ..Amount::default() }
    }

    #[test]
    fn what_is_dropped_is_given_back_and_what_is_settled_is_spent() {
        let root = budget(100, 2);
        let held = root.reserve(Amount { tokens: 60, sub_calls: 1, cost_micros: 0 }).unwrap();
        assert_eq!((root.left().tokens, root.left().sub_calls), (40, 1));
        assert_eq!(root.reserve(tokens(41)).unwrap_err(), StopReason::TokenBudget);
        drop(held);
        assert_eq!((root.left().tokens, root.left().sub_calls), (100, 2));
        let held = root.reserve(Amount { tokens: 60, sub_calls: 1, cost_micros: 5 }).unwrap();
        held.settle(usage(20, 3), 4);
        let spent = Spent { input_tokens: 20, output_tokens: 3, sub_calls: 1, cost_micros: 4 };
        assert_eq!((root.left().tokens, root.spent()), (77, spent));
    }

    #[test]
    fn a_child_has_a_share_and_takes_it_from_all_above() {
        let root = budget(1000, 10);
        let child = root.child(50);
        let grandchild = child.child(50);
        assert_eq!((child.left().tokens, grandchild.left().tokens), (500, 250));
        grandchild.reserve(tokens(200)).unwrap().settle(usage(150, 50), 0);
        assert_eq!(
            (root.left().tokens, child.left().tokens, grandchild.left().tokens),
            (800, 300, 50)
        );
        root.reserve(tokens(790)).unwrap().settle(usage(790, 0), 0);
        assert_eq!((child.left().tokens, grandchild.left().tokens), (10, 10));
    }

    #[test]
    fn a_provider_that_counts_more_than_was_held_leaves_nothing_and_not_less() {
        let root = budget(100, 1);
        root.reserve(tokens(100)).unwrap().settle(usage(500, 0), 500);
        assert_eq!((root.left().tokens, root.left().cost_micros), (0, Some(0)));
        assert_eq!(root.reserve(tokens(1)).unwrap_err(), StopReason::TokenBudget);
    }

    #[test]
    fn a_batch_is_held_as_a_whole_and_spent_one_by_one() {
        let root = budget(100, 3);
        let mut batch = root.reserve(Amount { sub_calls: 3, ..Amount::default() }).unwrap();
        let one = batch.split_call().unwrap();
        assert_eq!(root.left().sub_calls, 0);
        one.settle(usage(1, 1), 0);
        drop(batch);
        assert_eq!((root.left().sub_calls, root.spent().sub_calls), (2, 1));
    }

    /// A step of a tree: (place, what is done there, an amount).
    fn step() -> impl Strategy<Value = (usize, u8, u64)> {
        (0..8_usize, 0..5_u8, 0..400_u64)
    }

    proptest! {
        #[test]
        fn whatever_happens_nothing_is_lost_or_below_zero(
            steps in proptest::collection::vec(step(), 0..120)
        ) {
            let mut places = vec![budget(1000, 20)];
            let mut held: Vec<(usize, u64, Reservation)> = Vec::new();
            let mut used = 0;
            for (place, what, amount) in steps {
                let place = place % places.len();
                match what {
                    0 => places.push(places[place].child(amount % 101)),
                    1 | 2 => {
                        let asked = Amount { tokens: amount, sub_calls: 1, cost_micros: amount };
                        let left = places[place].left();
                        let fits = amount <= left.tokens && left.sub_calls > 0;
                        let reserved = places[place].reserve(asked);
                        prop_assert_eq!(reserved.is_ok(), fits);
                        held.extend(reserved.ok().map(|it| (place, amount, it)));
                    }
                    3 if !held.is_empty() => {
                        let (_, most, it) = held.swap_remove(place % held.len());
                        let real = amount.min(most);
                        it.settle(usage(real, 0), real);
                        used += real;
                    }
                    4 if !held.is_empty() => drop(held.swap_remove(place % held.len())),
                    _ => {}
                }
                let waiting: u64 = held.iter().map(|(_, most, _)| most).sum();
                prop_assert_eq!(places[0].left().tokens, 1000 - used - waiting);
                for place in &places {
                    let node = &place.lock()[place.node];
                    prop_assert!(node.spent.tokens() + node.held.tokens <= node.allowance.tokens);
                    prop_assert!(node.spent.sub_calls + node.held.sub_calls <= node.allowance.sub_calls);
                }
            }
            held.clear();
            prop_assert_eq!(places[0].left().tokens, 1000 - used);
            prop_assert_eq!(places[0].spent().tokens(), used);
        }
    }
}
