//! Arguments as the types that the schema promises.

use serde_json::Value;
use tool_core::ValidatedArgs;

/// The largest integer that every JSON reader carries exactly: 2^53 - 1. Schemas name it as the
/// maximum of offsets and limits.
pub(super) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// An integer argument. JSON Schema calls `3.0` an integer too.
pub(super) fn integer(args: &ValidatedArgs, name: &str) -> Option<u64> {
    from_value(args.get(name)?)
}

/// A boolean argument; false where it is missing.
pub(super) fn flag(args: &ValidatedArgs, name: &str) -> bool {
    args.get(name).and_then(Value::as_bool).unwrap_or(false)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "both casts are exact: the number is integral and from 0 to 2^53 - 1"
)]
fn from_value(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let fits = number.fract() == 0.0 && (0.0..=MAX_INTEGER as f64).contains(&number);
        fits.then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_integer_may_be_written_with_a_point() {
        assert_eq!(from_value(&json!(3)), Some(3));
        assert_eq!(from_value(&json!(3.0)), Some(3));
        assert_eq!(from_value(&json!(9_007_199_254_740_991.0)), Some(MAX_INTEGER));
        for other in [json!(3.5), json!(-1), json!(1e300), json!("3")] {
            assert_eq!(from_value(&other), None, "{other}");
        }
    }
}
