//! Every dependency may be used under a licence of the allow list.
//!
//! Expressions are read as SPDX writes them: OR needs one side, AND needs both, and a WITH exception
//! is allowed only together with its licence. The older `MIT/Apache-2.0` is read as OR.

use spdx::{Expression, ParseMode};

use super::{Inputs, expected::LICENCES};
use crate::workspace::Package;

/// The check.
pub(super) fn licences(inputs: &Inputs) -> Vec<String> {
    let all = || inputs.workspace.members.iter().chain(&inputs.workspace.external);
    if inputs.workspace.external.is_empty() {
        return vec!["no dependency was read, so no licence was judged".to_owned()];
    }
    all().filter_map(judge).collect()
}

fn judge(package: &Package) -> Option<String> {
    let (name, version) = (&package.name, &package.version);
    let Some(licence) = &package.license else {
        return Some(format!("{name} {version} states no licence expression"));
    };
    match Expression::parse_mode(licence, ParseMode::LAX) {
        Err(error) => Some(format!("{name} {version}: {licence:?}: {}", error.reason)),
        Ok(expression) if is_allowed(&expression) => None,
        Ok(_) => Some(format!("{name} {version}: {licence} is not on the allow list")),
    }
}

fn is_allowed(expression: &Expression) -> bool {
    expression.evaluate(|term| LICENCES.contains(&term.to_string().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(licence: &str, is_expected: bool) {
        let package = Package { license: Some(licence.to_owned()), ..Package::default() };
        assert_eq!(judge(&package).is_none(), is_expected, "{licence}: {:?}", judge(&package));
    }

    #[test]
    fn expressions_are_judged_as_a_whole() {
        check("MIT", true);
        check("MIT OR GPL-3.0-only", true);
        check("GPL-3.0-only OR MIT", true);
        check("MIT/Apache-2.0", true);
        check("MIT AND GPL-3.0-only", false);
        check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
        check("(MIT OR Apache-2.0) AND NCSA", false);
        check("Apache-2.0 WITH LLVM-exception", true);
        check("MIT WITH Classpath-exception-2.0", false);
        check("GPL-3.0-only", false);
        check("AGPL-3.0-or-later", false);
        check("LicenseRef-own", false);
        check("mine, ask me", false);
    }

    #[test]
    fn a_package_that_says_nothing_is_a_finding() {
        assert!(judge(&Package::default()).unwrap().contains("states no licence"));
        assert_eq!(licences(&Inputs::default()).len(), 1);
        let mut inputs = Inputs::default();
        inputs.workspace.external = vec![Package::default()];
        assert_eq!(licences(&inputs).len(), 1);
    }

    #[test]
    fn the_allow_list_is_made_of_spdx_terms() {
        for licence in LICENCES {
            check(licence, true);
        }
    }
}
