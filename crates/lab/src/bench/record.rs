//! Figures beside their targets, printed and kept with date, machine and command.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::Command;

use serde_json::Value;

use super::pairs::{Decision, median};
use xtask::process::root;

/// What a figure should be.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    fn is_met(self, figure: f64) -> bool {
        match self {
            Target::AtLeast(floor) => figure >= floor,
            Target::AtMost(ceiling) => figure <= ceiling,
        }
    }
}

/// One figure.
pub(crate) struct Row {
    what: String,
    figure: f64,
    unit: &'static str,
    target: Option<Target>,
    note: String,
}

impl Row {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    pub(crate) fn speed(what: String, events: usize, seconds: f64, target: Option<Target>) -> Row {
        let note = format!("{:.1} ns/event", 1e9 * seconds / events as f64);
        Row { what, figure: events as f64 / seconds / 1e6, unit: "M events per CPU second", target, note }
    }

    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    pub(crate) fn size(what: String, bytes: u64, events: usize, target: Option<Target>) -> Row {
        Row {
            what,
            figure: bytes as f64 / events as f64,
            unit: "bytes an event",
            target,
            note: String::new(),
        }
    }

    pub(crate) fn seconds(what: String, seconds: f64, report: &Value, target: Option<Target>) -> Row {
        let count = |list: &str| report[list].as_array().map_or(0, Vec::len);
        let memory = report["stats"]["peak_memory_bytes"].as_u64().unwrap_or(0) >> 20;
        let note = format!("{} races, {} candidates, {memory} MiB", count("races"), count("undecided"));
        Row { what, figure: seconds, unit: "CPU seconds", target, note }
    }

    pub(crate) fn ratio(what: String, figure: f64, base: f64, target: Target) -> Row {
        Row::counts(what, figure, base, Some(target))
    }

    /// The mean over all pairs that were decided or given up; `wanted` is how many there should have been.
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    pub(crate) fn decisions(
        what: String,
        decisions: &[Decision],
        wanted: usize,
        target: Option<Target>,
    ) -> Row {
        let mut times: Vec<f64> = decisions.iter().map(|decision| 1e3 * decision.cpu.as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let at = |place: usize| times.get(place).copied().unwrap_or(f64::NAN);
        let count = |answer| decisions.iter().filter(|decision| decision.race == answer).count();
        let note = format!(
            "median {:.2}, largest {:.2}; {} races, {} not, {} given up, of {wanted} pairs",
            at(times.len() / 2),
            at(times.len().saturating_sub(1)),
            count(Some(true)),
            count(Some(false)),
            count(None),
        );
        Row { what, figure: mean, unit: "CPU ms a pair", target, note }
    }

    pub(crate) fn median(what: String, decisions: &[Decision], target: Target) -> Row {
        let figure = median(decisions);
        Row { what, figure, unit: "CPU ms, median", target: Some(target), note: String::new() }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub(crate) fn count(what: String, count: usize, target: Target) -> Row {
        Row { what, figure: count as f64, unit: "pairs", target: Some(target), note: String::new() }
    }

    /// The one in the middle.
    pub(crate) fn bytes(what: String, sizes: &mut [f64], target: Option<Target>) -> Row {
        sizes.sort_by(f64::total_cmp);
        let at = |place: usize| sizes.get(place).copied().unwrap_or(f64::NAN);
        let note = format!("largest {:.0}", at(sizes.len().saturating_sub(1)));
        Row { what, figure: at(sizes.len() / 2), unit: "bytes", target, note }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub(crate) fn races(what: String, count: usize, note: String) -> Row {
        Row { what, figure: count as f64, unit: "races", target: None, note }
    }

    pub(crate) fn counts(what: String, figure: f64, base: f64, target: Option<Target>) -> Row {
        Row {
            what,
            figure: figure / base,
            unit: "times",
            target,
            note: format!("{figure:.0} over {base:.0}"),
        }
    }

    /// A figure that others were compared for already.
    pub(crate) fn summary(what: String, figure: f64, target: Option<Target>) -> Row {
        Row { what, figure, unit: "times", target, note: String::new() }
    }

    pub(crate) fn times(what: String, figure: f64, base: f64, target: Option<Target>) -> Row {
        let note = format!("{figure:.3} over {base:.3} ms");
        Row { what, figure: figure / base, unit: "times", target, note }
    }

    fn markdown(&self) -> String {
        let target = match self.target {
            None => String::new(),
            Some(target) => {
                let bound = match target {
                    Target::AtLeast(floor) => format!("≥ {floor}"),
                    Target::AtMost(ceiling) => format!("≤ {ceiling}"),
                };
                format!("{bound} {}", if target.is_met(self.figure) { "met" } else { "MISSED" })
            }
        };
        format!("| {} | {:.2} {} | {target} | {} |", self.what, self.figure, self.unit, self.note)
    }
}

/// All figures of a run.
pub(crate) struct Record {
    heading: String,
    rows: Vec<String>,
    is_quick: bool,
}

/// Asks for rough figures.
pub(crate) const QUICK: &str = "--quick";

const TABLE_HEAD: &str = "| what | figure | target | note |\n|---|---|---|---|";

impl Record {
    pub(crate) fn new(args: &[String]) -> Record {
        let date = said_by("date", &["-u", "+%F"]);
        let commit = said_by("git", &["rev-parse", "--short", "HEAD"]);
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
        let cpu = cpu.trim_start_matches([' ', '\t', ':']);
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let heading = format!(
            "## {date}, on {commit}\n\n`cargo xtask bench {}` · {cpu}, {cores} cores",
            args.join(" ")
        );
        println!("{heading}\n\n{TABLE_HEAD}");
        Record { heading, rows: Vec::new(), is_quick: args.iter().any(|arg| arg == QUICK) }
    }

    /// Whether rough figures do.
    pub(crate) fn is_quick(&self) -> bool {
        self.is_quick
    }

    pub(crate) fn add(&mut self, row: Row) {
        println!("{}", row.markdown());
        self.rows.push(row.markdown());
    }

    /// Something that is not a figure.
    pub(crate) fn note(&mut self, text: &str) {
        let row = format!("| {text} | | | |");
        println!("{row}");
        self.rows.push(row);
    }

    /// Appends the figures to the project's record.
    pub(crate) fn save(&self) -> Result<(), String> {
        let path = root().join("bench/RESULTS.md");
        let text = format!("\n{}\n\n{TABLE_HEAD}\n{}\n", self.heading, self.rows.join("\n"));
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn said_by(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).current_dir(root()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string()).unwrap_or_default()
}
