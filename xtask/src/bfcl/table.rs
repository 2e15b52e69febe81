//! The report as text: counts by category, by mutation and by translation, and every contradiction.

use std::fmt::Write as _;

use testkit::bfcl::{Contradiction, Mutation, Summary};

use super::Checked;

/// The whole report, ending in a line break.
pub(super) fn render(checked: &[Checked], total: &Summary) -> String {
    let mut text = String::new();
    // Writing into a String can't fail.
    let _ = write_report(&mut text, checked, total);
    text
}

fn write_report(
    text: &mut String,
    checked: &[Checked],
    total: &Summary,
) -> Result<(), std::fmt::Error> {
    writeln!(
        text,
        "{:<23} {:>9} {:>11} {:>6} {:>7} {:>13} {:>19} {:>10}",
        "category",
        "questions",
        "definitions",
        "calls",
        "passed",
        "contradicting",
        "refused as expected",
        "unexpected",
    )?;
    for one in checked {
        row(text, one.category.name(), &one.summary)?;
    }
    row(text, "total", total)?;

    writeln!(text, "\nof the passed calls:")?;
    counted(text, total.with_later_value, "have a later acceptable value, the first does not fit")?;
    counted(text, total.with_left_out, "leave an argument out, none of its values fits")?;
    counted(text, total.with_undeclared, "have an argument that the definition does not declare")?;

    writeln!(text, "\nmutations refused at the stage that is theirs:")?;
    for mutation in Mutation::ALL {
        let count = total.refused.get(&mutation).copied().unwrap_or_default();
        counted(text, count, &format!("{} ({:?})", mutation.label(), mutation.stage()))?;
    }

    writeln!(text, "\n{} translations of definitions:", total.translations.total())?;
    for (rule, count) in total.translations.rules() {
        counted(text, count, rule)?;
    }

    writeln!(text, "\n{} calls contradict their own definition:", total.contradictions.len())?;
    for one in &total.contradictions {
        writeln!(text, "  {}", contradiction(one))?;
    }
    writeln!(text, "\n{} unexpected", total.unexpected.len())?;
    total.unexpected.iter().try_for_each(|one| writeln!(text, "  {one}"))
}

fn row(text: &mut String, name: &str, summary: &Summary) -> Result<(), std::fmt::Error> {
    writeln!(
        text,
        "{name:<23} {:>9} {:>11} {:>6} {:>7} {:>13} {:>19} {:>10}",
        summary.questions,
        summary.definitions,
        summary.calls,
        summary.passed,
        summary.contradictions.len(),
        summary.refused_total(),
        summary.unexpected.len(),
    )
}

fn counted(text: &mut String, count: usize, what: &str) -> Result<(), std::fmt::Error> {
    writeln!(text, "  {count:>6}  {what}")
}

/// One contradiction on one line.
pub(super) fn contradiction(one: &Contradiction) -> String {
    format!("{}[{}] {}: {}", one.id, one.call, one.function, one.reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use testkit::bfcl::Category;

    use super::*;

    #[test]
    fn the_report_holds_every_count_and_every_contradiction() {
        let one = Contradiction {
            id: "x_1".to_owned(),
            call: 2,
            function: "f".to_owned(),
            reasons: vec!["/a: no".to_owned(), "/b: no".to_owned()],
        };
        let mut summary = Summary { calls: 4711, contradictions: vec![one], ..Summary::default() };
        summary.refused.insert(Mutation::WrongType, 4242);
        summary.unexpected.push("x_2[0] f: it passed".to_owned());
        let (category, total) = (Category::LiveSimple, summary.clone());
        let report = render(&[Checked { category, questions: Vec::new(), summary }], &total);
        let row = |name: &str| {
            let line = report.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect::<Vec<usize>>()
        };
        assert_eq!(row("live_simple"), [0, 0, 4711, 0, 1, 4242, 1]);
        assert_eq!(row("total"), row("live_simple"));
        assert!(report.contains("  x_1[2] f: /a: no; /b: no\n"));
        assert!(report.contains("    4242  value of a wrong type (Schema)\n"));
        assert!(report.ends_with("1 unexpected\n  x_2[0] f: it passed\n"));
    }
}
