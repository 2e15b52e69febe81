//! The variables of a container: a short list, and of the image's own what programs need to be found.
//!
//! Nothing of the host's is passed. A variable of the image that is not on the list is taken away: the
//! engine does so for a name without a value.

/// What every session has, on every backend; `PATH` where the image has none.
const GIVEN: [(&str, &str); 5] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/tmp"),
    ("TMPDIR", "/tmp"),
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
];

/// What an image may decide: where its programs and their libraries are.
const OF_THE_IMAGE: [&str; 5] =
    ["PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"];

/// The variables, in an order that the same image has every time.
pub(super) fn variables(image: &[String]) -> Vec<String> {
    let name_of =
        |variable: &str| variable.split_once('=').map_or(variable, |(name, _)| name).to_owned();
    let is_given = |name: &str| GIVEN.iter().any(|(given, _)| *given == name);
    let image = image.iter().filter(|variable| !name_of(variable).is_empty());
    let (kept, others): (Vec<_>, Vec<_>) =
        image.partition(|variable| OF_THE_IMAGE.contains(&name_of(variable).as_str()));
    let is_kept = |name: &str| kept.iter().any(|variable| name_of(variable) == name);
    let given = GIVEN.iter().filter(|(name, _)| !is_kept(name));
    let mut variables: Vec<_> = given.map(|(name, value)| format!("{name}={value}")).collect();
    let removed = others.iter().map(|variable| name_of(variable)).filter(|name| !is_given(name));
    let removed: Vec<_> = removed.collect();
    variables.extend(kept.into_iter().cloned());
    variables.extend(removed);
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_decides_where_programs_are_and_nothing_else() {
        let image = ["PATH=/a", "HOME=/root", "TOKEN=x", "EMPTY=", "=", "BARE"].map(str::to_owned);
        let found = variables(&image);
        let expected = ["HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8", "TZ=UTC", "PATH=/a"];
        assert_eq!(found[..5], expected);
        assert_eq!(found[5..], ["TOKEN", "EMPTY", "BARE"], "these are taken away");
    }
}
