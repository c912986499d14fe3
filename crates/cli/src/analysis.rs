//! Analyses as the command line asks for them: the engine's, with the memory that they took and the sources around what
//! they find.

use foretell_engine::{Analysis, Control, Description, Input, Plan, report};
use foretell_report::{Answer, Decision, Report, StoryDetail};

use crate::Outcome;
use crate::args::{ReportFormat, WantedArgs};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::memory;
use crate::sources::Sources;

/// An analysis, and the most memory that the process had in use meanwhile, where the system tells.
pub(crate) struct Measured {
    pub(crate) analysis: Analysis,
    peak: Option<u64>,
}

impl Measured {
    /// Has the engine analyse the input.
    pub(crate) fn new(input: &Input<'_>, plan: &Plan, control: &dyn Control) -> Result<Measured, Failure> {
        memory::reset_peak();
        let analysis = foretell_engine::analyse(input, plan, control)?;
        Ok(Measured { analysis, peak: memory::peak() })
    }

    /// The report of it with all that makes it readable. Places are looked up as the file knows them.
    pub(crate) fn report(
        self,
        input: &Input<'_>,
        how: &Description<'_>,
        file: &TraceFile,
        control: &dyn Control,
    ) -> Result<Report, Failure> {
        let mut report = report(input, self.analysis, how, &mut Sources::new(file), control)?;
        report.stats.peak_memory_bytes = self.peak;
        Ok(report)
    }

    /// The report of it without that.
    pub(crate) fn into_report(self) -> Report {
        let mut report = Report::from(self.analysis);
        report.stats.peak_memory_bytes = self.peak;
        report
    }
}

impl WantedArgs {
    /// How a report is described.
    pub(crate) fn description<'a>(&self) -> Description<'a> {
        let (detail, pictures) = (self.story_detail(), self.report.wants(ReportFormat::Html));
        Description { detail, pictures, ..Description::default() }
    }

    /// How much of a story is wanted.
    pub(crate) fn story_detail(&self) -> StoryDetail {
        let is_for_people = self.report.wants(ReportFormat::Text);
        if is_for_people && self.report.witness == usize::MAX {
            StoryDetail::All
        } else {
            StoryDetail::Essence
        }
    }
}

/// What the report means for the exit code.
pub(crate) fn outcome(report: &Report) -> Outcome {
    if !(report.races.is_empty() && report.deadlocks.is_empty() && report.violations.is_empty()) {
        Outcome::Race
    } else if report.trace.cut_short {
        Outcome::Incomplete
    } else if report.is_open() {
        Outcome::Undecided
    } else {
        Outcome::Clean
    }
}

/// What the decision means for the exit code.
pub(crate) fn outcome_of_decision(decision: &Decision) -> Outcome {
    match decision.verdict {
        Answer::Race => Outcome::Race,
        Answer::NoRace => Outcome::Clean,
        Answer::NotInWindow | Answer::Undecided => Outcome::Undecided,
    }
}
