//! One technique on one trace: detect, have the referee check, report.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use foretell_detect::{Pair, Pairs, Reports};
use foretell_predict::{Guarantee, Scheduler, Technique};
use foretell_report::{Access, Candidate, Race, Report, Stats, TraceInfo};
use foretell_trace::check::Checker;
use foretell_trace::source::BATCH;
use foretell_trace::{Batch, Event, EventId, Names, Trace};
use foretell_witness::{Claim, Finding, Model, Proof, Referee, Rejection, UnorderedReferee};

use crate::Outcome;
use crate::args::Choice;
use crate::error::Failure;
use crate::input::Input;
use crate::memory;

/// What is to be done with a trace.
pub(crate) struct Plan {
    pub(crate) choice: Choice,
    pub(crate) pairs: Pairs,
    /// How many steps of witnesses may be printed in all.
    pub(crate) witness_steps: usize,
}

/// Schedules for happens-before races are as long as the trace, and need it in memory. Where all of them together would
/// have more steps than this, or the trace more events than [`REPLAYED_EVENTS`], and not all witnesses are wanted, the
/// referee checks instead, in one pass for all, that nothing orders the accesses.
const REPLAYED_STEPS: usize = 20_000_000;
const REPLAYED_EVENTS: usize = 1_000_000;

/// Runs the techniques of the plan. `stored` is the trace, if it is in memory already.
pub(crate) fn analyse(input: &Input, stored: Option<&Trace>, plan: &Plan) -> Result<Report, Failure> {
    let begin = Instant::now();
    memory::reset_peak();
    let mut report = Report {
        tool: "foretell",
        technique: plan.choice.name().to_string(),
        trace: TraceInfo::default(),
        races: Vec::new(),
        undecided: Vec::new(),
        stats: Stats::default(),
    };
    let mut printing = Printing { left: plan.witness_steps };
    for technique in plan.choice.stages() {
        let mut stage = Stage { input, stored, technique, plan, printing: &mut printing };
        let judged = stage.run(&mut report)?;
        add(&mut report, judged, plan.pairs);
        if technique.guarantee() == Guarantee::FirstReport {
            stage.find_better_pairs(&mut report)?;
        }
    }
    report.stats.candidates = report.races.len() + report.undecided.len();
    report.stats.witnesses_not_printed =
        report.races.iter().filter(|race| race.is_witness_left_out()).count();
    report.stats.seconds = begin.elapsed().as_secs_f64();
    report.stats.peak_memory_bytes = memory::peak();
    Ok(report)
}

/// What the report means for the exit code.
pub(crate) fn outcome(report: &Report) -> Outcome {
    if !report.races.is_empty() {
        Outcome::Race
    } else if report.trace.cut_short {
        Outcome::Incomplete
    } else if !report.undecided.is_empty() || report.stats.forgotten_accesses > 0 {
        Outcome::Undecided
    } else {
        Outcome::Clean
    }
}

/// One technique on one trace.
struct Stage<'a> {
    input: &'a Input,
    stored: Option<&'a Trace>,
    technique: Technique,
    plan: &'a Plan,
    printing: &'a mut Printing,
}

/// How much of the witnesses is printed. What is not printed is not kept either: all witnesses of a long trace together
/// would be many times its size.
struct Printing {
    /// How many steps may still be printed.
    left: usize,
}

impl Printing {
    fn race(&mut self, finding: &Finding, names: &Names, event: impl Fn(EventId) -> Event) -> Race {
        let mut race = Race::new(finding, names, event);
        let length = race.witness_length.unwrap_or(0);
        match self.left.checked_sub(length) {
            Some(left) => self.left = left,
            None => race.witness = None,
        }
        race
    }
}

struct Detection {
    trace: TraceInfo,
    reports: Reports,
}

/// Reported pairs with the referee's word on each.
#[derive(Default)]
struct Judged {
    races: Vec<Race>,
    candidates: Vec<Candidate>,
}

/// A pair after the referee has looked at its schedule.
enum Verdict {
    Race(Box<Race>),
    /// Not proven, and why not, if a schedule was tried.
    Open(Option<Rejection>),
}

impl Stage<'_> {
    fn doing(&self, what: &str) -> String {
        format!("{} {what}", self.technique.name())
    }

    fn detect(&mut self, wanted: Pairs) -> Result<Detection, Failure> {
        let mut detector = self.technique.detector();
        let mut reports = Reports::new(wanted);
        let file = self.input.name();
        if let Some(trace) = self.stored {
            for_each_batch(trace, |first, events| detector.batch(first, events, &mut reports));
            detector.finish(&mut reports);
            return Ok(Detection { trace: TraceInfo::of(trace, &file), reports });
        }
        let mut reading = self.input.open(&self.doing("detects"))?;
        let mut detect = |checker: &mut Checker, batch: &mut Batch, names: &Names| {
            detector.checked_batch(checker, batch, names, &mut reports)
        };
        while reading.next_checked(&mut detect)? {}
        detector.finish(&mut reports);
        let trace = TraceInfo {
            file,
            events: reading.events(),
            threads: reading.names().threads.len(),
            cut_short: reading.is_cut_short(),
            unexplained_reads: reading.checker().unexplained().1,
        };
        Ok(Detection { trace, reports })
    }

    /// Detects, and has the referee look at what was reported.
    fn run(&mut self, report: &mut Report) -> Result<Judged, Failure> {
        let detection = self.detect(self.plan.pairs)?;
        report.trace = detection.trace;
        report.stats.forgotten_accesses += detection.reports.forgotten();
        match detection.reports.pairs() {
            [] => Ok(Judged::default()),
            pairs => self.judge(pairs, report.trace.events),
        }
    }

    /// One pair of a pair of locations was reported and cannot be proven. Another pair of the same locations may have a
    /// proof: schedulable happens-before knows nearly all that do.
    fn find_better_pairs(&mut self, report: &mut Report) -> Result<(), Failure> {
        if self.plan.pairs == Pairs::All || report.undecided.is_empty() {
            return Ok(());
        }
        let open: HashSet<_> =
            report.undecided.iter().map(|open| key(&open.first, &open.second, Pairs::ByLocation)).collect();
        let mut stage = Stage { technique: Technique::Shb, printing: &mut *self.printing, ..*self };
        let detection = stage.detect(Pairs::ByLocation)?;
        let mut judged = stage.judge(detection.reports.pairs(), report.trace.events)?;
        judged.races.retain(|race| open.contains(&key(&race.first, &race.second, Pairs::ByLocation)));
        judged.candidates.clear();
        add(report, judged, Pairs::ByLocation);
        Ok(())
    }

    fn judge(&mut self, pairs: &[Pair], events: usize) -> Result<Judged, Failure> {
        let schedules_are_too_long = self.technique != Technique::SyncP
            && self.plan.witness_steps < usize::MAX
            && (events > REPLAYED_EVENTS || pairs.len().saturating_mul(events) > REPLAYED_STEPS);
        match (self.technique.guarantee(), self.stored) {
            (Guarantee::None, Some(trace)) => Ok(self.doubt(pairs, trace.names(), |id| trace.event(id))),
            (Guarantee::None, None) => {
                let (names, events) = self.collect(pairs, |_, _| {})?;
                Ok(self.doubt(pairs, &names, |id| events[&id]))
            }
            (_, Some(trace)) if schedules_are_too_long => {
                let open = pairs.iter().map(|_| Verdict::Open(None)).collect();
                Ok(self.settle(pairs, open, trace))
            }
            (_, Some(trace)) => Ok(self.replay(pairs, trace)),
            (_, None) if schedules_are_too_long => self.check_unordered(pairs),
            (_, None) => {
                let trace = self.input.load(&self.doing("proves"))?;
                if trace.events().len() != events {
                    return Err(Failure::Changed { file: self.input.name() });
                }
                Ok(self.replay(pairs, &trace))
            }
        }
    }

    /// The technique has no proofs: its reports are candidates.
    fn doubt(&self, pairs: &[Pair], names: &Names, event: impl Fn(EventId) -> Event) -> Judged {
        let reason = format!("{} does not prove what it reports", self.technique.name());
        let candidate = |pair: &Pair| candidate(*pair, reason.clone(), names, &event);
        Judged { races: Vec::new(), candidates: pairs.iter().map(candidate).collect() }
    }

    /// Has the referee replay a schedule for each pair; where there is none, nothing may order the two accesses.
    fn replay(&mut self, pairs: &[Pair], trace: &Trace) -> Judged {
        let scheduler = Scheduler::new(self.technique, trace);
        let mut referee = Referee::new(trace);
        let mut verdicts = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let schedule = scheduler.as_ref().and_then(|scheduler| scheduler.schedule(*pair));
            verdicts.push(match schedule.map(|schedule| referee.check(adjacent(*pair, schedule))) {
                Some(Ok(finding)) => {
                    let race = self.printing.race(&finding, trace.names(), |id| trace.event(id));
                    Verdict::Race(Box::new(race))
                }
                Some(Err(rejection)) => Verdict::Open(Some(rejection)),
                None => Verdict::Open(None),
            });
        }
        self.settle(pairs, verdicts, trace)
    }

    /// Has the referee check whether what is still open is ordered at all.
    fn settle(&mut self, pairs: &[Pair], verdicts: Vec<Verdict>, trace: &Trace) -> Judged {
        let is_open = |(pair, verdict): (&Pair, &Verdict)| {
            matches!(verdict, Verdict::Open(_)).then_some((pair.first, pair.second))
        };
        let mut referee = UnorderedReferee::new(pairs.iter().zip(&verdicts).filter_map(is_open).collect());
        for_each_batch(trace, |first, events| referee.batch(first, events));
        let mut second_opinions = referee.verdicts().into_iter();
        let mut judged = Judged::default();
        for (pair, verdict) in pairs.iter().zip(verdicts) {
            let event = |id| trace.event(id);
            match verdict {
                Verdict::Race(race) => judged.races.push(*race),
                Verdict::Open(rejection) => match second_opinions.next() {
                    Some(Ok(finding)) => {
                        judged.races.push(self.printing.race(&finding, trace.names(), event));
                    }
                    second => {
                        let rejection = rejection.or(second.and_then(Result::err));
                        judged.candidates.push(rejected(*pair, rejection, trace.names(), event));
                    }
                },
            }
        }
        judged
    }

    /// Has the referee check all pairs in one pass.
    fn check_unordered(&mut self, pairs: &[Pair]) -> Result<Judged, Failure> {
        let claims = pairs.iter().map(|pair| (pair.first, pair.second)).collect();
        let mut referee = UnorderedReferee::new(claims);
        let (names, events) = self.collect(pairs, |first, events| referee.batch(first, events))?;
        let mut judged = Judged::default();
        for (pair, verdict) in pairs.iter().zip(referee.verdicts()) {
            match verdict {
                Ok(finding) => judged.races.push(self.printing.race(&finding, &names, |id| events[&id])),
                Err(rejection) => {
                    judged.candidates.push(rejected(*pair, Some(rejection), &names, |id| events[&id]));
                }
            }
        }
        Ok(judged)
    }

    /// Reads the trace once more, up to the last event of any pair, and keeps the events of the pairs.
    fn collect(
        &self,
        pairs: &[Pair],
        mut look: impl FnMut(EventId, &[Event]),
    ) -> Result<(Names, BTreeMap<EventId, Event>), Failure> {
        let mut wanted: Vec<EventId> = pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut wanted = wanted.into_iter().peekable();
        let mut found = BTreeMap::new();
        let mut reading = self.input.open(&self.doing("proves"))?;
        while wanted.peek().is_some() {
            let Some((first, events)) = reading.next()? else { break };
            look(first, events);
            let begin = first.index();
            while let Some(id) = wanted.next_if(|id| id.index() < begin + events.len()) {
                found.insert(id, events[id.index() - begin]);
            }
        }
        if wanted.peek().is_some() {
            return Err(Failure::Changed { file: self.input.name() });
        }
        Ok((reading.into_names(), found))
    }
}

fn adjacent(pair: Pair, schedule: Vec<EventId>) -> Claim {
    let proof = Proof::Adjacent { model: Model::SameWrite, schedule };
    Claim { first: pair.first, second: pair.second, proof }
}

fn rejected(
    pair: Pair,
    rejection: Option<Rejection>,
    names: &Names,
    event: impl Fn(EventId) -> Event,
) -> Candidate {
    let reason = rejection.map_or("no schedule was found".to_string(), |rejection| rejection.to_string());
    candidate(pair, reason, names, event)
}

fn candidate(pair: Pair, reason: String, names: &Names, event: impl Fn(EventId) -> Event) -> Candidate {
    Candidate {
        first: Access::new(pair.first, event(pair.first), names),
        second: Access::new(pair.second, event(pair.second), names),
        reason,
    }
}

fn for_each_batch(trace: &Trace, mut look: impl FnMut(EventId, &[Event])) {
    for (number, events) in trace.events().chunks(BATCH).enumerate() {
        if let Some(first) = EventId::from_index(number * BATCH) {
            look(first, events);
        }
    }
}

/// Adds what a stage has found to what earlier ones have; a proven pair is no candidate any more.
fn add(report: &mut Report, judged: Judged, wanted: Pairs) {
    let mut known: HashSet<_> =
        report.races.iter().map(|race| key(&race.first, &race.second, wanted)).collect();
    for race in judged.races {
        if known.insert(key(&race.first, &race.second, wanted)) {
            report.races.push(race);
        }
    }
    report.undecided.extend(judged.candidates);
    report.undecided.retain(|open| !known.contains(&key(&open.first, &open.second, wanted)));
}

/// What makes a pair the same as another one.
fn key(first: &Access, second: &Access, wanted: Pairs) -> (String, String) {
    match wanted {
        Pairs::All => (first.event.to_string(), second.event.to_string()),
        Pairs::ByLocation => {
            let (a, b) = (first.location.clone(), second.location.clone());
            if a <= b { (a, b) } else { (b, a) }
        }
    }
}
