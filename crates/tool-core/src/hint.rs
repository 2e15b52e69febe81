//! The nearest name, for a call of a tool that does not exist.
//!
//! A hint is only ever text in an error: nothing is called by it. The index is made once from the
//! authorized names and is asked in time that does not grow with their number: spellings are folded
//! (case, separators, a namespace in front), then the neighbours in sorted order are compared.

use crate::ToolName;

/// Finds the name that a wrong name probably meant.
///
/// ```
/// let index = tool_core::NameIndex::new([tool_core::ToolName::new("read_file")?]);
/// let hint = |name| index.closest(name).map(|name| name.as_str());
/// assert_eq!(hint("Read_File"), Some("read_file"));
/// assert_eq!(hint("functions.read_file"), Some("read_file"));
/// assert_eq!(hint("raed_file"), Some("read_file"));
/// assert_eq!(hint("send_mail"), None);
/// # Ok::<(), tool_core::NameError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NameIndex {
    /// Sorted by the folded name.
    entries: Vec<Entry>,
}

/// A name with its folded spelling, whose first bytes stand beside it so that a search rarely has to
/// follow the pointer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    first: u64,
    folded: Box<str>,
    name: ToolName,
}

/// Longer texts are no misspelt names, and are not worth the time.
const MAX_ASKED: usize = 128;

impl NameIndex {
    /// An index of these names. Of two that fold alike, the smaller is kept.
    pub fn new(names: impl IntoIterator<Item = ToolName>) -> Self {
        let mut entries: Vec<_> = names
            .into_iter()
            .map(|name| {
                let folded = fold(name.as_str()).into_boxed_str();
                Entry { first: first_bytes(&folded), folded, name }
            })
            .collect();
        entries.sort();
        entries.dedup_by(|later, earlier| later.folded == earlier.folded);
        Self { entries }
    }

    /// The name nearest to `asked`, where one is near enough to be worth saying.
    #[must_use]
    pub fn closest(&self, asked: &str) -> Option<&ToolName> {
        if asked.is_empty() || asked.len() > MAX_ASKED {
            return None;
        }
        let folded = fold(asked);
        let place = match self.search(&folded) {
            Ok(index) => return Some(&self.entries[index].name),
            Err(place) => place,
        };
        self.without_namespace(asked)
            .or_else(|| self.exact(doubled(&folded)?))
            .or_else(|| self.neighbour(&folded, place))
    }

    /// Where the folded name stands, or where it would.
    fn search(&self, folded: &str) -> Result<usize, usize> {
        let first = first_bytes(folded);
        self.entries.binary_search_by(|known| {
            known.first.cmp(&first).then_with(|| (*known.folded).cmp(folded))
        })
    }

    fn exact(&self, folded: &str) -> Option<&ToolName> {
        self.search(folded).ok().map(|index| &self.entries[index].name)
    }

    /// `functions.read`, `mcp__686f__team_create`: what stands after a separator of namespaces.
    fn without_namespace(&self, asked: &str) -> Option<&ToolName> {
        if !asked.bytes().any(|byte| matches!(byte, b'_' | b'.' | b'/' | b':')) {
            return None;
        }
        let separators = ["__", ".", "/", ":"];
        separators.iter().find_map(|separator| {
            asked
                .match_indices(separator)
                .find_map(|(at, _)| self.exact(&fold(&asked[at + separator.len()..])))
        })
    }

    /// Of the two names before and the two after this place, one that is near.
    fn neighbour(&self, folded: &str, place: usize) -> Option<&ToolName> {
        let around = place.saturating_sub(2)..(place + 2).min(self.entries.len());
        let near = |known: &&Entry| is_near(&known.folded, folded);
        self.entries[around].iter().find(near).map(|known| &known.name)
    }
}

/// The first eight bytes as a number that sorts as they do.
fn first_bytes(folded: &str) -> u64 {
    let mut first = [0; 8];
    let length = folded.len().min(8);
    first[..length].copy_from_slice(&folded.as_bytes()[..length]);
    u64::from_be_bytes(first)
}

/// Lower case, without what separates words.
fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let kept = name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' '));
    folded.extend(kept.map(|c| c.to_ascii_lowercase()));
    folded
}

/// The half of a name that stands there twice (`exec_commandexec_command`).
fn doubled(folded: &str) -> Option<&str> {
    let (first, second) = folded.split_at_checked(folded.len() / 2)?;
    (first == second).then_some(first)
}

/// Whether two folded names differ by at most two neighbouring characters, or one begins with the
/// other.
fn is_near(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let shorter = a.len().min(b.len());
    let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    if prefix == shorter && shorter >= 4 {
        return true;
    }
    let suffix = a[prefix..].iter().rev().zip(b[prefix..].iter().rev());
    let suffix = suffix.take_while(|(a, b)| a == b).count();
    shorter >= 4 && a.len().max(b.len()) - prefix - suffix <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_models_really_write_finds_its_tool() {
        let names = ["team_create", "read_file_in_workdir", "exec_command", "get.weather"];
        let index = NameIndex::new(names.map(|name| ToolName::new(name).unwrap()));
        let check = |asked: &str, expected: Option<&str>| {
            assert_eq!(index.closest(asked).map(ToolName::as_str), expected, "{asked}");
        };
        check("mcp__686f__team_create", Some("team_create"));
        check("functions.exec_command", Some("exec_command"));
        check("exec_commandexec_command", Some("exec_command"));
        check("Read_File_In_Workdir", Some("read_file_in_workdir"));
        check("read_file", Some("read_file_in_workdir"));
        check("getWeather", Some("get.weather"));
        check("team_craete", Some("team_create"));
        check("delete_everything", None);
        check("", None);
        check("ééé", None);
        check(&"x".repeat(100_000), None);
    }
}
