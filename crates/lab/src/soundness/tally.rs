//! What came of many programs, as a table.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use foretell_predict::{Guarantee, Technique};

/// A race of a program: the variable, and where its two accesses stand, the smaller place first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Race {
    pub(crate) variable: String,
    pub(crate) places: (String, String),
}

impl Race {
    pub(crate) fn new(variable: &str, one: String, other: String) -> Race {
        let places = if one <= other { (one, other) } else { (other, one) };
        Race { variable: variable.to_string(), places }
    }
}

impl Display for Race {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} and {}", self.variable, self.places.0, self.places.1)
    }
}

/// What a technique said about one run of a program: what it reports, and what of that is proven.
#[derive(Clone, Default)]
pub(crate) struct Word {
    pub(crate) reported: BTreeSet<Race>,
    pub(crate) proven: BTreeSet<Race>,
}

/// Numbers over many programs.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    programs: u64,
    /// Programs with too many states, which were left out.
    too_large: u64,
    /// The states of all programs together.
    states: u64,
    /// Recorded runs.
    runs: u64,
    /// Schedules that were run on the program again.
    pub(crate) replayed: u64,
    /// Proven deadlocks into which the program was run: by all techniques but the last, and by the last.
    pub(crate) deadlocks: [usize; 2],
    /// For each run, the races that its program has.
    real: usize,
    /// One for each technique, and one for the last with the ways that the run did not go.
    lines: [Line; Technique::ALL.len() + 1],
}

#[derive(Clone, Copy, Default)]
struct Line {
    proven: usize,
    reported: usize,
    /// How many of the reported ones are no races.
    false_reports: usize,
}

impl Tally {
    /// A program with so many states, of which no run was recorded yet.
    pub(crate) fn of_program(states: usize) -> Tally {
        Tally { programs: 1, states: states as u64, ..Tally::default() }
    }

    /// A program with too many states.
    pub(crate) fn of_too_large() -> Tally {
        Tally { too_large: 1, ..Tally::default() }
    }

    /// Takes up a run of a program that has the `real` races; the words of all techniques, in their order,
    /// and that of the last one with the ways that the run did not go.
    pub(crate) fn add_run(&mut self, real: &BTreeSet<Race>, words: &[Word]) {
        self.runs += 1;
        self.real += real.len();
        for (line, word) in self.lines.iter_mut().zip(words) {
            line.proven += word.proven.len();
            line.reported += word.reported.len();
            line.false_reports += word.reported.difference(real).count();
        }
    }

    /// Adds another count.
    pub(crate) fn add(&mut self, other: &Tally) {
        self.programs += other.programs;
        self.too_large += other.too_large;
        self.states += other.states;
        self.runs += other.runs;
        self.replayed += other.replayed;
        self.real += other.real;
        self.deadlocks.iter_mut().zip(other.deadlocks).for_each(|(all, more)| *all += more);
        for (line, more) in self.lines.iter_mut().zip(other.lines) {
            line.proven += more.proven;
            line.reported += more.reported;
            line.false_reports += more.false_reports;
        }
    }

    /// How many programs were examined.
    #[cfg(test)]
    pub(crate) fn examined(&self) -> u64 {
        self.programs
    }

    /// How many races the technique proved.
    #[cfg(test)]
    pub(crate) fn proven(&self, technique: Technique) -> usize {
        let place = Technique::ALL.iter().position(|other| *other == technique);
        place.map_or(0, |place| self.lines[place].proven)
    }

    /// How many races were proven with the ways that runs did not go.
    #[cfg(test)]
    pub(crate) fn proven_with_detours(&self) -> usize {
        self.lines.last().map_or(0, |line| line.proven)
    }

    /// One line about how far it is.
    pub(crate) fn summary(&self) -> String {
        let Tally { programs, too_large, states, runs, real, replayed, deadlocks, .. } = self;
        let deadlocks = deadlocks[1];
        format!(
            "{programs} programs ({too_large} more too large), {states} states, {runs} runs with {real} races to find, \
             {deadlocks} deadlocks proven by the last technique, {replayed} schedules replayed"
        )
    }
}

/// The table.
impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.summary())?;
        writeln!(f, "technique   proven    real  recall  reported  no races")?;
        let techniques = Technique::ALL.map(|technique| (technique.name(), technique.guarantee()));
        let with_detours = ("+ detours", Guarantee::EveryReport);
        for ((name, guarantee), line) in techniques.into_iter().chain([with_detours]).zip(self.lines) {
            let Line { proven, reported, false_reports } = line;
            let proven = match guarantee {
                Guarantee::None => format!("{:>8}{:>8}{:>8}", "-", self.real, "-"),
                _ => format!("{proven:>8}{:>8}{:>7.1}%", self.real, percent(proven, self.real)),
            };
            writeln!(f, "{name:<10}{proven}{reported:>10}{false_reports:>10}")?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
