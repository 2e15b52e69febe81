//! Where the host's own control groups are: `/proc/self/cgroup` says which, `mountinfo` where.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::delegated::Asker;
use super::{Place, Version};

/// The directories of groups that could hold a child's, and why version 2 has none, if it is there.
pub(super) fn candidates(asker: &Asker) -> io::Result<(Vec<Place>, Option<String>)> {
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    Ok(find(&groups, &mounts, |own, top| asker.place(own, top)))
}

/// A mounted hierarchy.
struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    version: Version,
    controllers: &'a str,
}

/// The places, from the texts of the two files; `divided` finds the one of version 2, given our own
/// group and the top of what is mounted.
fn find(
    groups: &str,
    mounts: &str,
    divided: impl Fn(&Path, &Path) -> Result<Place, String>,
) -> (Vec<Place>, Option<String>) {
    let mounts: Vec<_> = mounts.lines().filter_map(mount).collect();
    let (mut places, mut why) = (Vec::new(), None);
    for own in groups.lines().filter_map(|line| Own::of(line, &mounts)) {
        match own.version {
            Version::One => places.extend(own.place()),
            Version::Two => match divided(&own.directory, Path::new(own.top)) {
                Ok(place) => places.push(place),
                Err(reason) => why = Some(reason),
            },
        }
    }
    (places, why)
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

/// A group that this process is in.
struct Own<'a> {
    version: Version,
    controllers: &'a str,
    directory: PathBuf,
    /// Where its hierarchy is mounted.
    top: &'a str,
}

impl<'a> Own<'a> {
    /// That of one line of `/proc/self/cgroup`, if it can be reached.
    fn of(line: &'a str, mounts: &[Mount<'a>]) -> Option<Self> {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let version = if controllers.is_empty() { Version::Two } else { Version::One };
        let mount = mounts.iter().find(|mount| {
            let same = |wanted| mount.controllers.split(',').any(|one| one == wanted);
            mount.version == version
                && (version == Version::Two || controllers.split(',').all(same))
        })?;
        let below = Path::new(path).strip_prefix(mount.root).ok()?;
        let directory = Path::new(mount.point).join(below);
        Some(Self { version, controllers, directory, top: mount.point })
    }

    /// The place of a group of version 1, if one of its controllers holds something.
    fn place(self) -> Option<Place> {
        let place = Place {
            version: Version::One,
            memory: has(self.controllers, "memory"),
            processes: has(self.controllers, "pids"),
            cpu: has(self.controllers, "cpu"),
            directory: self.directory,
        };
        place.holds_something().then_some(place)
    }
}

/// Whether a list has a name.
fn has(list: &str, name: &str) -> bool {
    list.split(',').any(|one| one == name)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Place, Version, find};

    const VERSION_ONE: &str = "\
30 25 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
33 30 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
34 30 0:30 /box /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
35 30 0:31 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
";

    /// No group of version 2 can be used.
    fn none(_: &Path, _: &Path) -> Result<Place, String> {
        Err("not delegated".to_owned())
    }

    #[test]
    fn each_controller_of_version_one_has_its_place() {
        let groups = "9:pids:/box/inner\n5:cpu,cpuacct:/\n4:memory:/here\n3:cpuset:/\n0::/\n";
        let (places, why) = find(groups, VERSION_ONE, none);
        let place = |directory: &str, held: &str| Place {
            version: Version::One,
            directory: PathBuf::from(directory),
            memory: held == "memory",
            processes: held == "pids",
            cpu: held == "cpu",
        };
        let expected = [
            place("/sys/fs/cgroup/pids/inner", "pids"),
            place("/sys/fs/cgroup/cpu,cpuacct", "cpu"),
            place("/sys/fs/cgroup/memory/here", "memory"),
        ];
        assert_eq!((places.as_slice(), why.as_deref()), (&expected[..], Some("not delegated")));
    }

    #[test]
    fn version_two_is_asked_for_a_place_from_our_own_group() {
        let mounts = "31 30 0:27 /user.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let (places, why) = find("0::/user.slice/run.scope\n", mounts, |own, top| {
            assert_eq!(own, Path::new("/sys/fs/cgroup/run.scope"));
            assert_eq!(top, Path::new("/sys/fs/cgroup"));
            Ok(Place {
                version: Version::Two,
                directory: own.to_owned(),
                memory: true,
                processes: true,
                cpu: false,
            })
        });
        assert_eq!((places.len(), why), (1, None));
    }

    #[test]
    fn a_group_outside_of_what_is_mounted_has_no_place() {
        assert_eq!(find("9:pids:/elsewhere\n", VERSION_ONE, none), (Vec::new(), None));
    }
}
