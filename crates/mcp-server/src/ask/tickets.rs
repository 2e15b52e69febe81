//! Tickets for calls that wait for a person: random, for one call, good once and for a while.

use std::{
    collections::HashMap,
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use sha2::{Digest as _, Sha256};
use tool_core::ValidatedArgs;

use crate::random;

/// Of a capability with its arguments.
pub(crate) type Digest = [u8; 32];

/// How long a ticket is good.
const GOOD_FOR: Duration = Duration::from_secs(600);
/// How many are kept; the oldest one makes room.
const MAX_TICKETS: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Tickets {
    issued: Mutex<HashMap<String, (Digest, Instant)>>,
}

impl Tickets {
    /// A ticket for a call.
    pub(super) fn issue(&self, digest: Digest) -> io::Result<String> {
        let ticket = random::hex::<16>()?;
        self.keep(ticket.clone(), digest, Instant::now());
        Ok(ticket)
    }

    /// The call that a ticket was issued for; it is good no more.
    pub(super) fn redeem(&self, ticket: &str) -> Option<Digest> {
        self.redeem_at(ticket, Instant::now())
    }

    fn keep(&self, ticket: String, digest: Digest, now: Instant) {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        issued.retain(|_, (_, at)| now.saturating_duration_since(*at) < GOOD_FOR);
        if issued.len() >= MAX_TICKETS {
            let oldest = issued.iter().min_by_key(|(_, (_, at))| *at);
            if let Some(oldest) = oldest.map(|(ticket, _)| ticket.clone()) {
                issued.remove(&oldest);
            }
        }
        issued.insert(ticket, (digest, now));
    }

    fn redeem_at(&self, ticket: &str, now: Instant) -> Option<Digest> {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let (digest, at) = issued.remove(ticket)?;
        (now.saturating_duration_since(at) < GOOD_FOR).then_some(digest)
    }
}

/// Of what would be executed; the order of keys does not matter.
pub(super) fn digest(capability: &str, args: &ValidatedArgs) -> Digest {
    let mut hash = Sha256::new();
    hash.update(capability.as_bytes());
    hash.update([0]);
    // The map of serde_json sorts its keys.
    hash.update(serde_json::Value::Object(args.as_object().clone()).to_string().as_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_good_once_and_for_a_while() {
        let tickets = Tickets::default();
        let ticket = tickets.issue([1; 32]).unwrap();
        assert_eq!(tickets.redeem("another"), None);
        assert_eq!(tickets.redeem(&ticket), Some([1; 32]));
        assert_eq!(tickets.redeem(&ticket), None);

        let ticket = tickets.issue([2; 32]).unwrap();
        assert_eq!(tickets.redeem_at(&ticket, Instant::now() + 2 * GOOD_FOR), None);
    }

    #[test]
    fn the_oldest_makes_room() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        for n in 0..MAX_TICKETS + 2 {
            tickets.keep(n.to_string(), [0; 32], now + Duration::from_millis(n as u64));
        }
        let later = now + Duration::from_secs(1);
        assert_eq!((tickets.redeem_at("0", later), tickets.redeem_at("1", later)), (None, None));
        assert_eq!(tickets.redeem_at("2", later), Some([0; 32]));
    }
}
