//! A report in little, for when there is no time or memory to write all of it: who races with whom, and what was left
//! out.

use crate::baseline::Known;
use crate::confirmation::Confirmation;
use crate::predicted_deadlock::PredictedDeadlock;
use crate::predicted_violation::PredictedViolation;
use crate::report::{Candidate, Race, RacingAccess, Report, TestRun};
use crate::suppressions::Suppressed;

/// So many races and so many candidates are listed.
const LISTED: usize = 1_000;
/// So many of the functions that were being executed are shown of an access.
const FRAMES: usize = 8;

/// The report in little; `why` says why it is no more.
pub fn brief(report: &Report, why: &str) -> Report {
    let mut brief = Report {
        races: report.races.iter().take(LISTED).map(brief_race).collect(),
        deadlocks: report.deadlocks.iter().take(LISTED).map(brief_deadlock).collect(),
        violations: report.violations.iter().take(LISTED).map(brief_violation).collect(),
        undecided: report.undecided.iter().take(LISTED).map(brief_candidate).collect(),
        suppressed: report.suppressed.as_ref().map(brief_suppressed),
        known: report.known.as_ref().map(brief_known),
        test: report.test.as_ref().map(brief_test),
        excerpts: std::collections::BTreeMap::new(),
        complete: false,
        notes: report.notes.clone(),
        tool: report.tool.clone(),
        version: report.version.clone(),
        schema: report.schema,
        technique: report.technique.clone(),
        trace: report.trace.clone(),
        window: report.window,
        interrupted: report.interrupted,
        ending: report.ending.clone(),
        driven: report.driven,
        evidence: report.evidence.clone(),
        hunt: report.hunt.clone(),
        stats: report.stats.clone(),
    };
    let races = report.races.len() - brief.races.len();
    let candidates = report.undecided.len() - brief.undecided.len();
    brief.stats.not_listed += candidates as u64;
    let left_out =
        if races > 0 { format!("; {races} more proven races are not listed at all") } else { String::new() };
    brief.notes.push(format!(
        "this report was cut while it was written ({why}): each race has only its two accesses, without the \
         schedule{left_out}"
    ));
    brief
}

fn brief_deadlock(deadlock: &PredictedDeadlock) -> PredictedDeadlock {
    let confirmation = deadlock.confirmation.as_ref().map(brief_confirmation);
    PredictedDeadlock { witness: None, schedule: None, confirmation, ..deadlock.clone() }
}

fn brief_violation(violation: &PredictedViolation) -> PredictedViolation {
    PredictedViolation {
        first: brief_access(&violation.first),
        second: brief_access(&violation.second),
        witness: None,
        schedule: None,
        confirmation: violation.confirmation.as_ref().map(brief_confirmation),
        ..violation.clone()
    }
}

fn brief_race(race: &Race) -> Race {
    Race {
        first: brief_access(&race.first),
        second: brief_access(&race.second),
        proof: race.proof,
        model: race.model,
        witness: None,
        witness_length: race.witness_length,
        witness_tail: None,
        story: None,
        observed: None,
        reads: None,
        path: race.path.clone(),
        values: Vec::new(),
        schedule: None,
        confirmation: race.confirmation.as_ref().map(brief_confirmation),
        picture: None,
        processes: race.processes,
        hunted: race.hunted.clone(),
        repeated: race.repeated,
        fingerprint: race.fingerprint.clone(),
    }
}

fn brief_confirmation(full: &Confirmation) -> Confirmation {
    let Confirmation { confirmed, why, live: _, apart, waiting: _ } = full.clone();
    Confirmation { confirmed, why, live: Vec::new(), apart, waiting: Vec::new() }
}

fn brief_candidate(open: &Candidate) -> Candidate {
    Candidate {
        first: brief_access(&open.first),
        second: brief_access(&open.second),
        reason: open.reason.clone(),
        more: open.more,
        fingerprint: open.fingerprint.clone(),
    }
}

fn brief_access(access: &RacingAccess) -> RacingAccess {
    RacingAccess {
        event: access.event,
        thread: access.thread.clone(),
        op: access.op.clone(),
        target: access.target.clone(),
        value: access.value.clone(),
        location: access.location.clone(),
        function: access.function.clone(),
        stack: access.stack.iter().take(FRAMES).cloned().collect(),
        source: access.source.clone(),
        ..RacingAccess::default()
    }
}

/// Only how many there are.
fn brief_suppressed(all: &Suppressed) -> Suppressed {
    Suppressed { file: all.file.clone(), count: all.count, ..Suppressed::default() }
}

fn brief_known(all: &Known) -> Known {
    Known { files: all.files.clone(), count: all.count, not_seen: all.not_seen, ..Known::default() }
}

fn brief_test(test: &TestRun) -> TestRun {
    TestRun { name: test.name.clone(), ending: test.ending, seconds: test.seconds, output: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn who_races_is_told_and_what_is_left_out_is_counted() {
        let mut report = Report::new("auto");
        let access =
            |event| RacingAccess { event, location: format!("a.c:{event}"), ..RacingAccess::default() };
        let race = |event| Race {
            witness: Some(vec![1; 1000]),
            schedule: Some("long".to_string()),
            ..sample::race(access(event), access(event + 1))
        };
        report.races = (1..).take(LISTED + 7).map(race).collect();
        report.complete = true;
        let open = || Candidate {
            first: access(1),
            second: access(2),
            reason: String::new(),
            more: 0,
            fingerprint: None,
        };
        report.undecided = (0..LISTED + 3).map(|_| open()).collect();
        let brief = brief(&report, "interrupted");
        assert_eq!((brief.races.len(), brief.undecided.len(), brief.stats.not_listed), (LISTED, LISTED, 3));
        assert!(brief.races.iter().all(|race| race.witness.is_none() && race.schedule.is_none()));
        assert_eq!(brief.races[3].first.location, "a.c:4");
        assert!(!brief.complete);
        assert!(brief.notes[0].contains("(interrupted)") && brief.notes[0].contains("7 more proven races"));
    }
}
