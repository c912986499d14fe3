//! Slices: only what matters to a property is looked at. What is found is reported in the numbers of the whole trace.

use foretell_depend::Flow;
use foretell_depend::slice::{Property, Rule, Slice, slice};
use foretell_predict::Technique;
use foretell_report::{ClosureReport, Decision, RacingAccess, Report, SliceInfo};
use foretell_trace::{EventId, Trace, TraceError};

use crate::error::Error;
use crate::plan::{Choice, Find, Plan};

/// A part of a trace, as a trace of its own.
pub struct Sliced {
    slice: Slice,
    info: SliceInfo,
    /// The part.
    pub trace: Trace,
}

impl Sliced {
    /// The events of the trace that matter to the property, which is called `name`.
    pub fn new(
        trace: &Trace,
        flow: Option<&Flow>,
        name: String,
        property: &Property,
        rule: Rule,
    ) -> Result<Sliced, TraceError> {
        let slice = slice(trace, flow, property, rule);
        let sliced = slice.trace(trace)?;
        let info = SliceInfo {
            property: name,
            sound: rule == Rule::Sound,
            events: slice.events().len(),
            of: trace.events().len(),
        };
        Ok(Sliced { slice, info, trace: sliced })
    }

    /// The number that an event of the whole trace has in the slice.
    pub fn sliced(&self, original: u32) -> Option<u32> {
        self.slice.sliced(EventId::from_number(original)?).map(EventId::number)
    }

    fn original(&self, number: u32) -> u32 {
        let original = EventId::from_number(number).and_then(|event| self.slice.original(event));
        // Findings in the slice consist of its events.
        original.map_or(number, EventId::number)
    }

    fn renumber(&self, numbers: &mut [u32]) {
        for number in numbers {
            *number = self.original(*number);
        }
    }

    fn renumber_accesses(&self, accesses: [&mut RacingAccess; 2]) {
        for access in accesses {
            access.event = self.original(access.event);
        }
    }

    /// Makes the report one of the whole trace.
    pub(crate) fn enter(&self, report: &mut Report) {
        report.trace.slice = Some(self.info.clone());
        for race in &mut report.races {
            self.renumber_accesses([&mut race.first, &mut race.second]);
            self.renumber(race.witness.as_deref_mut().unwrap_or_default());
        }
        for candidate in &mut report.undecided {
            self.renumber_accesses([&mut candidate.first, &mut candidate.second]);
        }
    }

    /// Makes the decision one of the whole trace. Why there is no race is said in numbers of the slice, so it is left
    /// out.
    pub fn enter_decision(&self, decision: &mut Decision) {
        decision.trace.slice = Some(self.info.clone());
        self.renumber_accesses([&mut decision.first, &mut decision.second]);
        self.renumber(decision.witness.as_deref_mut().unwrap_or_default());
        decision.steps.clear();
    }

    /// Makes the exploration one of the whole trace.
    pub fn enter_closure(&self, report: &mut ClosureReport) {
        report.trace.slice = Some(self.info.clone());
        report.complete &= self.info.sound;
        for found in &mut report.races {
            self.renumber_accesses([&mut found.race.first, &mut found.race.second]);
            self.renumber(found.race.witness.as_deref_mut().unwrap_or_default());
            self.renumber(&mut found.strays);
        }
        for property in &mut report.properties {
            self.renumber(property.schedule.as_deref_mut().unwrap_or_default());
            self.renumber(&mut property.strays);
        }
    }
}

/// The plan for a slice. What is dropped may have synchronised and decided, so only schedules in which all reads of the
/// slice see the same value prove anything: `auto` is the strongest technique that makes these.
pub fn plan(plan: Plan) -> Result<Plan, Error> {
    const GOOD: [Technique; 4] = [Technique::M2, Technique::Rf, Technique::Said, Technique::Mcm];
    // Nor is it known which locks are left out.
    let plan = Plan { find: Find::RACES, ..plan };
    match plan.choice {
        Choice::Auto => Ok(Plan { choice: Choice::One(Technique::Mcm), ..plan }),
        Choice::One(technique) if GOOD.contains(&technique) => Ok(plan),
        Choice::One(technique) => Err(Error::Plan(format!(
            "{} proves nothing on a slice; with --slice use one of {}, or auto",
            technique.name(),
            GOOD.map(Technique::name).join(", ")
        ))),
    }
}
