//! Baselines: earlier reports, so that only new races are reported.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::fingerprint;
use crate::json;
use crate::predicted_deadlock::PredictedDeadlock;
use crate::predicted_violation::PredictedViolation;
use crate::report::{RacingAccess, Report, SCHEMA};
use crate::text::count;

/// What is known from earlier reports.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    files: Vec<String>,
    /// By its fingerprint: whether it was proven.
    pairs: FxHashMap<String, bool>,
}

/// What a report does not tell again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Known {
    /// The earlier reports.
    pub files: Vec<String>,
    /// How many races, candidates, deadlocks and violations of this report are known.
    pub count: usize,
    /// How many races and candidates of the earlier reports were not found again, by any of the reports that were
    /// made together.
    pub not_seen: usize,
    /// Each pair that is known.
    pub pairs: Vec<KnownPair>,
    /// Each deadlock that is known; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<PredictedDeadlock>,
    /// Each violation that is known; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<PredictedViolation>,
}

impl Known {
    /// How many races and candidates are known, in words.
    pub(crate) fn words(&self) -> String {
        let races = self.pairs.iter().filter(|pair| pair.proven).count();
        let all = self.pairs.len() + self.deadlocks.len() + self.violations.len();
        let are = if all == 1 { "is known" } else { "are known" };
        let kinds = [
            (races, "race"),
            (self.pairs.len() - races, "candidate"),
            (self.deadlocks.len(), "deadlock"),
            (self.violations.len(), "violation"),
        ];
        let kinds = kinds.iter().filter(|(number, _)| *number > 0 || all == 0);
        let words: Vec<String> = kinds.map(|&(number, kind)| count(number, kind)).collect();
        format!("{} {are}", words.join(" and "))
    }
}

/// A pair that an earlier report contains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KnownPair {
    /// The access that stands first in the trace.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
    /// Whether it is a proven race; otherwise it is a candidate.
    pub proven: bool,
    /// What it is known by.
    pub fingerprint: String,
}

/// Why a file tells nothing about what is known.
#[derive(Debug)]
pub enum BadBaseline {
    /// It is no report.
    NoReport(serde_json::Error),
    /// It is one of a version that did not make fingerprints, or made others.
    OtherFingerprints,
    /// It is one of a version to come.
    Newer,
}

impl fmt::Display for BadBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadBaseline::NoReport(error) => {
                write!(f, "not a JSON report of foretell (--format json): {error}")
            }
            BadBaseline::OtherFingerprints => f.write_str(
                "this report has no fingerprints of this version; write it again with --format json",
            ),
            BadBaseline::Newer => f.write_str("this report was written by a newer version of foretell"),
        }
    }
}

impl Baseline {
    /// Adds what the text of the file tells, which is one or more reports.
    pub fn add(&mut self, text: &str, file: &str) -> Result<(), BadBaseline> {
        for report in json::parse(text).map_err(BadBaseline::NoReport)? {
            if report.schema > SCHEMA {
                return Err(BadBaseline::Newer);
            }
            let races = report.races.into_iter().map(|race| (race.fingerprint, true));
            let open = report.undecided.into_iter().map(|open| (open.fingerprint, false));
            let known = report.known.unwrap_or_default();
            let pairs = known.pairs.into_iter().map(|pair| (Some(pair.fingerprint), pair.proven));
            let violated = known.violations.into_iter().map(|violation| (violation.fingerprint, true));
            let pairs = pairs.chain(violated);
            let known = known.deadlocks.into_iter().map(|deadlock| (deadlock.fingerprint, true)).chain(pairs);
            let stuck = report.deadlocks.into_iter().map(|deadlock| (deadlock.fingerprint, true));
            let violated = report.violations.into_iter().map(|violation| (violation.fingerprint, true));
            let stuck = stuck.chain(violated);
            for (fingerprint, proven) in races.chain(open).chain(known).chain(stuck) {
                let fingerprint = fingerprint.filter(|text| is_ours(text));
                let fingerprint = fingerprint.ok_or(BadBaseline::OtherFingerprints)?;
                *self.pairs.entry(fingerprint).or_default() |= proven;
            }
        }
        self.files.push(file.to_string());
        Ok(())
    }

    /// The files that were added.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Takes out of the reports what is known, and counts it there. Returns how much of what is known was not found
    /// again.
    pub fn apply(&self, reports: &mut [Report]) -> usize {
        let seen: FxHashSet<&str> = reports.iter().flat_map(all_fingerprints).collect();
        let not_seen = self.pairs.keys().filter(|known| !seen.contains(known.as_str())).count();
        for report in reports {
            self.apply_to(report, not_seen);
        }
        not_seen
    }

    fn apply_to(&self, report: &mut Report, not_seen: usize) {
        let mut pairs = Vec::new();
        let mut violations = Vec::new();
        report.violations.retain(|violation| {
            let is_known = violation.fingerprint.as_ref().is_some_and(|text| self.knows(text, true));
            violations.extend(is_known.then(|| violation.clone()));
            !is_known
        });
        let mut is_new =
            |first: &RacingAccess, second: &RacingAccess, proven, fingerprint: &Option<String>| {
                let Some(fingerprint) = fingerprint.as_ref().filter(|text| self.knows(text, proven)) else {
                    return true;
                };
                let (first, second, fingerprint) = (first.clone(), second.clone(), fingerprint.clone());
                pairs.push(KnownPair { first, second, proven, fingerprint });
                false
            };
        report.races.retain(|race| is_new(&race.first, &race.second, true, &race.fingerprint));
        report.undecided.retain(|open| is_new(&open.first, &open.second, false, &open.fingerprint));
        let mut deadlocks = Vec::new();
        report.deadlocks.retain(|deadlock| {
            let is_known = deadlock.fingerprint.as_ref().is_some_and(|text| self.knows(text, true));
            deadlocks.extend(is_known.then(|| deadlock.clone()));
            !is_known
        });
        let count = pairs.len() + deadlocks.len() + violations.len();
        let files = self.files.clone();
        report.known = Some(Known { files, count, not_seen, pairs, deadlocks, violations });
    }

    /// Whether an earlier report contains this. A candidate that is now proven is new.
    fn knows(&self, fingerprint: &str, proven: bool) -> bool {
        self.pairs.get(fingerprint).is_some_and(|&was_proven| was_proven || !proven)
    }
}

/// What all that a report has found is known by, also what it does not tell.
fn all_fingerprints(report: &Report) -> impl Iterator<Item = &str> {
    let races = report.races.iter().map(|race| &race.fingerprint);
    let open = report.undecided.iter().map(|open| &open.fingerprint);
    let suppressed = report.suppressed.iter().flat_map(|suppressed| &suppressed.pairs);
    let suppressed = suppressed.map(|pair| &pair.fingerprint);
    let stuck = report.suppressed.iter().flat_map(|suppressed| &suppressed.deadlocks);
    let stuck = report.deadlocks.iter().chain(stuck.map(|suppressed| &suppressed.deadlock));
    let stuck = stuck.map(|deadlock| &deadlock.fingerprint);
    let violated = report.suppressed.iter().flat_map(|suppressed| &suppressed.violations);
    let violated = report.violations.iter().chain(violated.map(|suppressed| &suppressed.violation));
    let violated = violated.map(|violation| &violation.fingerprint);
    races.chain(open).chain(suppressed).chain(stuck).chain(violated).filter_map(Option::as_deref)
}

fn is_ours(fingerprint: &str) -> bool {
    fingerprint.split_once(':').is_some_and(|(version, _)| version == fingerprint::VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Candidate;
    use crate::sample;

    /// A report with races and candidates at these locations.
    fn report(races: &[&str], open: &[&str]) -> Report {
        let access =
            |location: &str| RacingAccess { location: location.to_string(), ..RacingAccess::default() };
        let mut report = Report::new("rv");
        report.races = races.iter().map(|at| sample::race(access(at), access(at))).collect();
        let candidate = |at: &&str| Candidate {
            first: access(at),
            second: access(at),
            reason: String::new(),
            more: 0,
            fingerprint: None,
        };
        report.undecided = open.iter().map(candidate).collect();
        fingerprint::mark(&mut report);
        report
    }

    fn baseline(reports: &[Report]) -> Baseline {
        let mut baseline = Baseline::default();
        baseline.add(&json::render(reports).unwrap(), "old.json").unwrap();
        baseline
    }

    fn listed(report: &Report) -> (Vec<&str>, Vec<&str>) {
        let races = report.races.iter().map(|race| race.first.location.as_str());
        (races.collect(), report.undecided.iter().map(|open| open.first.location.as_str()).collect())
    }

    #[test]
    fn only_what_is_new_is_told() {
        let old = [report(&["a", "b"], &["c", "d"]), report(&["e"], &[])];
        let mut new = [report(&["a", "c", "f"], &["b", "d", "g"])];
        assert_eq!(baseline(&old).apply(&mut new), 1, "e is gone");
        // What was not proven and is now is new; what was proven and is not now is known.
        assert_eq!(listed(&new[0]), (vec!["c", "f"], vec!["g"]));
        let known = new[0].known.as_ref().unwrap();
        let pairs: Vec<_> =
            known.pairs.iter().map(|pair| (pair.first.location.as_str(), pair.proven)).collect();
        assert_eq!(pairs, [("a", true), ("b", false), ("d", false)]);
        assert_eq!((known.count, known.not_seen, known.files.len()), (3, 1, 1));
    }

    #[test]
    fn what_was_known_stays_known() {
        let mut middle = [report(&["a", "b"], &[])];
        baseline(&[report(&["a"], &[])]).apply(&mut middle);
        let mut last = [report(&["a", "b"], &[])];
        assert_eq!(baseline(&middle).apply(&mut last), 0);
        assert_eq!(listed(&last[0]), (vec![], vec![]));
    }

    #[test]
    fn files_that_tell_nothing_are_refused() {
        let refused = |text: &str| Baseline::default().add(text, "old.json").unwrap_err();
        assert!(matches!(refused("<html>"), BadBaseline::NoReport(_)));
        assert!(matches!(refused("{\"runs\":[]}"), BadBaseline::NoReport(_)));
        let mut report = report(&["a"], &[]);
        report.schema = SCHEMA + 1;
        assert!(matches!(refused(&json::render(&[report.clone()]).unwrap()), BadBaseline::Newer));
        report.schema = 0;
        for fingerprint in [None, Some("v0:1".to_string()), Some("x".to_string())] {
            report.races[0].fingerprint = fingerprint;
            assert!(matches!(
                refused(&json::render(&[report.clone()]).unwrap()),
                BadBaseline::OtherFingerprints
            ));
        }
    }
}
