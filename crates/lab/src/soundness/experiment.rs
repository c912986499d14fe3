//! One program: all its executions, a few recorded ones, and what the techniques predict from each of these.

use std::collections::BTreeSet;

use foretell_cimp::explore::{self, explore};
use foretell_cimp::program::Program;
use foretell_cimp::record::{self, Run, confirm, confirm_stuck};
use foretell_cimp::scheduler::{Pct, Random, RoundRobin, Scheduler, Serial};
use foretell_detect::Pair;
use foretell_engine::Found;
use foretell_predict::Technique;
use foretell_testkit::random;
use foretell_trace::Trace;
use foretell_witness::{Deadlock, Finding, Proof};

use super::claims::ask;
use super::tally::{Race, Tally, Word};

/// A program with more states than this is left out: it would take too long.
const STATES: usize = 60_000;
/// How many executions of a program are recorded.
const RUNS: u64 = 3;

/// Techniques of which the second proves whatever the first does: its model pins less, and it is exact.
const NESTED: [(Technique, Technique); 8] = [
    (Technique::M2, Technique::Rf),
    (Technique::SeqCheck, Technique::Rv),
    (Technique::Rf, Technique::Mcm),
    (Technique::Said, Technique::Mcm),
    (Technique::Mcm, Technique::Rv),
    (Technique::Rv, Technique::RvNre),
    (Technique::ReconP, Technique::RvNre),
    (Technique::RvNre, Technique::Recipe),
];

/// What is wrong with a program, or rather with us.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    pub(crate) kind: Kind,
    /// The whole in words.
    pub(crate) what: String,
    /// The recorded execution in question, if any.
    pub(crate) schedule: String,
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A program that should compile and run does not.
    Unusable,
    /// A proven race that no execution has.
    FalseRace,
    /// A schedule that the program does not follow.
    FalseSchedule,
    /// A schedule of an exact technique that the referee rejects, or no answer at all.
    Rejected,
    /// A technique proves less than one that sees less.
    NotNested,
}

/// Compares what is predicted from some executions of the program, picked by the seed, with all there are.
pub(crate) fn examine(source: &str, seed: u64) -> Result<Tally, Wrong> {
    examine_as_recorded(source, seed, |run| run)
}

/// The same, with recordings that are transformed first.
pub(crate) fn examine_as_recorded(source: &str, seed: u64, change: fn(Run) -> Run) -> Result<Tally, Wrong> {
    let mut random = random::Random::new(seed);
    let schedulers = (0..RUNS).map(|_| scheduler(&mut random)).collect();
    examine_with(source, schedulers, change)
}

/// The same, with the execution that this schedule describes.
#[cfg(test)]
pub(crate) fn examine_given(
    source: &str,
    schedule: foretell_cimp::scheduler::Schedule,
) -> Result<Tally, Wrong> {
    examine_with(source, vec![Box::new(foretell_cimp::scheduler::Given::new(schedule))], |run| run)
}

fn examine_with(
    source: &str,
    schedulers: Vec<Box<dyn Scheduler>>,
    change: fn(Run) -> Run,
) -> Result<Tally, Wrong> {
    let unusable = |what: String| Wrong { kind: Kind::Unusable, what, schedule: String::new() };
    let program = foretell_cimp::compile(source).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|problem| problem.render("program", source)).collect();
        unusable(lines.join("\n"))
    })?;
    let all = explore(&program, &explore::Limits { states: STATES, ..explore::Limits::default() });
    if !all.is_complete() {
        return Ok(Tally::of_too_large());
    }
    let real = all.races.iter().map(|race| {
        let place = |access: &explore::RaceSide| access.position.to_string();
        Race::new(&race.variable, place(&race.first), place(&race.second))
    });
    let real: BTreeSet<Race> = real.collect();
    let mut tally = Tally::of_program(all.states);
    for mut scheduler in schedulers {
        let run = record::run(&program, &mut *scheduler, &record::Limits::default())
            .map(change)
            .map_err(|error| unusable(error.to_string()))?;
        let words = judge(&program, &run, &real, &mut tally)?;
        tally.add_run(&real, &words);
    }
    Ok(tally)
}

/// Any kind of execution: with few switches between threads, with many, and between.
fn scheduler(random: &mut random::Random) -> Box<dyn Scheduler> {
    let seed = random.bits();
    match random.below(6) {
        0 => Box::new(Serial::new()),
        1 => Box::new(RoundRobin::default()),
        2 | 3 => Box::new(Random::new(seed)),
        _ => Box::new(Pct::new(seed, 3, 30)),
    }
}

/// What all techniques say about the run, if nothing of it is wrong.
fn judge(program: &Program, run: &Run, real: &BTreeSet<Race>, tally: &mut Tally) -> Result<Vec<Word>, Wrong> {
    let wrong = |kind, what| Wrong { kind, what, schedule: run.schedule.to_string() };
    let (mut words, mut untaken) = (Vec::new(), Word::default());
    for technique in Technique::ALL {
        let answer = ask(technique, program, run).map_err(|what| wrong(Kind::Rejected, what))?;
        let mut word = Word::default();
        word.reported.extend(answer.reported.iter().map(|pair| race(&run.trace, *pair)));
        for found in &answer.proven {
            let race = race(&run.trace, found.pair());
            let named = format!("{} proves a race of {race}", technique.name());
            examine_race(program, run, found, &race, real, tally).map_err(|bad| bad.of(&named, run))?;
            word.proven.insert(race);
        }
        for deadlock in &answer.deadlocks {
            follow_stuck(program, &run.trace, deadlock, tally).map_err(|why| {
                wrong(Kind::FalseSchedule, format!("{} proves a deadlock, but {why}", technique.name()))
            })?;
            tally.deadlocks[usize::from(technique == Technique::Recipe)] += 1;
        }
        for found in &answer.untaken {
            let trace = found.branch.as_ref().map_or(&run.trace, |branch| &branch.trace);
            let race = race(trace, found.pair());
            let named = format!("{} proves a race of {race} on an untaken branch", technique.name());
            examine_race(program, run, found, &race, real, tally).map_err(|bad| bad.of(&named, run))?;
            untaken.reported.insert(race.clone());
            untaken.proven.insert(race);
        }
        words.push(word);
    }
    nest(&words).map_err(|what| wrong(Kind::NotNested, what))?;
    if let Some(recipe) = words.last() {
        untaken.reported.extend(recipe.reported.iter().cloned());
        untaken.proven.extend(recipe.proven.iter().cloned());
    }
    words.push(untaken);
    Ok(words)
}

/// What is wrong with a proven race.
struct Bad {
    kind: Kind,
    why: String,
}

impl Bad {
    fn of(self, named: &str, run: &Run) -> Wrong {
        Wrong { kind: self.kind, what: format!("{named}, {}", self.why), schedule: run.schedule.to_string() }
    }
}

/// A proven race must be one of those that executions have, and the program must follow its schedule.
fn examine_race(
    program: &Program,
    run: &Run,
    found: &Found,
    race: &Race,
    real: &BTreeSet<Race>,
    tally: &mut Tally,
) -> Result<(), Bad> {
    if !real.contains(race) {
        return Err(Bad { kind: Kind::FalseRace, why: "which no execution has".to_string() });
    }
    let trace = found.branch.as_ref().map_or(&run.trace, |branch| &branch.trace);
    follow(program, trace, &found.finding, tally)
        .map_err(|why| Bad { kind: Kind::FalseSchedule, why: format!("but {why}") })
}

/// Runs the program as the proof says.
fn follow(program: &Program, trace: &Trace, finding: &Finding, tally: &mut Tally) -> Result<(), String> {
    match finding.proof() {
        Proof::Adjacent { schedule, .. } => {
            tally.replayed += 1;
            confirm(program, trace, schedule)
        }
        Proof::Unordered => Ok(()),
    }
}

/// Runs the program into the deadlock.
fn follow_stuck(
    program: &Program,
    trace: &Trace,
    deadlock: &Deadlock,
    tally: &mut Tally,
) -> Result<(), String> {
    tally.replayed += 1;
    let before = deadlock.schedule().len().saturating_sub(deadlock.waits().len());
    let before = deadlock.schedule().get(..before).unwrap_or_default();
    confirm_stuck(program, trace, before, deadlock.waits(), deadlock.ended())
}

/// The race that a pair of events would be.
fn race(trace: &Trace, pair: Pair) -> Race {
    let (first, second) = (trace.event(pair.first), trace.event(pair.second));
    let names = trace.names();
    let variable = first.op.access().map_or("", |access| names.vars.name(access.var));
    Race::new(variable, names.loc_text(first.loc).into_owned(), names.loc_text(second.loc).into_owned())
}

fn nest(words: &[Word]) -> Result<(), String> {
    let word = |technique| {
        Technique::ALL.iter().position(|other| *other == technique).and_then(|place| words.get(place))
    };
    for (weaker, stronger) in NESTED {
        let (Some(weak), Some(strong)) = (word(weaker), word(stronger)) else { continue };
        if let Some(missed) = weak.proven.difference(&strong.proven).next() {
            return Err(format!("{} misses what {} proves: {missed}", stronger.name(), weaker.name()));
        }
    }
    Ok(())
}
