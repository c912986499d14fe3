//! A hunt: one program run many times in different ways, and what came of all runs together.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::deadlock::Deadlock;
use crate::repeats::key;
use crate::report::{Candidate, Race, Report};

/// What is to be known of a hunt as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hunt {
    /// How the runs were steered, by its name on the command line.
    pub strategy: String,
    /// How many runs were wanted at most.
    pub wanted: usize,
    /// Why there were no more runs.
    pub stopped: Stopped,
    /// Each run.
    pub runs: Vec<HuntRun>,
    /// Deadlocks of the program, each once.
    pub deadlocks: Vec<Deadlock>,
}

impl Hunt {
    /// How many runs could not be looked at to their end.
    pub fn incomplete_runs(&self) -> usize {
        self.runs.iter().filter(|run| run.incomplete).count()
    }

    /// For how many runs before the end nothing new has come.
    pub fn runs_without_news(&self) -> usize {
        let is_new_deadlock = |run| self.deadlocks.iter().any(|deadlock| deadlock.run == run);
        let is_news = |run: &HuntRun| run.new > 0 || is_new_deadlock(run.run);
        let last = self.runs.iter().rposition(is_news);
        self.runs.len() - last.map_or(0, |last| last + 1)
    }
}

/// Why a hunt has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// All runs were made.
    AllRuns,
    /// Nothing new was found for as many runs in a row as there is patience for.
    NothingNew,
    /// The user stopped it.
    Interrupted,
}

/// One run of a hunt.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct HuntRun {
    /// Its number, counted from 1.
    pub run: usize,
    /// How it was steered.
    pub strategy: String,
    /// What its choices were drawn from.
    pub seed: u64,
    /// How many different races it has shown.
    pub races: usize,
    /// How many of them no run before has shown.
    pub new: usize,
    /// How many different races there are up to here.
    pub total: usize,
    /// It has ended in a deadlock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deadlock: bool,
    /// What it did could not be looked at to its end: it failed, or its recording was cut short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// How it has ended, if not well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// How long it took on the clock, with all that was done to look at it.
    pub seconds: f64,
    /// What the strategy did, where it counts that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steering: Option<Steering>,
}

/// What a strategy did in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Steering {
    /// How many locks were taken.
    pub acquisitions: u64,
    /// How often a thread was held back before it took one.
    pub suspensions: u64,
    /// How often another one then took a lock of the same kind first.
    pub reversals: u64,
    /// How often only the suspended thread could continue.
    pub thrashings: u64,
}

/// In which run of a hunt a race was found first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hunted {
    /// The number of the run.
    pub run: usize,
    /// How it was steered.
    pub strategy: String,
    /// What its choices were drawn from.
    pub seed: u64,
    /// In how many runs the race was found.
    pub runs: usize,
}

impl Hunted {
    /// In a sentence.
    pub(crate) fn words(&self) -> String {
        let Hunted { run, strategy, seed, runs } = self;
        let found =
            if *runs > 1 { format!("found in {runs} runs, first in") } else { "found in".to_string() };
        format!("{found} run {run} ({strategy}, seed {seed})")
    }
}

/// What a run has shown.
#[derive(Debug, Default)]
pub struct Shown {
    /// One for each of its processes, if it was recorded.
    pub reports: Vec<Report>,
    /// Races of earlier runs that were seen again, by their two locations in order.
    pub again: Vec<[String; 2]>,
    /// How it got stuck, if it did.
    pub deadlock: Option<Deadlock>,
    /// What keeps the answer from being complete.
    pub notes: Vec<String>,
    /// It could not be looked at to its end.
    pub is_incomplete: bool,
}

/// All that the runs of a hunt have shown, each race once.
#[derive(Debug)]
pub struct Union {
    report: Report,
    hunt: Hunt,
    /// Where each race is in the report, by its two locations.
    known: HashMap<[String; 2], usize>,
    /// Pairs that were never proven.
    open: HashMap<[String; 2], Candidate>,
}

impl Union {
    /// Nothing yet, of a program with this name.
    pub fn new(technique: &str, program: &str, strategy: &str, wanted: usize) -> Union {
        let mut report = Report::new(technique);
        report.trace.file = program.to_string();
        report.complete = true;
        let hunt = Hunt {
            strategy: strategy.to_string(),
            wanted,
            stopped: Stopped::AllRuns,
            runs: Vec::new(),
            deadlocks: Vec::new(),
        };
        Union { report, hunt, known: HashMap::new(), open: HashMap::new() }
    }

    /// Adds what a run has shown.
    pub fn add(&mut self, mut run: HuntRun, shown: Shown) {
        let Shown { reports, again, deadlock, notes, is_incomplete } = shown;
        self.note(notes);
        // A deadlocked run has reached the end that is reported.
        let is_cut = deadlock.is_none() && reports.iter().any(|report| report.trace.cut_short);
        run.incomplete = is_incomplete || is_cut;
        let before = self.report.races.len();
        let mut seen: Vec<usize> = reports.into_iter().flat_map(|report| self.merge(report, &run)).collect();
        seen.extend(again.iter().filter_map(|locations| self.known.get(locations)));
        seen.sort_unstable();
        seen.dedup();
        for &index in &seen {
            if let Some(hunted) = self.report.races.get_mut(index).and_then(|race| race.hunted.as_mut()) {
                hunted.runs += 1;
            }
        }
        run.races = seen.len();
        run.new = self.report.races.len() - before;
        run.total = self.report.races.len();
        run.deadlock = deadlock.is_some();
        if let Some(deadlock) = deadlock
            && !self.hunt.deadlocks.iter().any(|known| known.is_same(&deadlock))
        {
            self.hunt.deadlocks.push(deadlock);
        }
        self.hunt.runs.push(run);
    }

    /// How many runs there were.
    pub fn runs(&self) -> usize {
        self.hunt.runs.len()
    }

    /// For how many runs nothing new has come.
    pub fn runs_without_news(&self) -> usize {
        self.hunt.runs_without_news()
    }

    /// The last run.
    pub fn last(&self) -> Option<&HuntRun> {
        self.hunt.runs.last()
    }

    /// Everything, now that it is over.
    pub fn finish(mut self, stopped: Stopped) -> Report {
        self.hunt.stopped = stopped;
        self.report.interrupted |= stopped == Stopped::Interrupted;
        let mut open: Vec<_> =
            self.open.into_iter().filter(|(key, _)| !self.known.contains_key(key)).collect();
        open.sort_by(|one, other| one.0.cmp(&other.0));
        self.report.undecided = open.into_iter().map(|(_, candidate)| candidate).collect();
        let pairs = self.report.races.len() + self.report.undecided.len();
        self.report.stats.candidates = pairs;
        self.report.complete &= !self.report.is_open() && self.hunt.incomplete_runs() == 0;
        self.report.hunt = Some(self.hunt);
        self.report
    }

    /// Takes over what one process has shown; returns where its races are in the union.
    fn merge(&mut self, report: Report, run: &HuntRun) -> Vec<usize> {
        self.merge_figures(&report);
        for candidate in report.undecided {
            let key = key(&candidate.first, &candidate.second);
            self.open.entry(key).or_insert(candidate);
        }
        self.note(report.notes);
        for (place, excerpt) in report.excerpts {
            self.report.excerpts.entry(place).or_insert(excerpt);
        }
        for deadlock in report.deadlocks {
            if !self.report.deadlocks.iter().any(|known| known.fingerprint == deadlock.fingerprint) {
                self.report.deadlocks.push(deadlock);
            }
        }
        for violation in report.violations {
            if !self.report.violations.iter().any(|known| known.fingerprint == violation.fingerprint) {
                self.report.violations.push(violation);
            }
        }
        report.races.into_iter().map(|race| self.merge_race(race, run)).collect()
    }

    /// What several runs have to say is said once.
    fn note(&mut self, notes: Vec<String>) {
        for note in notes {
            if !self.report.notes.contains(&note) {
                self.report.notes.push(note);
            }
        }
    }

    fn merge_race(&mut self, mut race: Race, run: &HuntRun) -> usize {
        let races = &mut self.report.races;
        *self.known.entry(key(&race.first, &race.second)).or_insert_with(|| {
            let (strategy, seed) = (run.strategy.clone(), run.seed);
            race.hunted = Some(Hunted { run: run.run, strategy, seed, runs: 0 });
            races.push(race);
            races.len() - 1
        })
    }

    fn merge_figures(&mut self, report: &Report) {
        let (trace, of) = (&mut self.report.trace, &report.trace);
        trace.events = trace.events.saturating_add(of.events);
        trace.threads = trace.threads.max(of.threads);
        trace.unexplained_reads = trace.unexplained_reads.saturating_add(of.unexplained_reads);
        if let Some(coverage) = &of.coverage {
            trace.coverage.get_or_insert_default().add(coverage);
        }
        let (stats, of) = (&mut self.report.stats, &report.stats);
        stats.seconds += of.seconds;
        stats.peak_memory_bytes = stats.peak_memory_bytes.max(of.peak_memory_bytes);
        stats.forgotten_accesses = stats.forgotten_accesses.saturating_add(of.forgotten_accesses);
        stats.refuted = stats.refuted.saturating_add(of.refuted);
        stats.not_in_window = stats.not_in_window.saturating_add(of.not_in_window);
        stats.not_examined = stats.not_examined.saturating_add(of.not_examined);
        stats.not_recomputed = stats.not_recomputed.saturating_add(of.not_recomputed);
        for (reason, times) in &of.not_computed {
            let so_far = stats.not_computed.entry(reason.clone()).or_default();
            *so_far = so_far.saturating_add(*times);
        }
        stats.not_listed = stats.not_listed.saturating_add(of.not_listed);
        stats.witnesses_not_printed += of.witnesses_not_printed;
        self.report.interrupted |= report.interrupted;
        self.report.window = self.report.window.or(report.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::RacingAccess;
    use crate::sample;

    fn access(location: &str) -> RacingAccess {
        RacingAccess { location: location.to_string(), ..RacingAccess::default() }
    }

    fn report(races: &[(&str, &str)], open: &[(&str, &str)]) -> Report {
        let mut report = Report::new("hb");
        report.races = races.iter().map(|(one, other)| sample::race(access(one), access(other))).collect();
        let candidate = |(one, other): &(&str, &str)| Candidate {
            first: access(one),
            second: access(other),
            reason: "time".to_string(),
            more: 0,
            fingerprint: None,
        };
        report.undecided = open.iter().map(candidate).collect();
        report.trace.events = 10;
        report
    }

    fn run(number: usize) -> HuntRun {
        HuntRun {
            run: number,
            strategy: "pct".to_string(),
            seed: 7,
            races: 0,
            new: 0,
            total: 0,
            deadlock: false,
            incomplete: false,
            ending: None,
            seconds: 0.5,
            steering: None,
        }
    }

    #[test]
    fn each_race_counts_once_whichever_run_shows_it() {
        let mut union = Union::new("hb", "bank", "pct", 5);
        let recorded = |reports| Shown { reports, ..Shown::default() };
        union.add(run(1), recorded(vec![report(&[("a", "b")], &[("c", "d")])]));
        union.add(run(2), recorded(vec![report(&[("b", "a")], &[]), report(&[("a", "b"), ("c", "d")], &[])]));
        union.add(run(3), recorded(vec![report(&[], &[("e", "f")])]));
        let pair = |one: &str, other: &str| [one.to_string(), other.to_string()];
        let again = vec![pair("a", "b"), pair("x", "y")];
        union.add(run(4), Shown { again, ..Shown::default() });
        assert_eq!((union.runs(), union.runs_without_news()), (4, 2));
        let report = union.finish(Stopped::NothingNew);
        let hunt = report.hunt.as_ref().unwrap();
        let curve: Vec<_> = hunt.runs.iter().map(|run| (run.races, run.new, run.total)).collect();
        assert_eq!(curve, [(1, 1, 1), (2, 1, 2), (0, 0, 2), (1, 0, 2)]);
        let hunted: Vec<_> = report.races.iter().filter_map(|race| race.hunted.as_ref()).collect();
        assert_eq!([(hunted[0].run, hunted[0].runs), (hunted[1].run, hunted[1].runs)], [(1, 3), (2, 1)]);
        let open: Vec<_> = report.undecided.iter().map(|open| open.first.location.as_str()).collect();
        assert_eq!(open, ["e"], "what was proven later is not open");
        assert_eq!(report.trace.events, 40);
        assert!(!report.complete);
    }

    #[test]
    fn runs_that_were_not_looked_at_to_their_end_are_counted() {
        let mut union = Union::new("hb", "bank", "pct", 3);
        let cut = |is_cut| {
            let mut report = report(&[], &[]);
            report.trace.cut_short = is_cut;
            vec![report]
        };
        union.add(run(1), Shown { reports: cut(false), ..Shown::default() });
        union.add(run(2), Shown { reports: cut(true), ..Shown::default() });
        union.add(run(3), Shown { is_incomplete: true, ..Shown::default() });
        let report = union.finish(Stopped::AllRuns);
        let hunt = report.hunt.as_ref().unwrap();
        assert_eq!(hunt.incomplete_runs(), 2);
        assert!(!report.complete);
    }
}
