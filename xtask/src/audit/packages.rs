//! Checks on the packages: which there are, their version, their manifest and their README.

use std::collections::BTreeSet;

use super::{Inputs, expected::PACKAGES};
use crate::workspace::Package;

/// Exactly the expected packages are members.
pub(super) fn expected_packages(inputs: &Inputs) -> Vec<String> {
    let expected: BTreeSet<_> = PACKAGES.iter().copied().collect();
    let found: BTreeSet<_> = inputs.members().iter().map(|member| member.name.as_str()).collect();
    let missing = expected.difference(&found).map(|name| format!("{name} is missing"));
    let unexpected = found.difference(&expected).map(|name| format!("{name} is not expected"));
    missing.chain(unexpected).collect()
}

/// One version, and one oldest compiler, for all.
pub(super) fn one_version(inputs: &Inputs) -> Vec<String> {
    let Some(first) = inputs.members().first() else {
        return vec!["there is no package".to_owned()];
    };
    let facts = |package: &Package| (package.version.clone(), package.rust_version.clone());
    let differs = inputs.members().iter().filter(|member| facts(member) != facts(first));
    differs
        .map(|member| {
            let (version, rust) = (&member.version, member.rust_version.as_deref());
            let rust = rust.unwrap_or("unknown");
            format!(
                "{} is {version} (Rust {rust}), but {} is {} (Rust {})",
                member.name,
                first.name,
                first.version,
                first.rust_version.as_deref().unwrap_or("unknown")
            )
        })
        .collect()
}

/// Every member takes the lints of the workspace.
pub(super) fn workspace_lints(inputs: &Inputs) -> Vec<String> {
    let takes_lints = |text: &str| {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
    };
    inputs
        .members()
        .iter()
        .map(|member| format!("{}Cargo.toml", inputs.folder(member)))
        .filter(|path| !inputs.text(path).is_some_and(takes_lints))
        .map(|path| format!("{path}: expected [lints] with workspace = true"))
        .collect()
}

/// Every member has a README that says something.
pub(super) fn readmes(inputs: &Inputs) -> Vec<String> {
    inputs
        .members()
        .iter()
        .map(|member| format!("{}README.md", inputs.folder(member)))
        .filter(|path| inputs.text(path).is_none_or(|text| text.trim().is_empty()))
        .map(|path| format!("{path} is missing or empty"))
        .collect()
}

/// The lock file is what cargo would write today.
pub(super) fn lock_file(inputs: &Inputs) -> Vec<String> {
    inputs.lock_problem.iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::{super::tree::file, *};

    fn member(name: &str, version: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            manifest_path: crate::process::root().join("crates").join(name).join("Cargo.toml"),
            ..Package::default()
        }
    }

    fn inputs(members: Vec<Package>) -> Inputs {
        let mut inputs = Inputs::default();
        inputs.workspace.members = members;
        inputs
    }

    #[test]
    fn a_missing_and_an_unexpected_package_are_named() {
        let mut members: Vec<_> = PACKAGES.iter().map(|name| member(name, "1.0.0")).collect();
        assert!(expected_packages(&inputs(members.clone())).is_empty());
        members[0].name = "newcomer".to_owned();
        let found = expected_packages(&inputs(members));
        let missing = format!("{} is missing", PACKAGES[0]);
        assert_eq!(found, [missing.as_str(), "newcomer is not expected"]);
    }

    #[test]
    fn a_version_that_drifts_is_named() {
        let same = vec![member("a", "1.0.0"), member("b", "1.0.0")];
        assert!(one_version(&inputs(same)).is_empty());
        let drift = one_version(&inputs(vec![member("a", "1.0.0"), member("b", "1.0.1")]));
        assert!(drift[0].starts_with("b is 1.0.1"), "{drift:?}");
        let mut older = member("b", "1.0.0");
        older.rust_version = Some("1.70".to_owned());
        assert_eq!(one_version(&inputs(vec![member("a", "1.0.0"), older])).len(), 1);
        assert_eq!(one_version(&inputs(Vec::new())).len(), 1);
    }

    #[test]
    fn a_manifest_without_the_workspace_lints_is_named() {
        let mut inputs = inputs(vec![member("a", "1.0.0")]);
        assert_eq!(workspace_lints(&inputs).len(), 1, "no manifest");
        let path = "crates/a/Cargo.toml";
        inputs.files = vec![file(path, "[lints]\n\nworkspace = true\n")];
        assert!(workspace_lints(&inputs).is_empty());
        inputs.files = vec![file(path, "[lints.rust]\nunsafe_code = \"allow\"\n")];
        assert!(workspace_lints(&inputs)[0].starts_with(path));
    }

    #[test]
    fn a_package_without_a_readme_is_named() {
        let mut inputs = inputs(vec![member("a", "1.0.0")]);
        assert_eq!(readmes(&inputs), ["crates/a/README.md is missing or empty"]);
        inputs.files = vec![file("crates/a/README.md", " \n")];
        assert_eq!(readmes(&inputs).len(), 1);
        inputs.files = vec![file("crates/a/README.md", "# a\n")];
        assert!(readmes(&inputs).is_empty());
    }

    #[test]
    fn a_stale_lock_file_is_a_finding() {
        let mut inputs = Inputs::default();
        assert!(lock_file(&inputs).is_empty());
        inputs.lock_problem = Some("needs to be updated".to_owned());
        assert_eq!(lock_file(&inputs), ["needs to be updated"]);
    }
}
