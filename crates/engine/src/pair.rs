//! One pair alone: can these two accesses race, and why (not)?

use std::cell::Cell;
use std::time::{Duration, Instant};

use foretell_detect::Pair;
use foretell_predict::{Budget, Certifier, Technique, Verdict};
use foretell_report::{Answer, Decision, DecisionStats, RacingAccess, TraceInfo};
use foretell_trace::Trace;
use foretell_trace::format::text::op_text;

use crate::control::Control;
use crate::error::Error;
use crate::exact::Exact;
use crate::input::Input;
use crate::plan::{Choice, Plan};

/// So long reasons are looked for that only a search finds.
const REASONS: Duration = Duration::from_secs(10);

/// Has the technique of the plan decide the pair with these numbers.
pub fn decide(
    input: &Input<'_>,
    numbers: (u32, u32),
    plan: &Plan,
    control: &dyn Control,
) -> Result<Decision, Error> {
    Decider::new(input, plan, control)?.decide(numbers)
}

/// Decides pairs of one trace, one after the other.
pub struct Decider<'a> {
    file: String,
    trace: &'a Trace,
    plan: &'a Plan,
    exact: Exact<'a>,
    /// When the work began that the next decision takes.
    begin: Cell<Instant>,
}

impl<'a> Decider<'a> {
    /// A decider for the technique of the plan; of `auto`, for the last and strongest.
    pub fn new(input: &'a Input<'_>, plan: &'a Plan, control: &'a dyn Control) -> Result<Decider<'a>, Error> {
        let begin = Instant::now();
        let technique = technique(plan.choice)?;
        let loaded = input.load_within(&format!("{} reads", technique.name()), plan.memory, control)?;
        let trace = loaded.map_err(|room| {
            Error::Plan(format!(
                "the trace does not fit into memory, which has room for {room} events; raise --memory"
            ))
        })?;
        let exact = Exact::new(trace, technique, plan, control)?;
        Ok(Decider { file: input.name().to_string(), trace, plan, exact, begin: Cell::new(begin) })
    }

    /// The word on the pair with these numbers.
    pub fn decide(&self, numbers: (u32, u32)) -> Result<Decision, Error> {
        let (trace, exact) = (self.trace, &self.exact);
        let pair = find(trace, numbers).map_err(Error::Plan)?;
        let mut decision = Decision {
            tool: "foretell".to_string(),
            technique: self.plan.choice.name().to_string(),
            trace: TraceInfo::of(trace, &self.file),
            window: self.plan.window,
            first: RacingAccess::new(pair.first, trace.event(pair.first), trace.names()),
            second: RacingAccess::new(pair.second, trace.event(pair.second), trace.names()),
            verdict: Answer::Undecided,
            witness: None,
            story: None,
            reads: None,
            steps: Vec::new(),
            reason: None,
            stats: DecisionStats { seconds: 0.0 },
        };
        match exact.explain(pair) {
            Verdict::Reached(witness) => match exact.check(&mut exact.referee(), pair, witness) {
                Ok(race) => {
                    decision.verdict = Answer::Race;
                    decision.witness =
                        race.witness().map(|events| events.iter().map(|id| id.number()).collect());
                }
                Err(reason) => decision.reason = Some(reason.to_string()),
            },
            Verdict::Unreachable(refutation) => {
                decision.verdict = Answer::NoRace;
                decision.steps = refutation.steps;
                if decision.steps.is_empty() {
                    decision.steps = self.reasons(pair);
                }
            }
            Verdict::NotInWindow => decision.verdict = Answer::NotInWindow,
            Verdict::Undecided(limit) => decision.reason = Some(limit.to_string()),
        }
        decision.stats.seconds = self.begin.replace(Instant::now()).elapsed().as_secs_f64();
        Ok(decision)
    }
}

impl Decider<'_> {
    /// Why the two cannot race, where only a search finds that out: what its certificate is made of.
    fn reasons(&self, pair: Pair) -> Vec<String> {
        let certifier = Certifier::new(self.trace, self.exact.technique());
        // It was refuted already, and what follows is to be read by people.
        let per_pair = self.plan.budget.min(REASONS);
        let budget = Budget { per_pair, stop: self.exact.stop_flag() };
        certifier.and_then(|certifier| certifier.explain(pair, &budget)).unwrap_or_default()
    }
}

/// The technique that is asked: of `auto`, the last and strongest.
fn technique(choice: Choice) -> Result<Technique, Error> {
    let strongest = choice.stages().into_iter().rfind(|technique| technique.decides_pairs());
    strongest.ok_or_else(|| {
        let deciding = Technique::ALL.into_iter().filter(|technique| technique.decides_pairs());
        let names: Vec<_> = deciding.map(Technique::name).collect();
        Error::Plan(format!(
            "{} does not decide pairs one by one; with --pair use one of {}",
            choice.name(),
            names.join(", ")
        ))
    })
}

/// The pair of these numbers, or why it is none.
pub fn find(trace: &Trace, (first, second): (u32, u32)) -> Result<Pair, String> {
    let id = |number| {
        trace
            .id(number)
            .ok_or_else(|| format!("there is no event {number}: the trace has {}", trace.events().len()))
    };
    let pair = Pair { first: id(first)?, second: id(second)? };
    let (a, b) = (trace.event(pair.first), trace.event(pair.second));
    let names = trace.names();
    let both =
        format!("event {first} is {} and event {second} is {}", op_text(a.op, names), op_text(b.op, names));
    if a.thread == b.thread {
        let thread = names.threads.name(a.thread);
        return Err(format!("events {first} and {second} are both of thread {thread}: they cannot race"));
    }
    match (a.op.access(), b.op.access()) {
        (Some(one), Some(other)) if one.conflicts_with(other) => {}
        _ => {
            return Err(format!(
                "{both}: only two accesses to one variable race, of which one writes and not both are atomic"
            ));
        }
    }
    if let Some(event) = [(first, a), (second, b)].iter().find(|(_, event)| event.unexplained) {
        return Err(format!(
            "event {} saw a value that no recorded write explains: it is a fence and races with nothing",
            event.0
        ));
    }
    Ok(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pair_is_explained() {
        let text = "A|w(x)|1\nB|r(x)|2\nA|r(x)|3\nB|w(y)|4\nA|acq(l)|5\n";
        let trace = foretell_testkit::trace(text);
        assert!(find(&trace, (1, 2)).is_ok());
        for (numbers, why) in [
            ((1, 9), "there is no event 9"),
            ((1, 3), "both of thread A"),
            ((2, 3), "event 2 is r(x) and event 3 is r(x)"),
            ((1, 4), "only two accesses to one variable"),
            ((4, 5), "event 5 is acq(l)"),
        ] {
            let said = find(&trace, numbers).expect_err("no pair");
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn what_only_a_search_refutes_has_its_reasons() {
        let trace = foretell_testkit::trace("A|w(x)|1\nA|v(s)|2\nB|p(s)|3\nB|r(x)|4\n");
        let input = Input::of_trace("handed over", &trace);
        for technique in [Technique::Rf, Technique::Mcm, Technique::Rv, Technique::RvNre] {
            let plan = Plan { choice: Choice::One(technique), ..Plan::default() };
            let decision = decide(&input, (1, 4), &plan, &crate::Unattended::new()).expect("a decision");
            assert_eq!(decision.verdict, Answer::NoRace);
            let [permit, end] = &decision.steps[..] else { panic!("{:?}", decision.steps) };
            assert!(permit.starts_with("event 3 (B takes a permit of s at 3) needs a permit"), "{permit}");
            assert!(end.contains("contradiction"), "{end}");
        }
    }
}
