//! The judgement of the trees on one row.

use super::trees::{LEAVES, NODES, ROOTS};

/// How likely a block is content, from 0 to 1.
pub(super) fn likelihood(row: &[f32]) -> f32 {
    let sum: f32 = ROOTS.iter().map(|&root| leaf(row, root.into())).sum();
    1.0 / (1.0 + (-sum).exp())
}

/// What a tree adds. A child always stands after its question, so this ends.
fn leaf(row: &[f32], root: usize) -> f32 {
    let mut at = root;
    while let Some(&(number, most, yes, no)) = NODES.get(at) {
        let fits = row.get(usize::from(number)).is_none_or(|&value| value <= most);
        let next = if fits { yes } else { no };
        match usize::try_from(next) {
            Ok(next) if next > at => at = next,
            _ => {
                let leaf = usize::from(next.unsigned_abs()).wrapping_sub(1);
                return LEAVES.get(leaf).copied().unwrap_or(0.0);
            }
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::finder::features;

    #[test]
    fn the_trees_are_whole_and_know_only_numbers_of_a_row() {
        for (at, &(number, most, yes, no)) in NODES.iter().enumerate() {
            assert!(usize::from(number) < features::COUNT);
            assert!(most.is_finite());
            for next in [yes, no] {
                match usize::try_from(next) {
                    Ok(next) => assert!(next > at && next < NODES.len()),
                    Err(_) => assert!(usize::from(next.unsigned_abs()) <= LEAVES.len()),
                }
            }
        }
        assert!(ROOTS.iter().all(|&root| usize::from(root) < NODES.len()));
        let likelihood = likelihood(&[0.0; features::COUNT]);
        assert!((0.0..=1.0).contains(&likelihood));
    }
}
