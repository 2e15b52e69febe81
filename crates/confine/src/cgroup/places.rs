//! Where the host's own control groups are: `/proc/self/cgroup` says which, `mountinfo` where.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Place, Version};

/// The directories of this process's own groups that could hold a child's.
pub(super) fn candidates() -> io::Result<Vec<Place>> {
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    Ok(find(&groups, &mounts, |directory| {
        fs::read_to_string(directory.join("cgroup.subtree_control")).unwrap_or_default()
    }))
}

/// A mounted hierarchy.
struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    version: Version,
    controllers: &'a str,
}

/// The places, from the texts of the two files; `divided` reads which controllers a version 2 group
/// hands down.
fn find(groups: &str, mounts: &str, divided: impl Fn(&Path) -> String) -> Vec<Place> {
    let mounts: Vec<_> = mounts.lines().filter_map(mount).collect();
    groups.lines().filter_map(|line| place(line, &mounts, &divided)).collect()
}

/// One line of `mountinfo`, if it is a hierarchy of control groups.
fn mount(line: &str) -> Option<Mount<'_>> {
    let (place, system) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, point) = (place.next()?, place.next()?);
    let mut system = system.split(' ');
    let version = match system.next()? {
        "cgroup" => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    Some(Mount { root, point, version, controllers: system.nth(1)? })
}

/// The place that one line of `/proc/self/cgroup` names, if it can hold something.
fn place(line: &str, mounts: &[Mount<'_>], divided: impl Fn(&Path) -> String) -> Option<Place> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let version = if controllers.is_empty() { Version::Two } else { Version::One };
    let mount = mounts.iter().find(|mount| {
        let same = |wanted| mount.controllers.split(',').any(|one| one == wanted);
        mount.version == version && (version == Version::Two || controllers.split(',').all(same))
    })?;
    let below = Path::new(path).strip_prefix(mount.root).ok()?;
    let directory: PathBuf = Path::new(mount.point).join(below);
    let (memory, processes) = match version {
        Version::One => (has(controllers, ',', "memory"), has(controllers, ',', "pids")),
        Version::Two => {
            let handed_down = divided(&directory);
            (has(&handed_down, ' ', "memory"), has(&handed_down, ' ', "pids"))
        }
    };
    (memory || processes).then_some(Place { version, directory, memory, processes })
}

/// Whether a list has a name.
fn has(list: &str, separator: char, name: &str) -> bool {
    list.trim().split(separator).any(|one| one == name)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Place, Version, find};

    const VERSION_ONE: &str = "\
30 25 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
33 30 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
34 30 0:30 /box /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
";

    #[test]
    fn each_controller_of_version_one_has_its_place() {
        let groups = "9:pids:/box/inner\n4:memory:/here\n3:cpuset:/\n0::/\n";
        let places = find(groups, VERSION_ONE, |_| String::new());
        let place = |directory: &str, memory| Place {
            version: Version::One,
            directory: PathBuf::from(directory),
            memory,
            processes: !memory,
        };
        assert_eq!(
            places,
            [place("/sys/fs/cgroup/pids/inner", false), place("/sys/fs/cgroup/memory/here", true)]
        );
    }

    #[test]
    fn version_two_is_used_when_it_hands_controllers_down() {
        let mounts = "31 30 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let groups = "0::/user.slice/run.scope\n";
        let places = find(groups, mounts, |_| "cpu memory pids\n".to_owned());
        assert_eq!(
            places,
            [Place {
                version: Version::Two,
                directory: PathBuf::from("/sys/fs/cgroup/user.slice/run.scope"),
                memory: true,
                processes: true,
            }]
        );
        assert_eq!(find(groups, mounts, |_| "cpu\n".to_owned()), []);
    }

    #[test]
    fn a_group_outside_of_what_is_mounted_has_no_place() {
        assert_eq!(find("9:pids:/elsewhere\n", VERSION_ONE, |_| String::new()), []);
    }
}
