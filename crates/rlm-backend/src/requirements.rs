//! `require`: the mechanisms without which nothing is started.
//!
//! Part of `[sandbox]` and of each `[tools.command.NAME]`. Without it the *properties* are required
//! (files, network and privileges are confined, by whichever mechanism can), and each single mechanism
//! is best effort.

use std::borrow::Cow;

use confine::{Confinement, Mechanism};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Mechanisms that are required, each by its name in a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Requirements(pub Vec<Mechanism>);

impl Requirements {
    /// A confinement that refuses to start anything without them.
    #[must_use]
    pub fn of(&self, confinement: Confinement) -> Confinement {
        self.0.iter().copied().fold(confinement, Confinement::require)
    }

    /// The same where there are no names to protect: that mechanism can't be missed then.
    pub(crate) fn where_nothing_is_protected(&self) -> Self {
        let others = self.0.iter().copied().filter(|&one| one != Mechanism::ProtectedNames);
        Self(others.collect())
    }
}

impl JsonSchema for Requirements {
    fn schema_name() -> Cow<'static, str> {
        "Requirements".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "items": {"type": "string", "enum": Mechanism::ALL}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_a_report_and_others_are_refused() {
        let named: Requirements = serde_json::from_str(r#"["landlock", "memory_group"]"#).unwrap();
        assert_eq!(named.0, [Mechanism::Landlock, Mechanism::MemoryGroup]);
        assert!(serde_json::from_str::<Requirements>(r#"["Landlock"]"#).is_err());
        let schema = schemars::schema_for!(Requirements).to_value();
        assert_eq!(schema["items"]["enum"].as_array().unwrap().len(), Mechanism::ALL.len());
    }
}
