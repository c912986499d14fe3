//! `foretell explain`: one race of a report at length, or why a pair is none.

mod lines;
mod load;
mod recording;

pub(crate) use load::{load, read};

use foretell_detect::Pairs;
use foretell_engine::describe::{describe_decision, describe_race, observed};
use foretell_engine::pair::Decider;
use foretell_engine::{Choice, Excerpts as _, Find, Input, Plan};
use foretell_predict::Technique;
use foretell_report::explain_text::{self, Beside, Checked};
use foretell_report::text::Detail;
use foretell_report::{Answer, Candidate, Decision, Observed, Race, RacingAccess, Report, StoryDetail};
use foretell_trace::Trace;

use crate::args::{Asked, ExplainArgs, Steps};
use crate::error::Failure;
use crate::input::TraceFile;
use crate::shell::quoted_file;
use crate::sources::Sources;
use crate::stop::Watch;
use crate::{Outcome, output, screen, stop};

/// So many pairs of two lines are decided.
const DECIDED: usize = 100;

pub(crate) fn run(args: &ExplainArgs) -> Result<Outcome, Failure> {
    stop::listen()?;
    args.output.as_deref().map_or(Ok(()), output::check)?;
    let report = load::load(&args.file, args.report)?;
    let file = TraceFile::new(&recording::path(&report, args), &args.input);
    let trace = recording::load(&file, &report, args)?;
    let explanation = Explanation { args, report: &report, file: &file, trace: trace.as_ref() };
    output::write_text(args.output.as_deref(), &explanation.text()?)?;
    Ok(Outcome::Clean)
}

/// What is known of what is to be explained.
struct Explanation<'a> {
    args: &'a ExplainArgs,
    report: &'a Report,
    /// The trace by where it is, and itself; or why it is not here.
    file: &'a TraceFile,
    trace: Result<&'a Trace, &'a String>,
}

impl Explanation<'_> {
    fn text(&self) -> Result<String, Failure> {
        let ExplainArgs { race, candidate, pair, .. } = self.args;
        match (pair, candidate, race) {
            (Some(asked), ..) => self.pair(asked),
            (None, Some(number), _) => self.candidate(*number),
            (None, None, Some(number)) => self.race(*number),
            (None, None, None) if self.report.listed_races().next().is_some() => self.race(1),
            (None, None, None) if !self.report.undecided.is_empty() => self.candidate(1),
            (None, None, None) => Err(Failure::Usage(
                "the report lists neither a race nor an undecided pair; --pair A,B asks about any two events or lines"
                    .to_string(),
            )),
        }
    }

    fn detail(&self) -> Detail {
        let detail = screen::detail(self.args.output.as_deref());
        // `--witness all` lists every step even without a trace.
        Detail { steps: if self.args.witness == Steps::All { usize::MAX } else { detail.steps }, ..detail }
    }

    fn story_detail(&self) -> StoryDetail {
        match self.args.witness {
            Steps::Essence => StoryDetail::Essence,
            Steps::All => StoryDetail::All,
        }
    }

    fn race(&self, number: usize) -> Result<String, Failure> {
        let found = self.report.listed_races().nth(number.saturating_sub(1));
        let mut race =
            found.cloned().ok_or_else(|| no_such("race", number, self.report.listed_races().count()))?;
        let checked = match self.trace {
            Ok(trace) => {
                // A race on a way that the run did not go was described on that way.
                if race.path.is_none() {
                    let input = Input::of_trace(&self.file.name(), trace);
                    let sources = &mut Sources::new(self.file);
                    describe_race(&input, &mut race, self.story_detail(), sources, &Watch::new(self.file))?;
                }
                recording::check(trace, self.file.name(), self.report, &race)
            }
            Err(why) => Checked::Not(why.clone()),
        };
        let mut beside = self.beside([&mut race.first, &mut race.second], &format!("--race {number}"));
        self.note_missing_steps(&race, &mut beside);
        Ok(explain_text::race(self.report, number, &race, &checked, &beside, self.detail()))
    }

    /// All steps can be shown only where the whole trace is there.
    fn note_missing_steps(&self, race: &Race, beside: &mut Beside) {
        if let (Steps::All, Err(why), true) = (self.args.witness, self.trace, race.witness.is_some()) {
            beside.notes.push(format!("not every step can be shown: {why}"));
        }
    }

    fn candidate(&self, number: usize) -> Result<String, Failure> {
        let undecided = &self.report.undecided;
        let found = undecided.get(number.saturating_sub(1));
        let mut open: Candidate =
            found.cloned().ok_or_else(|| no_such("candidate", number, undecided.len()))?;
        let beside = self.beside([&mut open.first, &mut open.second], &format!("--candidate {number}"));
        Ok(explain_text::candidate(self.report, number, &open, &beside, self.detail()))
    }

    fn pair(&self, asked: &Asked) -> Result<String, Failure> {
        let trace = self
            .trace
            .map_err(|why| Failure::Usage(format!("a pair can only be decided with the trace, but {why}")))?;
        let (input, control) = (Input::of_trace(&self.file.name(), trace), Watch::new(self.file));
        let plan = self.plan();
        let decider = Decider::new(&input, &plan, &control)?;
        let (mut decision, notes) = match asked {
            Asked::Events(a, b) => (decider.decide((*a, *b))?, Vec::new()),
            Asked::Lines(one, other) => decide_lines(&decider, trace, one, other)?,
        };
        let sources = &mut Sources::new(self.file);
        describe_decision(&input, &mut decision, self.story_detail(), sources, &control)?;
        let observed = self.observed(trace, &decision);
        let mut beside = self.beside([&mut decision.first, &mut decision.second], "");
        beside.notes.extend(notes);
        Ok(explain_text::decision(&decision, observed, &beside, self.detail()))
    }

    fn observed(&self, trace: &Trace, decision: &Decision) -> Option<Observed> {
        observed(trace, decision).filter(|_| decision.verdict == Answer::Race)
    }

    /// How a pair is decided: as the report did, if its technique decides pairs.
    fn plan(&self) -> Plan {
        let technique = Technique::from_name(&self.report.technique);
        let technique = technique.filter(|technique| technique.decides_pairs()).map(Choice::One);
        Plan {
            choice: self.args.technique.or(technique).unwrap_or(Choice::Auto),
            find: Find::RACES,
            pairs: Pairs::All,
            witness_steps: usize::MAX,
            max_races: usize::MAX,
            window: self.args.window.0,
            budget: self.args.budget,
            time_limit: None,
            untaken_branches: false,
            jobs: 1,
            memory: self.args.memory,
        }
    }

    /// Looks up the lines of the program that the report has not, notes what has changed since, and says how to see
    /// more.
    fn beside(&self, accesses: [&mut RacingAccess; 2], which: &str) -> Beside {
        let written = self.args.file.metadata().and_then(|data| data.modified()).ok();
        let mut sources = Sources::since(written, self.report.program().map(String::from));
        let mut notes = Vec::new();
        let events = accesses.each_ref().map(|access| access.event);
        for access in accesses {
            let now = sources.excerpt(&access.location);
            match (&access.excerpt, now) {
                (Some(then), Some(now)) if then.lines.is_empty() && !now.lines.is_empty() => {
                    access.excerpt = Some(now);
                }
                (Some(then), Some(now)) if !now.lines.is_empty() && then.lines != now.lines => {
                    let place = &access.location;
                    notes.push(format!(
                        "the source around {place} has changed since the report was written; shown is what it was then"
                    ));
                }
                (None, now) => access.excerpt = now,
                _ => {}
            }
        }
        notes.dedup();
        Beside { notes, commands: self.commands(events, which) }
    }

    fn commands(&self, [first, second]: [u32; 2], which: &str) -> Vec<(String, String)> {
        let file = quoted_file(&self.args.file.display().to_string());
        let report = self.args.report.map_or(String::new(), |number| format!(" --report {number}"));
        let trace = self.args.trace.as_ref();
        let trace = trace
            .map_or(String::new(), |path| format!(" --trace {}", quoted_file(&path.display().to_string())));
        let explain = format!("foretell explain {file}{report}{trace}");
        let mut commands = Vec::new();
        let mut command = |text: String, purpose: &str| commands.push((text, purpose.to_string()));
        if which.starts_with("--race") && self.args.witness == Steps::Essence {
            command(format!("{explain} {which} --witness all"), "every step of the schedule");
        }
        if which.starts_with("--candidate") {
            command(format!("{explain} --pair {first},{second} --budget 10m"), "decides just this pair");
        }
        if self.trace.is_ok() {
            let name = quoted_file(&self.file.name());
            let from = first.saturating_sub(5).max(1);
            if which.starts_with("--race") {
                command(
                    format!("foretell predict --pair {first},{second} {name}"),
                    "finds a schedule for just this pair",
                );
            }
            command(
                format!("foretell trace view --from {from} {name}"),
                "the recorded run around the first access",
            );
        }
        commands
    }
}

/// The nearest pair of two lines that races, or else the nearest one; and what is to be said of the others.
fn decide_lines(
    decider: &Decider<'_>,
    trace: &Trace,
    one: &str,
    other: &str,
) -> Result<(Decision, Vec<String>), Failure> {
    let pairs = lines::pairs(trace, one, other).map_err(Failure::Usage)?;
    let (mut first, mut refuted, mut looked_at) = (None, 0, 0);
    for &numbers in pairs.nearest.iter().take(DECIDED) {
        if stop::is_requested() {
            break;
        }
        looked_at += 1;
        let decision = decider.decide(numbers)?;
        match decision.verdict {
            Answer::Race => {
                let note = format!("of the accesses at {one} and {other}, this pair races");
                return Ok((decision, vec![note]));
            }
            Answer::NoRace => refuted += 1,
            Answer::NotInWindow | Answer::Undecided => {}
        }
        // A pair that stays open says more about the lines than one that is refuted.
        let is_open = |decision: &Decision| decision.verdict != Answer::NoRace;
        if first.as_ref().is_none_or(|first| !is_open(first) && is_open(&decision)) {
            first = Some(decision);
        }
    }
    let Some(decision) = first else {
        return Err(Failure::Usage("stopped before any pair was decided".to_string()));
    };
    let others =
        if pairs.are_all && looked_at == pairs.nearest.len() { "these are all" } else { "there are more" };
    let pairs_were =
        if looked_at == 1 { "1 pair was".to_string() } else { format!("{looked_at} pairs were") };
    let note = format!(
        "of the accesses at {one} and {other}, {pairs_were} examined, the nearest first ({others}): \
         {refuted} cannot race, {} not decided; this is one of them",
        looked_at - refuted
    );
    Ok((decision, vec![note]))
}

pub(crate) fn no_such(what: &str, number: usize, there: usize) -> Failure {
    Failure::Usage(match there {
        0 => format!("the report has no {what}"),
        1 => format!("there is no {what} {number}: the report has one {what}"),
        there => format!("there is no {what} {number}: the report has {there}, counted from 1"),
    })
}
