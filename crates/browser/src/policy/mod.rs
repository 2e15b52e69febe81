//! Which addresses may be dialled, checked where they are dialled.
//!
//! [`UrlPolicy`] judges a URL as a model wrote it, a host with its port, and the addresses that a name
//! stands for. [`Dialer`] is the only way from a host to a connection: it resolves once, lets the policy
//! judge every answer, connects to an address that was judged, and looks whom it reached. Nothing else
//! in the crate opens a connection.

mod address;
mod dial;
mod pattern;
mod refusal;
mod resolve;
mod rules;
mod text;
mod tunnel;

pub use address::AddressClass;
pub use dial::{DialError, Dialed, Dialer};
pub use pattern::{HostPattern, PatternError};
pub use refusal::Refusal;
pub use resolve::{Resolve, SystemResolver};
pub use rules::{Admission, PolicyError, PolicyRules, UrlPolicy};
