//! Techniques that look at each event once: detect, then have the referee check what was reported.

use std::collections::{BTreeMap, HashSet};

use foretell_detect::{Detector, Pair, Pairs, Reports};
use foretell_predict::{Guarantee, ProofScheduler, Technique};
use foretell_report::TraceInfo;
use foretell_trace::check::Checker;
use foretell_trace::source::BATCH;
use foretell_trace::{Batch, Event, EventId, Names, Trace};
use foretell_witness::{Claim, Model, Proof, Referee, Rejection, UnorderedReferee};

use crate::analysis::{Analysis, Candidate, Counts, Found, Judged, Reason, Room};
use crate::control::{Control, LISTED_LATE};
use crate::error::Error;
use crate::input::Input;
use crate::plan::Plan;

/// Schedules for happens-before races are as long as the trace, and need it in memory. Where all of them together would
/// have more steps than this, or the trace more events than [`REPLAYED_EVENTS`], and not all witnesses are wanted, the
/// referee checks instead, in one pass for all, that nothing orders the accesses.
const REPLAYED_STEPS: usize = 20_000_000;
const REPLAYED_EVENTS: usize = 1_000_000;

/// One technique on one trace.
pub(crate) struct Stage<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) technique: Technique,
    pub(crate) plan: &'a Plan,
    pub(crate) control: &'a dyn Control,
    pub(crate) room: &'a mut Room,
}

struct Detection {
    trace: TraceInfo,
    reports: Reports,
}

/// A pair after the referee has looked at its schedule.
enum Verdict {
    Race(Box<Found>),
    /// Not proven, and why not, if a schedule was tried.
    Open(Option<Rejection>),
}

impl Stage<'_> {
    fn doing(&self, what: &str) -> String {
        format!("{} {what}", self.technique.name())
    }

    fn detect(&mut self, wanted: Pairs) -> Result<Detection, Error> {
        let Some(mut detector) = self.technique.detector() else {
            return Err(Error::Plan(format!("{} decides pairs one by one", self.technique.name())));
        };
        let mut reports = Reports::new(wanted).up_to(self.plan.max_races);
        let input = self.input;
        if let Some(trace) = self.input.trace() {
            self.for_each_batch(trace, |first, events| {
                if !reports.is_over_full() {
                    detector.batch(first, events, &mut reports);
                }
            });
            self.finish(&mut *detector, &mut reports);
            return Ok(Detection { trace: TraceInfo::of(trace, input.name()), reports });
        }
        let mut reading = input.open_to_keep(&self.doing("detects"), self.plan.memory, self.control)?;
        let mut detect = |checker: &mut Checker, batch: &mut Batch, names: &Names| {
            if reports.is_over_full() {
                // More would not be kept, but the rest of the trace is still checked and counted.
                return checker.check_batch(batch, names);
            }
            detector.checked_batch(checker, batch, names, &mut reports)
        };
        while reading.next_checked(&mut detect)? {
            if self.control.is_stopped() {
                reading.stop();
                break;
            }
        }
        self.finish(&mut *detector, &mut reports);
        let trace = reading.info();
        if !self.control.is_stopped() {
            input.keep(reading);
        }
        Ok(Detection { trace, reports })
    }

    /// Detects, and has the referee look at what was reported.
    pub(crate) fn run(&mut self, analysis: &mut Analysis) -> Result<Judged, Error> {
        let detection = self.detect(self.plan.pairs)?;
        analysis.looked_at(detection.trace);
        analysis.counts.forgotten_accesses += detection.reports.forgotten();
        let mut judged = match detection.reports.pairs() {
            [] => Judged::default(),
            pairs if self.control.is_stopped() => Judged::of_nothing(pairs.len()),
            pairs => self.judge(pairs, analysis.trace.events)?,
        };
        judged.counts.not_examined += detection.reports.beyond();
        judged.is_over_full = detection.reports.beyond() > 0;
        Ok(judged)
    }

    /// One pair of a pair of locations was reported and cannot be proven. Another pair of the same locations may have a
    /// proof: schedulable happens-before knows nearly all that do.
    pub(crate) fn find_better_pairs(&mut self, analysis: &mut Analysis) -> Result<(), Error> {
        if self.plan.pairs == Pairs::All || analysis.undecided.is_empty() || self.control.is_stopped() {
            return Ok(());
        }
        let wanted = self.plan.pairs;
        let open: HashSet<_> = analysis.undecided.iter().map(|open| open.identity(wanted)).collect();
        let mut stage = Stage { technique: Technique::Shb, room: &mut *self.room, ..*self };
        let detection = stage.detect(Pairs::ByLocation)?;
        if self.control.is_stopped() {
            return Ok(());
        }
        let mut judged = stage.judge(detection.reports.pairs(), analysis.trace.events)?;
        judged.races.retain(|race| open.contains(&race.identity(wanted)));
        judged.candidates.clear();
        analysis.add(judged, self.plan);
        Ok(())
    }

    fn judge(&mut self, pairs: &[Pair], events: usize) -> Result<Judged, Error> {
        let schedules_are_too_long = self.technique != Technique::SyncP
            && self.plan.witness_steps < usize::MAX
            && (events > REPLAYED_EVENTS || pairs.len().saturating_mul(events) > REPLAYED_STEPS);
        match (self.technique.guarantee(), self.input.trace()) {
            (Guarantee::None, Some(trace)) => Ok(self.doubt(pairs, trace.names(), |id| trace.event(id))),
            (Guarantee::None, None) => {
                let (names, events) = self.collect(pairs, |_, _| {})?;
                if self.control.is_stopped() {
                    return Ok(Judged::of_nothing(pairs.len()));
                }
                Ok(self.doubt(pairs, &names, |id| events[&id]))
            }
            (_, Some(trace)) if schedules_are_too_long => {
                let open = pairs.iter().map(|_| Verdict::Open(None)).collect();
                Ok(self.settle(pairs, open, trace))
            }
            (_, Some(trace)) => Ok(self.replay(pairs, trace)),
            (_, None) if schedules_are_too_long => self.check_unordered(pairs),
            (_, None) => {
                let trace = self.input.load(&self.doing("proves"), self.control)?;
                if self.control.is_stopped() {
                    return Ok(Judged::of_nothing(pairs.len()));
                }
                if trace.events().len() != events {
                    return Err(Error::Changed { file: self.input.name().to_string() });
                }
                Ok(self.replay(pairs, trace))
            }
        }
    }

    /// The technique has no proofs: its reports are candidates.
    fn doubt(&self, pairs: &[Pair], names: &Names, event: impl Fn(EventId) -> Event) -> Judged {
        let candidate = |pair: &Pair| Candidate::new(*pair, Reason::NoProofs(self.technique), names, &event);
        Judged { candidates: pairs.iter().map(candidate).collect(), ..Judged::default() }
    }

    /// Has the referee replay a schedule for each pair; where there is none, nothing may order the two accesses.
    fn replay(&mut self, pairs: &[Pair], trace: &Trace) -> Judged {
        let scheduler = ProofScheduler::new(self.technique, trace);
        let mut referee = Referee::new(trace);
        let mut verdicts = Vec::with_capacity(pairs.len());
        for pair in pairs {
            if self.control.is_stopped() {
                break;
            }
            let schedule = scheduler.as_ref().and_then(|scheduler| scheduler.schedule(*pair));
            verdicts.push(match schedule.map(|schedule| referee.check(adjacent(*pair, schedule))) {
                Some(Ok(finding)) => {
                    let found = Found::new(finding, trace.names(), |id| trace.event(id));
                    Verdict::Race(Box::new(self.room.limit(found)))
                }
                Some(Err(rejection)) => Verdict::Open(Some(rejection)),
                None => Verdict::Open(None),
            });
        }
        let (tried, untried) = pairs.split_at(verdicts.len());
        let judged = self.settle(tried, verdicts, trace);
        let counts = Counts { not_examined: untried.len() as u64, ..judged.counts };
        Judged { counts, ..judged }
    }

    /// Has the referee check whether what is still open is ordered at all, unless everything is to stop.
    fn settle(&mut self, pairs: &[Pair], verdicts: Vec<Verdict>, trace: &Trace) -> Judged {
        let is_open = |(pair, verdict): (&Pair, &Verdict)| {
            matches!(verdict, Verdict::Open(_)).then_some((pair.first, pair.second))
        };
        let mut referee = UnorderedReferee::new(pairs.iter().zip(&verdicts).filter_map(is_open).collect());
        self.for_each_batch(trace, |first, events| referee.batch(first, events));
        let has_seen_all = !self.control.is_stopped();
        let mut second_opinions = referee.verdicts().into_iter();
        let mut judged = Judged::default();
        for (pair, verdict) in pairs.iter().zip(verdicts) {
            let event = |id| trace.event(id);
            match verdict {
                Verdict::Race(race) => judged.races.push(*race),
                Verdict::Open(rejection) => match second_opinions.next() {
                    Some(Ok(_)) if self.lists_enough(&judged) => {
                        judged.counts.proven_not_listed += 1;
                    }
                    Some(Ok(finding)) => {
                        judged.races.push(Found::new(finding, trace.names(), event));
                    }
                    // The referee rejects what lies beyond the last event that it has seen.
                    _ if !has_seen_all => judged.counts.not_examined += 1,
                    second => {
                        let rejection = rejection.or(second.and_then(Result::err));
                        judged.candidates.push(rejected(*pair, rejection, trace.names(), event));
                    }
                },
            }
        }
        judged
    }

    /// Whether as many races are named as are listed when all is to be reported at once.
    fn lists_enough(&self, judged: &Judged) -> bool {
        judged.races.len() >= LISTED_LATE && self.control.must_report_at_once()
    }

    /// Has the referee check all pairs in one pass.
    fn check_unordered(&mut self, pairs: &[Pair]) -> Result<Judged, Error> {
        let claims = pairs.iter().map(|pair| (pair.first, pair.second)).collect();
        let mut referee = UnorderedReferee::new(claims);
        let (names, events) = self.collect(pairs, |first, events| referee.batch(first, events))?;
        if self.control.is_stopped() {
            return Ok(Judged::of_nothing(pairs.len()));
        }
        let mut judged = Judged::default();
        for (pair, verdict) in pairs.iter().zip(referee.verdicts()) {
            match verdict {
                Ok(finding) => judged.races.push(Found::new(finding, &names, |id| events[&id])),
                Err(rejection) => {
                    judged.candidates.push(rejected(*pair, Some(rejection), &names, |id| events[&id]));
                }
            }
        }
        Ok(judged)
    }

    /// Reads the trace once more, up to the last event of any pair, and keeps the events of the pairs. After a stop,
    /// not all of them are there.
    fn collect(
        &self,
        pairs: &[Pair],
        mut look: impl FnMut(EventId, &[Event]),
    ) -> Result<(Names, BTreeMap<EventId, Event>), Error> {
        let mut wanted: Vec<EventId> = pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut wanted = wanted.into_iter().peekable();
        let mut found = BTreeMap::new();
        let mut reading = self.input.open(&self.doing("proves"))?;
        while wanted.peek().is_some() && !self.control.is_stopped() {
            let Some((first, events)) = reading.next()? else { break };
            look(first, events);
            let begin = first.index();
            while let Some(id) = wanted.next_if(|id| id.index() < begin + events.len()) {
                found.insert(id, events[id.index() - begin]);
            }
        }
        if wanted.peek().is_some() && !self.control.is_stopped() {
            return Err(Error::Changed { file: self.input.name().to_string() });
        }
        Ok((reading.into_names(), found))
    }

    /// Has the detector say what it found out at the end, which may be much work, if that is still wanted.
    fn finish(&self, detector: &mut dyn Detector, reports: &mut Reports) {
        if !self.control.is_stopped() && !reports.is_over_full() {
            detector.finish(reports);
        }
    }

    /// Shows the events one batch after the other until everything is to stop.
    fn for_each_batch(&self, trace: &Trace, mut look: impl FnMut(EventId, &[Event])) {
        for (number, events) in trace.events().chunks(BATCH).enumerate() {
            if self.control.is_stopped() {
                return;
            }
            if let Some(first) = EventId::from_index(number * BATCH) {
                look(first, events);
            }
        }
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
    let reason = rejection.map_or(Reason::NoSchedule, Reason::Rejected);
    Candidate::new(pair, reason, names, event)
}
