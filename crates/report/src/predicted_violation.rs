//! Violations that are predicted: what a thread comes to in another schedule, though it must not.

use foretell_trace::{EventId, Model, Trace};
use foretell_witness::{ProvenViolation, Violation};
use serde::{Deserialize, Serialize};

use crate::confirmation::Confirmation;
use crate::confirmation_text;
use crate::page::{Ink, Page, Text};
use crate::race_text::{FRAMES, LINES_AROUND, verb, write_access};
use crate::report::RacingAccess;
use crate::text::count;
use crate::visible::visible;

/// What must not be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViolationKind {
    /// Memory is used that has been given back.
    #[default]
    UseAfterFree,
}

impl ViolationKind {
    /// What people call it.
    pub fn words(self) -> &'static str {
        match self {
            ViolationKind::UseAfterFree => "use after free",
        }
    }

    /// What programs call it.
    pub fn id(self) -> &'static str {
        match self {
            ViolationKind::UseAfterFree => "use-after-free",
        }
    }
}

/// A violation that the referee has accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PredictedViolation {
    /// What must not be.
    pub kind: ViolationKind,
    /// What has happened before: the free.
    pub first: RacingAccess,
    /// What the other thread then comes to: the use.
    pub second: RacingAccess,
    /// How far the witness may deviate from the recorded run.
    #[serde(default, with = "crate::model_name", skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The events of the prefix in their new order, and then the second of the two. Absent where the witnesses of all
    /// that was found together would be too long to print.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<Vec<u32>>,
    /// How many events the witness has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness_length: Option<usize>,
    /// The witness as a schedule that the program itself can follow, see docs/schedule.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Whether the program itself was driven there, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// What it is known by from run to run; see [`crate::fingerprint`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl PredictedViolation {
    /// The violation of the trace, without what is around its events.
    pub fn new(finding: &ProvenViolation, trace: &Trace) -> PredictedViolation {
        let access = |id: EventId| RacingAccess::new(id, trace.event(id), trace.names());
        let Violation::UseAfterFree { used, freed } = finding.violation();
        let witness: Vec<u32> = finding.schedule().iter().map(|id| id.number()).collect();
        PredictedViolation {
            kind: ViolationKind::UseAfterFree,
            first: access(freed),
            second: access(used),
            model: Some(finding.model()),
            witness_length: Some(witness.len()),
            witness: Some(witness),
            schedule: None,
            confirmation: None,
            fingerprint: None,
        }
    }

    /// What it is, in a sentence.
    pub(crate) fn title(&self) -> String {
        let one =
            |access: &RacingAccess| format!("{} {} it", visible(&access.thread_words()), verb(access).0);
        format!("{} after {}", one(&self.second), one(&self.first))
    }

    /// The same with the places, in a line.
    pub(crate) fn words(&self) -> String {
        let one = |access: &RacingAccess| {
            format!("{} {} it at {}", visible(&access.thread), verb(access).0, visible(&access.location))
        };
        let target = visible(&self.second.target);
        format!("{}: {target}: {} after {}", self.kind.words(), one(&self.second), one(&self.first))
    }
}

/// Writes the violation with its number.
pub(crate) fn write(page: &mut Page, number: usize, violation: &PredictedViolation) {
    page.blank();
    let target = visible(&violation.second.target);
    let title = Text::new()
        .ink(Ink::Race, format!("{} {number}: {target}", violation.kind.words()))
        .add(" · ")
        .ink(Ink::Sure, "proven")
        .add(format!(": {}", violation.title()));
    page.wrapped(0, 2, title);
    for access in [&violation.first, &violation.second] {
        write_access(page, access, LINES_AROUND, FRAMES);
    }
    if let Some(length) = violation.witness_length {
        let steps = count(length.saturating_sub(1), "step");
        page.wrapped(2, 4, format!("a schedule of {steps} leads there (--format json has it)"));
    }
    if let Some(confirmation) = &violation.confirmation {
        page.wrapped(2, 4, confirmation_text::words(confirmation));
    }
}
