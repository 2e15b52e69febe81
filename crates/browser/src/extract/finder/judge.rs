//! The judgement of the trees on the rows of a page.
//!
//! No tree is walked down from its root. For each number of a row, the questions of all trees about it are
//! gone through from the least on: one that is answered with no rules out the leaves on its side of yes,
//! and from the first that is answered with yes on all are. In each tree the first leaf that is left is the
//! one that a walk would have come to. Some rows are judged side by side, so that a question is read once
//! for all of them.

use std::sync::LazyLock;

use super::{
    features,
    trees::{LEAVES, NODES, ROOTS},
};

/// Rows that are judged side by side.
const LANES: usize = 8;
/// The most leaves of one tree: a bit each.
const MOST_LEAVES: usize = 32;

/// A number for each of the rows.
type Lanes<T> = [T; LANES];

/// How likely the block of each row is content, from 0 to 1.
pub(super) fn likelihoods(rows: &[f32]) -> Vec<f32> {
    let mut likelihoods = Vec::with_capacity(rows.len() / features::COUNT);
    for rows in rows.chunks(features::COUNT * LANES) {
        let count = rows.len() / features::COUNT;
        let sums = FOREST.sums(rows);
        likelihoods.extend(sums.iter().take(count).map(|sum| 1.0 / (1.0 + (-sum).exp())));
    }
    likelihoods
}

/// A question: is the number at most this.
#[derive(Debug, Clone, Copy)]
struct Question {
    most: f32,
    tree: u16,
    /// The leaves that a no leaves.
    left: u32,
}

/// What each leaf of a tree adds.
type Leaves = [f32; MOST_LEAVES];

/// The trees, by what they ask about.
#[derive(Debug)]
struct Forest {
    /// The questions about each number of a row, the least first.
    questions: Vec<Vec<Question>>,
    /// The leaves of each tree, from yes to no.
    leaves: [Leaves; ROOTS.len()],
}

static FOREST: LazyLock<Forest> = LazyLock::new(Forest::new);

impl Forest {
    fn new() -> Self {
        let mut forest = Self {
            questions: vec![Vec::new(); features::COUNT],
            leaves: [[0.0; MOST_LEAVES]; ROOTS.len()],
        };
        for (tree, &root) in (0..).zip(&ROOTS) {
            forest.add(tree, root.into());
        }
        for questions in &mut forest.questions {
            questions.sort_by(|one, other| one.most.total_cmp(&other.most));
        }
        forest
    }

    fn add(&mut self, tree: u16, root: usize) {
        let (asked, found) = walk(root);
        if let Some(leaves) = self.leaves.get_mut(usize::from(tree)) {
            for (slot, leaf) in leaves.iter_mut().zip(&found) {
                *slot = LEAVES.get(*leaf).copied().unwrap_or(0.0);
            }
        }
        for Asked { at, first, no } in asked {
            let Some(&(number, most, ..)) = NODES.get(at) else { continue };
            let Some(questions) = self.questions.get_mut(usize::from(number)) else { continue };
            questions.push(Question { most, tree, left: !(below(no) & !below(first)) });
        }
    }

    /// What the trees say of up to as many rows as there are lanes.
    fn sums(&self, rows: &[f32]) -> Lanes<f32> {
        let mut left = [[u32::MAX; LANES]; ROOTS.len()];
        for (number, questions) in self.questions.iter().enumerate() {
            let value = |lane| rows.get(lane * features::COUNT + number).copied();
            let values: Lanes<f32> = std::array::from_fn(|lane| value(lane).unwrap_or(0.0));
            ask(questions, &values, &mut left);
        }
        let mut sums = [0.0; LANES];
        for (leaves, left) in self.leaves.iter().zip(&left) {
            for (sum, left) in sums.iter_mut().zip(left) {
                *sum += leaves.get(left.trailing_zeros() as usize).copied().unwrap_or(0.0);
            }
        }
        sums
    }
}

/// Asks the questions about one number of some rows.
fn ask(questions: &[Question], values: &Lanes<f32>, left: &mut [Lanes<u32>]) {
    // What is no number fits no question.
    let number = |&value: &f32| if value.is_nan() { f32::INFINITY } else { value };
    let greatest = values.iter().map(number).fold(f32::NEG_INFINITY, f32::max);
    for question in questions {
        if greatest <= question.most {
            break;
        }
        let Some(slot) = left.get_mut(usize::from(question.tree)) else { continue };
        // Without a branch, so that it is done for all lanes at once.
        let mut some = *slot;
        for (left, &value) in some.iter_mut().zip(values) {
            *left &= question.left | u32::from(value <= question.most).wrapping_neg();
        }
        *slot = some;
    }
}

/// A question on the way through a tree: which leaf is the first below it, and the first for no.
struct Asked {
    at: usize,
    first: usize,
    no: usize,
}

/// The leaves before this one, a bit each.
fn below(leaf: usize) -> u32 {
    u32::try_from((1_u64 << leaf.min(MOST_LEAVES)) - 1).unwrap_or(u32::MAX)
}

/// The questions of a tree, and its leaves from yes to no. A child always stands after its question, so
/// this ends.
fn walk(root: usize) -> (Vec<Asked>, Vec<usize>) {
    let (mut asked, mut leaves) = (Vec::<Asked>::new(), Vec::new());
    // What is still to be visited, with the question whose side of no it is.
    let mut open = vec![(None, i16::try_from(root).unwrap_or(i16::MAX))];
    while let Some((question, node)) = open.pop() {
        if let Some(question) = question.and_then(|question: usize| asked.get_mut(question)) {
            question.no = leaves.len();
        }
        match usize::try_from(node) {
            Ok(at) => {
                let Some(&(_, _, yes, no)) = NODES.get(at) else { continue };
                open.extend([(Some(asked.len()), no), (None, yes)]);
                asked.push(Asked { at, first: leaves.len(), no: 0 });
            }
            Err(_) => leaves.push(usize::from(node.unsigned_abs()).wrapping_sub(1)),
        }
    }
    (asked, leaves)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for &root in &ROOTS {
            let (asked, leaves) = walk(root.into());
            assert!(leaves.len() <= MOST_LEAVES && leaves.len() == asked.len() + 1);
        }
    }

    /// The leaf of a tree by a walk from its root.
    fn leaf(row: &[f32], root: usize) -> f32 {
        let mut at = root;
        loop {
            let (number, most, yes, no) = NODES[at];
            let next = if row[usize::from(number)] <= most { yes } else { no };
            match usize::try_from(next) {
                Ok(next) => at = next,
                Err(_) => return LEAVES[usize::from(next.unsigned_abs()) - 1],
            }
        }
    }

    #[test]
    fn rows_are_judged_as_by_walks_down_the_trees() {
        // A generator of numbers (xorshift), so that each row is another and each run the same.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut asked = vec![vec![-1.0, 0.0, f32::NAN]; features::COUNT];
        for &(number, most, ..) in &NODES {
            asked[usize::from(number)].extend([most, most.next_up()]);
        }
        for count in [0, 1, 7, 8, 100] {
            let row = || asked.iter().map(|at| at[random(at.len())]).collect::<Vec<f32>>();
            let rows = std::iter::repeat_with(row).take(count).collect::<Vec<_>>();
            let likelihoods = likelihoods(&rows.concat());
            assert_eq!(likelihoods.len(), count);
            for (row, likelihood) in rows.iter().zip(likelihoods) {
                let sum: f32 = ROOTS.iter().map(|&root| leaf(row, root.into())).sum();
                let walked = 1.0 / (1.0 + (-sum).exp());
                assert_eq!(likelihood.to_bits(), walked.to_bits());
            }
        }
    }
}
