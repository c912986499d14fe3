//! `foretell compare`: techniques side by side.

use foretell_engine::{Choice, Input};
use foretell_predict::{Guarantee, Technique, quick_check};
use foretell_report::table::{self, Column};
use foretell_report::{Counts, Report, TraceInfo, json};

use crate::Outcome;
use crate::analysis::Measured;
use crate::args::{CompareArgs, MaxRaces, OutputFormat};
use crate::error::{Failure, Failures};
use crate::input::TraceFile;
use crate::stop::{TimeLimit, Watch};
use crate::{output, stop};

/// The techniques of Table 1 of RVPredict's paper, as they are called there.
const PAPER: [(&str, Technique); 4] =
    [("RV", Technique::Rv), ("Said", Technique::Said), ("CP", Technique::Cp), ("HB", Technique::Hb)];

/// The exit code tells whether the comparison was made, not what was found.
pub(crate) fn run(args: &CompareArgs) -> Result<Outcome, Failure> {
    TraceFile::refuse_repeated_stdin(&args.traces)?;
    stop::listen()?;
    args.output.as_deref().map_or(Ok(()), output::check)?;
    let (columns, choices) = columns(&args.technique);
    let mut rows = Vec::new();
    let mut failures = Failures::default();
    for path in &args.traces {
        let file = TraceFile::new(path, &args.input).following(args.search.dependence);
        rows.extend(failures.keep(row(&file, &choices, args)));
    }
    let cut_short = rows.iter().flatten().any(|report| report.trace.cut_short);
    let rendered = match args.format {
        OutputFormat::Json => json::render(&rows.concat()).map_err(Failure::rendering)?,
        OutputFormat::Text => table::render(&columns, &rows),
    };
    if !rows.is_empty() {
        match args.format {
            OutputFormat::Json => output::write(args.output.as_deref(), &rendered)?,
            OutputFormat::Text => output::write_text(args.output.as_deref(), &rendered)?,
        }
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
fn row(file: &TraceFile, choices: &[Choice], args: &CompareArgs) -> Result<Vec<Report>, Failure> {
    let shared = Input::of_source(file);
    if file.comes_once() {
        shared.load("reads", &Watch::new(file))?;
    }
    let figures = figures(file, &shared, args)?;
    let mut reports = Vec::new();
    for &choice in choices {
        // Each technique reads the trace itself, so that times can be compared.
        let own = Input::of_source(file);
        let input = if file.comes_once() { &shared } else { &own };
        let plan = args.search.plan(choice, 0, MaxRaces::DEFAULT);
        let limit = TimeLimit::start(plan.time_limit)?;
        let mut report = Measured::new(input, &plan, &Watch::new(file).within(&limit))?.into_report();
        report.trace.counts = figures.counts;
        report.trace.quick_check = figures.quick_check;
        report.trace.quick_check_is_partial = figures.quick_check_is_partial;
        reports.push(report);
    }
    Ok(reports)
}

/// What the trace is made of; and how many pairs pass the quick check, if the trace fits into memory.
fn figures(file: &TraceFile, shared: &Input<'_>, args: &CompareArgs) -> Result<TraceInfo, Failure> {
    let own = Input::of_source(file);
    let input = if file.comes_once() { shared } else { &own };
    let mut info = TraceInfo::default();
    let mut counts = Counts::default();
    if let Ok(trace) = input.load_within("counts", args.search.memory, &Watch::new(file))? {
        trace.events().iter().for_each(|event| counts.add(event));
        let quick = quick_check(trace, args.search.pairs.into());
        (info.quick_check, info.quick_check_is_partial) = (Some(quick.number), quick.at_least);
    } else {
        let mut reading = file.open("counts")?;
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
