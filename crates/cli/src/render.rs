//! In which formats a report is written, and where each of them goes.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Instant;

use foretell_report::sink::Sink;
use foretell_report::text::Detail;
use foretell_report::{Decision, Report, asked_page, brief, html, json, junit, sarif, schema, text};

use crate::args::{ReportArgs, ReportFormat, SchemaArgs, WantedArgs};
use crate::error::{Failure, Failures};
use crate::stop::TimeLimit;
use crate::{Outcome, memory, output, screen, stop};

/// One form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Target<'a> {
    /// The form.
    pub(crate) format: ReportFormat,
    /// Where it goes; to standard output unless given.
    path: Option<&'a Path>,
}

impl Target<'_> {
    fn is_screen(&self) -> bool {
        self.path.is_none_or(|path| path == Path::new("-"))
    }

    fn name(&self) -> String {
        self.path.map_or_else(|| "standard output".to_string(), |path| path.display().to_string())
    }
}

impl ReportArgs {
    /// All forms that are wanted.
    pub(crate) fn targets(&self) -> Vec<Target<'_>> {
        if self.output.is_empty() {
            return vec![Target { format: self.format.unwrap_or(ReportFormat::Text), path: None }];
        }
        let target = |path| {
            let format = self.format.or_else(|| ReportFormat::of_name(path)).unwrap_or(ReportFormat::Text);
            Target { format, path: Some(path) }
        };
        self.output.iter().map(|path| target(path.as_path())).collect()
    }

    /// Whether all files can be written, to be asked before anything is recorded or analysed.
    pub(crate) fn check_outputs(&self) -> Result<(), Failure> {
        for (index, path) in self.output.iter().enumerate() {
            let name = path.display();
            if self.output.iter().take(index).any(|earlier| earlier == path) {
                return Err(Failure::Usage(format!("--output {name} is given twice")));
            }
            if self.format.is_none() && ReportFormat::of_name(path).is_none() {
                return Err(Failure::Usage(format!(
                    "unknown format: the name {name} does not end in .txt, .json, .html, .sarif or .xml; --format \
                     sets the format of any file"
                )));
            }
            output::check(path)?;
        }
        Ok(())
    }

    /// Whether the report is written in this format.
    pub(crate) fn wants(&self, format: ReportFormat) -> bool {
        self.targets().iter().any(|target| target.format == format)
    }
}

impl WantedArgs {
    /// Refuses `--slice` where no single trace is there to be sliced.
    pub(crate) fn refuse_slice(&self) -> Result<(), Failure> {
        match self.slice {
            Some(_) => Err(Failure::Usage(
                "--slice works on traces and single runs of .cimp programs only; save a trace with `foretell run \
                 --trace FILE`, then use `foretell predict --slice`"
                    .to_string(),
            )),
            None => Ok(()),
        }
    }
}

impl ReportFormat {
    /// The form that the ending of a file's name tells; a name without one is that of a text.
    fn of_name(path: &Path) -> Option<ReportFormat> {
        let Some(ending) = path.extension() else { return Some(ReportFormat::Text) };
        let is_sarif =
            || path.file_stem().is_some_and(|stem| Path::new(stem).extension() == Some("sarif".as_ref()));
        match ending.to_str()?.to_ascii_lowercase().as_str() {
            "html" | "htm" => Some(ReportFormat::Html),
            "sarif" => Some(ReportFormat::Sarif),
            "json" if is_sarif() => Some(ReportFormat::Sarif),
            "json" => Some(ReportFormat::Json),
            "xml" => Some(ReportFormat::Junit),
            "txt" | "text" | "log" => Some(ReportFormat::Text),
            _ => None,
        }
    }
}

/// Writes the reports in all forms that are wanted. That there are none is worth writing to programs alone. What cannot
/// be written to its file is not lost: then the text goes to standard output.
pub(crate) fn write_reports(reports: &[Report], wanted: &ReportArgs) -> Result<(), Failure> {
    let targets = wanted.targets();
    let saved = targets.iter().find(|target| target.format == ReportFormat::Json);
    let saved = saved.and_then(|target| target.path).map(|path| path.display().to_string());
    let writing =
        Writing { reports, saved: saved.as_deref(), limit: TimeLimit::rest()?, begin: Instant::now() };
    let (mut failures, mut is_told) = (Failures::default(), false);
    for target in targets {
        let is_for_people = matches!(target.format, ReportFormat::Text | ReportFormat::Html);
        if reports.is_empty() && is_for_people {
            continue;
        }
        is_told |= failures.keep(writing.write(target)).is_some() && target.format == ReportFormat::Text;
    }
    let result = failures.into_result();
    let is_lost = result.as_ref().is_err_and(|failure| !failure.is_closed_pipe()) && !is_told;
    if is_lost && !reports.is_empty() && !wanted.output.is_empty() {
        writing.write(Target { format: ReportFormat::Text, path: None })?;
    }
    result
}

/// Reports that are being written.
struct Writing<'a> {
    reports: &'a [Report],
    /// The JSON report, if one is written.
    saved: Option<&'a str>,
    limit: TimeLimit,
    begin: Instant,
}

impl Writing<'_> {
    /// Writes the reports in this form; in little, where there is no time for all of it.
    fn write(&self, target: Target<'_>) -> Result<(), Failure> {
        let may_continue = || !stop::is_urgent_since(self.begin);
        let write = |reports: &[Report], may_continue: &dyn Fn() -> bool| {
            output::write_while(target.path, may_continue, |sink| {
                write_report(reports, target, self.saved, may_continue, sink)
            })
        };
        if !write(self.reports, &may_continue)? {
            let why = why(&self.limit);
            let brief: Vec<Report> = self.reports.iter().map(|report| brief(report, &why)).collect();
            write(&brief, &|| true)?;
            output::note(&format!("{}: the report was cut while it was written: {why}", target.name()));
        }
        if let (Some(path), true) = (target.path, target.format != ReportFormat::Text) {
            output::note(&format!("{}: {}", path.display(), text::summary(self.reports)));
        }
        Ok(())
    }
}

/// Why writing was stopped.
fn why(limit: &TimeLimit) -> String {
    if limit.is_over() && !stop::is_interrupted() {
        return "the time limit was reached; --time-limit gives more".to_string();
    }
    memory::note().filter(|_| !stop::is_interrupted()).unwrap_or_else(|| "interrupted".to_string())
}

fn write_report(
    reports: &[Report],
    target: Target<'_>,
    saved: Option<&str>,
    may_continue: &dyn Fn() -> bool,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    match target.format {
        ReportFormat::Text if target.is_screen() && screen::is_ascii() => {
            let detail = screen::detail(target.path);
            let mut text = Vec::new();
            write_text(reports, saved, detail, &mut Sink::new(&mut text, may_continue))?;
            sink.write_all(output::on_screen(&String::from_utf8_lossy(&text)).as_bytes())
        }
        ReportFormat::Text => write_text(reports, saved, screen::detail(target.path), sink),
        ReportFormat::Json => json::write_reports(reports, sink),
        ReportFormat::Html => html::write(reports, sink),
        ReportFormat::Sarif => sarif::write(reports, &current_folder(), sink),
        ReportFormat::Junit => junit::write(reports, sink),
    }
}

/// All reports, and what a reader may do next.
fn write_text(
    reports: &[Report],
    saved: Option<&str>,
    detail: Detail,
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    for (index, report) in reports.iter().enumerate() {
        if index > 0 {
            sink.write_all(b"\n")?;
        }
        text::write(report, detail, sink)?;
    }
    sink.write_all(text::next_step(reports, saved, detail).as_bytes())
}

/// The folder that relative paths start from.
fn current_folder() -> String {
    std::env::current_dir().map_or_else(|_| "/".to_string(), |folder| folder.display().to_string())
}

/// `foretell schema`: prints the form of what is printed as JSON.
pub(crate) fn print_schema(args: &SchemaArgs) -> Result<Outcome, Failure> {
    let text = match &args.kind {
        Some(kind) => schema::of(kind).map_err(|error| Failure::rendering(error.into()))?,
        None => schema::SCHEMA.to_string(),
    };
    output::write(None, &text)?;
    Ok(Outcome::Clean)
}

/// Writes the words on single pairs in all forms that are wanted.
pub(crate) fn write_decisions(decisions: &[Decision], wanted: &ReportArgs) -> Result<(), Failure> {
    for target in wanted.targets() {
        let rendered = match target.format {
            ReportFormat::Json => json::render(decisions).map_err(Failure::rendering)?,
            ReportFormat::Text => {
                let detail = screen::detail(target.path);
                let render = |decision| text::render_decision(decision, detail);
                decisions.iter().map(render).collect::<Vec<_>>().join("\n")
            }
            ReportFormat::Html => asked_page::render(decisions),
            ReportFormat::Sarif | ReportFormat::Junit => {
                return Err(Failure::Usage("--pair supports only --format text, json and html".to_string()));
            }
        };
        match target.format {
            ReportFormat::Text => output::write_text(target.path, &rendered)?,
            _ => output::write(target.path, &rendered)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_form() {
        let format = |name| ReportFormat::of_name(Path::new(name));
        assert_eq!(format("out/report.HTML"), Some(ReportFormat::Html));
        assert_eq!(format("report.sarif"), Some(ReportFormat::Sarif));
        assert_eq!(format("report.sarif.json"), Some(ReportFormat::Sarif));
        assert_eq!(format("report.json"), Some(ReportFormat::Json));
        assert_eq!(format("junit.xml"), Some(ReportFormat::Junit));
        assert_eq!(format("report"), Some(ReportFormat::Text));
        assert_eq!(format("report.pdf"), None);
    }
}
