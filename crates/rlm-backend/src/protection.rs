//! `protection`: what an operator adds to the names that are protected in a writable directory, and
//! takes from them.
//!
//! Part of `[sandbox]` and of each `[tools.command.NAME]`. How a name is matched is documented at
//! [`confine::Protection`].

use confine::{PatternError, Protection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names in a writable directory that the host obeys or runs later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProtectionConfig {
    /// Names that are read-only where they exist, besides the built-in ones: a name, or names joined by
    /// `/`, matched at the end of a path; with `./` before it, in the top directory alone.
    pub protect: Vec<String>,
    /// Names that stay writable and are listed apart when they change.
    pub report: Vec<String>,
    /// Names that are neither protected nor listed.
    pub unprotect: Vec<String>,
}

impl ProtectionConfig {
    /// The built-in lists with these names.
    ///
    /// # Errors
    ///
    /// The first that can't be matched, or that is in two lists.
    pub fn protection(&self) -> Result<Protection, PatternError> {
        let mut protection = Protection::standard();
        for name in &self.protect {
            protection = protection.protect(name)?;
        }
        for name in &self.report {
            protection = protection.report(name)?;
        }
        for name in &self.unprotect {
            protection = protection.exempt(name)?;
        }
        Ok(protection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_can_not_be_matched_is_refused() {
        let one = |name: &str| vec![name.to_owned()];
        let config = ProtectionConfig { protect: one("deploy.sh"), ..ProtectionConfig::default() };
        config.protection().unwrap();
        let twice = ProtectionConfig { unprotect: one("deploy.sh"), ..config };
        assert!(twice.protection().unwrap_err().to_string().contains("two lists"));
        for name in ["*.sh", "/etc", "a/../b", ""] {
            let config = ProtectionConfig { report: one(name), ..ProtectionConfig::default() };
            assert!(config.protection().is_err(), "{name}");
        }
    }
}
