//! What the published rule gets wrong: it predicts races that no execution has.

use foretell_cimp::explore::{Limits, explore};
use foretell_depend::Rule;

use crate::recording::{conflicts, example, predicted, recorded_serially};
use crate::replay::replay_race;

/// The variables on which slices of a serial run show races.
fn racing(name: &str, rule: Rule) -> Vec<String> {
    let run = recorded_serially(&example(name));
    let shown = conflicts(&run).into_iter().filter(|&pair| predicted(&run, pair, rule).is_some());
    let access = |event| run.trace.event(event).op.access().unwrap();
    let mut variables: Vec<String> =
        shown.map(|pair| run.trace.names().vars.name(access(pair.0).var).to_string()).collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// The variables on which any execution shows races.
fn really_racing(name: &str) -> Vec<String> {
    let all = explore(&example(name), &Limits::default());
    assert!(all.is_complete());
    let mut variables: Vec<String> = all.races.into_iter().map(|race| race.variable).collect();
    variables.dedup();
    variables
}

#[test]
fn a_decision_that_prevented_a_write_matters() {
    assert_eq!(really_racing("sliced_decision"), ["a"]);
    assert_eq!(racing("sliced_decision", Rule::Sound), ["a"]);
    assert_eq!(racing("sliced_decision", Rule::Published), ["a", "x"]);
}

#[test]
fn a_section_in_which_nothing_happens_matters() {
    assert_eq!(really_racing("sliced_section"), ["y"]);
    assert_eq!(racing("sliced_section", Rule::Sound), ["y"]);
    assert_eq!(racing("sliced_section", Rule::Published), ["x", "y"]);
}

#[test]
fn the_program_does_not_follow_what_is_made_up() {
    for name in ["sliced_decision", "sliced_section"] {
        let program = example(name);
        let run = recorded_serially(&program);
        let follows = |pair| replay_race(&program, &run, &predicted(&run, pair, Rule::Published)?).err();
        assert!(conflicts(&run).into_iter().any(|pair| follows(pair).is_some()), "{name}");
    }
}
