//! Judges a dependency graph by the rules. Pure: packages in, violations out, in the order read.

use std::fmt;

use super::rules::{
    ACTIVE_FEATURES, ACTIVE_PACKAGES, INERT, LEVELS, RESERVED, TESTKIT, TESTKIT_MAY_USE, XTASK,
};
use crate::workspace::{Dependency, Kind, Package};

/// One thing out of order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Violation {
    /// A member that has no level.
    UnknownCrate(String),
    /// A dependency on the same level or a higher one.
    WrongWay { from: String, to: String },
    /// Test help used by a program.
    TestkitOutsideTests { from: String },
    /// A package that belongs to another crate.
    Reserved { from: String, package: String, owners: &'static [&'static str] },
    /// A crate that does nothing asks for a package that does.
    Active { from: String, package: String },
    /// The same, by a feature of a package.
    ActiveFeature { from: String, package: String, feature: String },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCrate(name) => {
                write!(f, "{name} has no level; give it one in xtask's layers")
            }
            Self::WrongWay { from, to } => {
                write!(f, "{from} uses {to}, which is not on a lower level")
            }
            Self::TestkitOutsideTests { from } => {
                write!(f, "{from} uses {TESTKIT} outside its tests")
            }
            Self::Reserved { from, package, owners } => {
                write!(f, "{from} uses {package}, which belongs to {}", owners.join(" and "))
            }
            Self::Active { from, package } => {
                write!(f, "{from} uses {package}, but starts no process and opens no connection")
            }
            Self::ActiveFeature { from, package, feature } => {
                write!(f, "{from} uses {package} with {feature}, which could act on the outside")
            }
        }
    }
}

/// Everything out of order among these members.
pub(super) fn judge(members: &[Package]) -> Vec<Violation> {
    let unknown = members
        .iter()
        .filter(|member| Place::of(&member.name).is_none())
        .map(|member| Violation::UnknownCrate(member.name.clone()));
    let edges = members.iter().flat_map(|member| {
        member.dependencies.iter().flat_map(|dependency| judge_edge(&member.name, dependency))
    });
    unknown.chain(edges).collect()
}

fn judge_edge(from: &str, to: &Dependency) -> Vec<Violation> {
    let mut violations: Vec<_> = judge_direction(from, to).into_iter().collect();
    if to.kind != Kind::Dev {
        violations.extend(judge_reserved(from, to));
        violations.extend(judge_inert(from, to));
    }
    violations
}

/// Where a crate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Level(usize),
    Testkit,
    Xtask,
}

impl Place {
    fn of(name: &str) -> Option<Self> {
        match name {
            TESTKIT => Some(Self::Testkit),
            XTASK => Some(Self::Xtask),
            _ => LEVELS.iter().position(|level| level.contains(&name)).map(Self::Level),
        }
    }
}

fn judge_direction(from: &str, to: &Dependency) -> Option<Violation> {
    // What is in no level comes from outside; an unknown member is reported once, as itself.
    let (place, target) = (Place::of(from)?, Place::of(&to.name)?);
    let wrong_way = || Violation::WrongWay { from: from.to_owned(), to: to.name.clone() };
    match (place, target) {
        (_, Place::Xtask) => Some(wrong_way()),
        (Place::Xtask, _) => None,
        (_, Place::Testkit) if to.kind == Kind::Dev => None,
        (_, Place::Testkit) => Some(Violation::TestkitOutsideTests { from: from.to_owned() }),
        (Place::Testkit, _) => (!TESTKIT_MAY_USE.contains(&to.name.as_str())).then(wrong_way),
        (Place::Level(own), Place::Level(other)) => (other >= own).then(wrong_way),
    }
}

fn judge_reserved(from: &str, to: &Dependency) -> Option<Violation> {
    let rule = RESERVED.iter().find(|rule| rule.package == to.name)?;
    (!rule.owners.contains(&from)).then(|| Violation::Reserved {
        from: from.to_owned(),
        package: to.name.clone(),
        owners: rule.owners,
    })
}

fn judge_inert(from: &str, to: &Dependency) -> Vec<Violation> {
    if !INERT.contains(&from) {
        return Vec::new();
    }
    if ACTIVE_PACKAGES.contains(&to.name.as_str()) {
        return vec![Violation::Active { from: from.to_owned(), package: to.name.clone() }];
    }
    let Some((_, active)) = ACTIVE_FEATURES.iter().find(|(package, _)| *package == to.name) else {
        return Vec::new();
    };
    let default = to.uses_default_features.then_some("default");
    let asked = to.features.iter().map(String::as_str).chain(default);
    asked
        .filter(|feature| active.contains(feature))
        .map(|feature| Violation::ActiveFeature {
            from: from.to_owned(),
            package: to.name.clone(),
            feature: feature.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(name: &str, kind: Kind) -> Dependency {
        Dependency { name: name.to_owned(), kind, ..Dependency::default() }
    }

    fn judged(from: &str, to: Dependency) -> Vec<String> {
        let member =
            Package { name: from.to_owned(), dependencies: vec![to], ..Package::default() };
        judge(&[member]).iter().map(ToString::to_string).collect()
    }

    fn check(from: &str, to: &str, kind: Kind, expected: &[&str]) {
        let found = judged(from, dependency(to, kind));
        assert_eq!(found.len(), expected.len(), "{from} -> {to}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{from} -> {to}: {found}");
        }
    }

    #[test]
    fn down_is_right_and_up_or_sideways_is_wrong() {
        check("cli", "tool-core", Kind::Normal, &[]);
        check("sandbox", "confine", Kind::Normal, &[]);
        check("chain", "model", Kind::Build, &[]);
        check("chain", "sandbox", Kind::Normal, &["not on a lower level"]);
        check("tool-core", "model", Kind::Build, &["not on a lower level", "starts no process"]);
        check("toolset", "cli", Kind::Normal, &["toolset uses cli"]);
        check("model", "model", Kind::Normal, &["not on a lower level"]);
    }

    #[test]
    fn tests_may_use_testkit_and_lower_levels_only() {
        check("tool-core", "testkit", Kind::Dev, &[]);
        check("chain", "tool-core", Kind::Dev, &[]);
        check("chain", "sandbox", Kind::Dev, &["not on a lower level"]);
        check("cli", "testkit", Kind::Normal, &["outside its tests"]);
        check("model", "testkit", Kind::Build, &["outside its tests"]);
    }

    #[test]
    fn testkit_and_xtask_have_their_own_rules() {
        check("testkit", "tool-core", Kind::Normal, &[]);
        check("testkit", "model", Kind::Normal, &["not on a lower level"]);
        check("xtask", "cli", Kind::Normal, &[]);
        check("xtask", "testkit", Kind::Normal, &[]);
        check("cli", "xtask", Kind::Dev, &["not on a lower level"]);
    }

    #[test]
    fn a_crate_without_a_level_is_named() {
        check("newcomer", "serde", Kind::Normal, &["newcomer has no level"]);
    }

    #[test]
    fn reserved_packages_stay_with_their_owner() {
        check("rlm-backend", "bollard", Kind::Normal, &[]);
        check("model", "bollard", Kind::Normal, &["belongs to rlm-backend"]);
        check("cli", "rmcp", Kind::Normal, &["belongs to mcp-server"]);
        check("toolset", "clap", Kind::Normal, &["belongs to cli and xtask"]);
        check("toolset", "clap", Kind::Dev, &[]);
    }

    #[test]
    fn inert_crates_ask_for_nothing_that_acts() {
        check("sandbox", "model", Kind::Normal, &["starts no process"]);
        check("tool-core", "reqwest", Kind::Normal, &["starts no process"]);
        check("sandbox", "nix", Kind::Normal, &["starts no process"]);
        check("model", "reqwest", Kind::Normal, &[]);
        check("sandbox", "axum", Kind::Dev, &[]);
        let tokio = |feature: &str| Dependency {
            features: vec!["rt".to_owned(), feature.to_owned()],
            ..dependency("tokio", Kind::Normal)
        };
        assert!(judged("sandbox", tokio("process"))[0].contains("tokio with process"));
        assert!(judged("sandbox", tokio("sync")).is_empty());
        assert!(judged("model", tokio("net")).is_empty());
        let fetching =
            Dependency { uses_default_features: true, ..dependency("jsonschema", Kind::Normal) };
        assert!(judged("tool-core", fetching)[0].contains("jsonschema with default"));
    }
}
