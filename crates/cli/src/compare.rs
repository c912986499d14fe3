//! `foretell compare`: techniques side by side.

use foretell_predict::{Guarantee, Technique, quick_check};
use foretell_report::table::{self, Column};
use foretell_report::{Counts, Report, TraceInfo, json};
use foretell_trace::Trace;

use crate::Outcome;
use crate::analysis::analyse;
use crate::analysis::held::Held;
use crate::args::{Choice, CompareArgs, MaxRaces, OutputFormat};
use crate::error::{Failure, Failures};
use crate::input::Input;
use crate::stop::TimeLimit;
use crate::{output, stop};

/// The techniques of Table 1 of RVPredict's paper, as they are called there.
const PAPER: [(&str, Technique); 4] =
    [("RV", Technique::Rv), ("Said", Technique::Said), ("CP", Technique::Cp), ("HB", Technique::Hb)];

/// The exit code tells whether the comparison was made, not what was found.
pub(crate) fn run(args: &CompareArgs) -> Result<Outcome, Failure> {
    Input::refuse_repeated_stdin(&args.traces)?;
    stop::listen()?;
    let (columns, choices) = columns(&args.technique);
    let mut rows = Vec::new();
    let mut failures = Failures::default();
    for path in &args.traces {
        let input = Input::new(path, &args.input).following(args.search.dependence);
        rows.extend(failures.keep(row(&input, &choices, args)));
    }
    let cut_short = rows.iter().flatten().any(|report| report.trace.cut_short);
    let rendered = match args.format {
        OutputFormat::Json => json::render(&rows.concat()).map_err(Failure::rendering)?,
        OutputFormat::Text => table::render(&columns, &rows),
    };
    if !rows.is_empty() {
        output::write(args.output.as_deref(), &rendered)?;
    }
    failures.into_result()?;
    Ok(if cut_short { Outcome::Incomplete } else { Outcome::Clean })
}

fn columns(chosen: &[Choice]) -> (Vec<Column>, Vec<Choice>) {
    let techniques: Vec<(&str, Choice)> = match chosen {
        [] => PAPER.iter().map(|&(title, technique)| (title, Choice::One(technique))).collect(),
        chosen => chosen.iter().map(|choice| (choice.name(), *choice)).collect(),
    };
    let column = |&(title, choice): &(&str, Choice)| {
        let proves = |technique: &Technique| technique.guarantee() == Guarantee::EveryReport;
        Column { title: title.to_string(), candidates: !choice.stages().iter().all(proves) }
    };
    let columns = techniques.iter().map(column).collect();
    (columns, techniques.into_iter().map(|(_, choice)| choice).collect())
}

/// The report of each technique on one trace.
fn row(input: &Input, choices: &[Choice], args: &CompareArgs) -> Result<Vec<Report>, Failure> {
    let stored = if input.comes_once() { Some(input.load("reads")?) } else { None };
    let figures = figures(input, stored.as_ref(), args)?;
    let mut reports = Vec::new();
    for &choice in choices {
        // Each technique reads the trace itself, so that times can be compared.
        let plan = args.search.plan(choice, 0, MaxRaces::DEFAULT);
        let limit = TimeLimit::start(plan.time_limit)?;
        let mut report = analyse(&Held::new(input, stored.as_ref()), &plan, &limit)?;
        report.trace.counts = figures.counts;
        report.trace.quick_check = figures.quick_check;
        report.trace.quick_check_is_partial = figures.quick_check_is_partial;
        reports.push(report);
    }
    Ok(reports)
}

/// What the trace is made of; and how many pairs pass the quick check, if the trace fits into memory.
fn figures(input: &Input, stored: Option<&Trace>, args: &CompareArgs) -> Result<TraceInfo, Failure> {
    let held = Held::new(input, stored);
    let mut info = TraceInfo::default();
    let mut counts = Counts::default();
    if let Ok(trace) = held.load_within("counts", args.search.memory)? {
        trace.events().iter().for_each(|event| counts.add(event));
        let quick = quick_check(trace, args.search.pairs.into());
        (info.quick_check, info.quick_check_is_partial) = (Some(quick.number), quick.at_least);
    } else {
        let mut reading = input.open("counts")?;
        while let Some((_, events)) = reading.next()? {
            events.iter().for_each(|event| counts.add(event));
            if stop::is_requested() {
                break;
            }
        }
    }
    info.counts = Some(counts);
    Ok(info)
}
