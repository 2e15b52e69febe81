//! Containers that nobody owns any more are removed: what a killed program left behind.

use std::{collections::BTreeSet, time::Duration};

use bollard::{
    Docker,
    errors::Error,
    models::ContainerSummary,
    query_parameters::{ListContainersOptionsBuilder, RemoveContainerOptionsBuilder},
};
use serde::Serialize;

use super::{
    image::is_missing,
    owner::{OWNER, Owner, SESSION},
};

/// How long a container of ours may be in the making.
const MAKING: Duration = Duration::from_secs(120);

/// What was found of the containers of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reaped {
    /// Those that were removed, by their names.
    pub removed: Vec<String>,
    /// How many belong to programs that run, or that can't be judged from this machine.
    pub kept: usize,
    /// Those that could not be removed, each with the reason.
    pub failed: Vec<String>,
}

/// Removes the containers of dead owners, and those of ours that no session of `live` has.
pub(super) async fn reap(
    docker: &Docker,
    us: &Owner,
    live: impl Fn() -> BTreeSet<String>,
) -> Result<Reaped, Error> {
    let filters = std::collections::HashMap::from([("label", vec![OWNER])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
    let found = docker.list_containers(Some(options)).await?;
    let mut reaped = Reaped::default();
    // Asked after the list was made: what began meanwhile is not in it.
    let live = live();
    for container in found {
        let Some(id) = container.id.clone().filter(|_| is_left_behind(&container, us, &live))
        else {
            reaped.kept += 1;
            continue;
        };
        match remove(docker, &id).await {
            Ok(()) => reaped.removed.push(name(&container)),
            Err(error) => reaped.failed.push(format!("{}: {error}", name(&container))),
        }
    }
    Ok(reaped)
}

fn name(container: &ContainerSummary) -> String {
    let names = container.names.as_ref().and_then(|names| names.first());
    names.map(|name| name.trim_start_matches('/').to_owned()).unwrap_or_default()
}

fn is_left_behind(container: &ContainerSummary, us: &Owner, live: &BTreeSet<String>) -> bool {
    let label = |name: &str| container.labels.as_ref().and_then(|labels| labels.get(name));
    let Some(owner) = label(OWNER).and_then(|owner| Owner::read(owner)) else { return false };
    if owner != *us {
        return owner.is_dead(us);
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let created = container.created.and_then(|secs| u64::try_from(secs).ok()).unwrap_or(u64::MAX);
    let age = now.unwrap_or_default().as_secs().saturating_sub(created);
    age > MAKING.as_secs() && !label(SESSION).is_some_and(|session| live.contains(session))
}

/// Removes a container, whatever runs in it. One that is gone, or going, is removed.
pub(super) async fn remove(docker: &Docker, id: &str) -> Result<(), Error> {
    let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    match docker.remove_container(id, Some(options)).await {
        Err(error) if is_missing(&error) => Ok(()),
        // Its removal is in progress: the engine does it.
        Err(Error::DockerResponseServerError { status_code: 409, .. }) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{super::core::Core, *};

    #[test]
    fn what_a_session_of_any_backend_of_this_program_has_is_never_left_behind() {
        let us = Owner::this().unwrap();
        let old = |session: &str| ContainerSummary {
            labels: Some(us.labels(session).into_iter().collect::<HashMap<_, _>>()),
            created: Some(1),
            ..ContainerSummary::default()
        };
        // The set is the program's, whichever backend made the session.
        Core::live().insert("reap-test".to_owned());
        let live = Core::live().clone();
        assert!(!is_left_behind(&old("reap-test"), &us, &live));
        assert!(is_left_behind(&old("reap-test-gone"), &us, &live));
        Core::live().remove("reap-test");
    }
}
