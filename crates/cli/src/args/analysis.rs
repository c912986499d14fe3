//! What to look for, how hard, and how to report it: `predict`, `compare`, and the options that they share with
//! commands that run programs.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use foretell_detect::Pairs;
use foretell_engine::certify::CertificateForm;
use foretell_engine::{Choice, Find, Plan};
use foretell_native::Follow;
use foretell_predict::Technique;
use foretell_trace::Trace;
use foretell_trace::format::Format;

use super::report::ReportArgs;
use super::shards::ShardArgs;
use super::texts::{self, heading};
use super::values::{
    MaxRaces, TimeLimit, Window, parse_duration, parse_max_races, parse_pair, parse_size, parse_time_limit,
    parse_window,
};
use crate::error::Failure;
use crate::slice::Purpose;

#[derive(Debug, clap::Args)]
pub(crate) struct PredictArgs {
    #[arg(required_unless_present = "plan", value_name = "TRACE", help = texts::TRACES)]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) shards: ShardArgs,
    #[command(flatten)]
    pub(crate) wanted: WantedArgs,
    /// Decide only the pair of events A and B, and say why
    ///
    /// Events are numbered from 1, in the order of the trace. Supports --format text, json and html.
    #[arg(
        long, value_parser = parse_pair, value_name = "A,B", conflicts_with = "baseline",
        help_heading = heading::ANALYSIS
    )]
    pub(crate) pair: Option<(u32, u32)>,
    /// Write to DIR a certificate that nothing but the reported races exists
    ///
    /// For one trace and one of rf, mcm, rv and rv-nre. `foretell check TRACE DIR` checks it without the code that
    /// finds races (docs/proof-format.md). If pairs stay undecided there is no certificate, and they are listed.
    #[arg(
        long, value_name = "DIR", conflicts_with_all = ["pair", "slice", "baseline", "plan"],
        help_heading = heading::REPORT
    )]
    pub(crate) certify: Option<PathBuf>,
    /// Write the certificate as text, or in a compact form
    ///
    /// `foretell check` recognises both.
    #[arg(
        long, value_enum, default_value_t = FormArg::Text, requires = "certify", value_name = "FORM",
        help_heading = heading::REPORT
    )]
    pub(crate) certify_form: FormArg,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

/// How certificates are written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FormArg {
    Text,
    Binary,
}

impl FormArg {
    pub(crate) fn form(self) -> CertificateForm {
        match self {
            FormArg::Text => CertificateForm::Text,
            FormArg::Binary => CertificateForm::Binary,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    #[arg(required = true, value_name = "TRACE", help = texts::TRACES)]
    pub(crate) traces: Vec<PathBuf>,
    /// Choose the techniques to compare, separated by commas [default: rv,said,cp,hb]
    #[arg(
        short, long, value_delimiter = ',', value_parser = technique_parser(),
        long_help = technique_help() + "\n\n[default: rv,said,cp,hb]",
        help_heading = heading::ANALYSIS
    )]
    pub(crate) technique: Vec<Choice>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[arg(
        long, value_enum, default_value_t = OutputFormat::Text, help = texts::FORMAT,
        help_heading = heading::REPORT
    )]
    pub(crate) format: OutputFormat,
    #[arg(short, long, value_name = "FILE", help = texts::OUTPUT, help_heading = heading::REPORT)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

/// What to look for, and how to report it.
#[derive(Debug, clap::Args)]
pub(crate) struct WantedArgs {
    /// Choose one or more techniques, separated by commas
    #[arg(
        short, long, value_delimiter = ',', default_value = "auto", value_parser = technique_parser(),
        long_help = technique_help(), help_heading = heading::ANALYSIS
    )]
    pub(crate) technique: Vec<Choice>,
    /// Choose what to look for, separated by commas: races, deadlocks, memory or all [default: races, and deadlocks if
    /// the technique proves them]
    ///
    /// Deadlocks are threads that wait for each other's locks, or for each other's end, for ever (docs/deadlocks.md);
    /// memory is what can be used after it was freed, also where no race is (docs/memory.md), and is looked for only
    /// if asked for. Techniques that decide exactly prove both: rf, mcm, rv, rv-nre, recipe, auto. Unless asked for,
    /// deadlocks are looked for only as long as is in proportion to the time for races.
    #[arg(
        long, value_delimiter = ',', value_parser = Kind::parse, value_name = "KINDS",
        help_heading = heading::ANALYSIS
    )]
    pub(crate) find: Vec<Kind>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[arg(
        long, value_parser = Purpose::parse, value_name = "PROPERTY", help = texts::SLICE,
        long_help = Purpose::HELP, help_heading = heading::ANALYSIS
    )]
    pub(crate) slice: Option<Purpose>,
    /// Limit the number of races, and of undecided pairs, in one report: a number from 1 on, or `all`
    #[arg(
        long, default_value_t = MaxRaces::DEFAULT, value_parser = parse_max_races, value_name = "N",
        help_heading = heading::REPORT
    )]
    pub(crate) max_races: MaxRaces,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

impl WantedArgs {
    /// The plans, one for each technique.
    pub(crate) fn plans(&self) -> impl Iterator<Item = Plan> {
        self.technique.iter().map(|&choice| self.plan(choice))
    }

    /// How far values of a native program have to be followed for these techniques.
    pub(crate) fn follow(&self) -> Follow {
        let computes = self.technique.iter().any(|choice| choice.stages().contains(&Technique::Recipe));
        match self.search.dependence {
            Following::None => Follow::Nothing,
            Following::Full if computes => Follow::Values,
            Following::Full | Following::Partial => Follow::Reads,
        }
    }

    /// The plan for one technique.
    pub(crate) fn plan(&self, choice: Choice) -> Plan {
        Plan { find: self.find_by(choice), ..self.search.plan(choice, self.report.witness, self.max_races) }
    }

    /// What is looked for with one technique: the usual, unless the user chooses among what it can prove.
    fn find_by(&self, choice: Choice) -> Find {
        let wants = |kind| self.find.iter().any(|&wanted| wanted == kind || wanted == Kind::All);
        let decides = choice.decides_goals_by().is_some();
        match self.find[..] {
            [] => Find::usual(choice),
            _ => Find {
                races: wants(Kind::Races),
                deadlocks: wants(Kind::Deadlocks) && decides,
                memory: wants(Kind::Memory) && decides,
                patiently: true,
            },
        }
    }

    /// Refuses to look for what the technique cannot prove, or where it cannot be looked for.
    pub(crate) fn check_find(&self) -> Result<(), Failure> {
        let beyond = [(Kind::Deadlocks, "deadlocks", "locks"), (Kind::Memory, "memory", "frees")];
        let Some((_, what, needed)) = beyond.into_iter().find(|(kind, ..)| self.find.contains(kind)) else {
            return Ok(());
        };
        if self.slice.is_some() {
            let why = format!("--find {what}: a slice does not have all {needed}; leave out --slice");
            return Err(Failure::Usage(why));
        }
        let cannot = |choice: &&Choice| choice.decides_goals_by().is_none();
        match self.technique.iter().find(cannot) {
            Some(choice) => Err(Failure::Usage(format!(
                "--find {what}: {} does not prove that; rf, mcm, rv, rv-nre, recipe and auto do",
                choice.name()
            ))),
            None => Ok(()),
        }
    }
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Races,
    Deadlocks,
    /// Uses of freed memory.
    Memory,
    /// Everything that this version knows.
    All,
}

impl Kind {
    fn parse(text: &str) -> Result<Kind, String> {
        match text {
            "races" => Ok(Kind::Races),
            "deadlocks" => Ok(Kind::Deadlocks),
            "memory" => Ok(Kind::Memory),
            "all" => Ok(Kind::All),
            "assertions" | "wakeups" | "atomicity" => {
                Err(format!("this version does not look for {text} yet, but for races, deadlocks and memory"))
            }
            _ => Err("expected races, deadlocks, memory or all".to_string()),
        }
    }
}

/// What the search may do, and its limits.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// Report one race per pair of locations, or every pair of events
    #[arg(long, value_enum, default_value_t = PairsArg::Location, help_heading = heading::ANALYSIS)]
    pub(crate) pairs: PairsArg,
    #[arg(
        long, default_value = "all", value_parser = parse_window, value_name = "EVENTS",
        help = texts::WINDOW, long_help = texts::WINDOW_LONG, help_heading = heading::ANALYSIS
    )]
    pub(crate) window: Window,
    /// Set which dependence information reconp, rv-nre, recipe and auto use
    #[arg(
        long, value_enum, default_value_t = Following::Full, value_name = "HOW",
        help_heading = heading::ANALYSIS
    )]
    pub(crate) dependence: Following,
    /// Do not look for races on untaken branches (recipe and auto)
    #[arg(long, help_heading = heading::ANALYSIS)]
    pub(crate) no_unexplored: bool,
    #[arg(
        long, default_value = "60s", value_parser = parse_duration, value_name = "DURATION",
        help = texts::BUDGET, long_help = texts::BUDGET_LONG, help_heading = heading::LIMITS
    )]
    pub(crate) budget: Duration,
    #[arg(
        long, default_value = "10m", value_parser = parse_time_limit, value_name = "DURATION",
        help = texts::TIME_LIMIT, long_help = texts::TIME_LIMIT_LONG, help_heading = heading::LIMITS
    )]
    pub(crate) time_limit: TimeLimit,
    #[arg(
        long, value_parser = clap::value_parser!(u16).range(1..), value_name = "N", help = texts::JOBS,
        help_heading = heading::LIMITS
    )]
    pub(crate) jobs: Option<u16>,
    #[arg(
        long, value_parser = parse_size, value_name = "SIZE", help = texts::MEMORY,
        long_help = texts::MEMORY_LONG, help_heading = heading::LIMITS
    )]
    pub(crate) memory: Option<u64>,
}

impl SearchArgs {
    /// The plan for one technique.
    pub(crate) fn plan(&self, choice: Choice, witness_steps: usize, max_races: MaxRaces) -> Plan {
        Plan {
            choice,
            find: Find::RACES,
            pairs: self.pairs.into(),
            witness_steps,
            max_races: max_races.0,
            window: self.window.0,
            budget: self.budget,
            time_limit: self.time_limit.0,
            untaken_branches: !self.no_unexplored,
            jobs: jobs(self.jobs),
            memory: self.memory,
        }
    }
}

/// The number of workers: as given, or one for each CPU.
pub(crate) fn jobs(given: Option<u16>) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    given.map_or_else(processors, usize::from)
}

#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    #[arg(
        long, value_parser = format_parser(), value_name = "FORMAT", help = texts::FROM_FORMAT,
        help_heading = heading::INPUT
    )]
    pub(crate) from_format: Option<Format>,
    #[arg(long, help = texts::NO_PROGRESS, help_heading = heading::DISPLAY)]
    pub(crate) no_progress: bool,
}

/// Which dependence information is used to find out which reads matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Following {
    /// All that the trace contains
    Full,
    /// As published for ReconP: follow only values that other threads wrote, keep all reads of own writes
    Partial,
    /// None: every read before a branch matters
    None,
}

impl Following {
    /// The trace with only the dependence information that is to be used.
    pub(crate) fn apply(self, trace: Trace) -> Trace {
        match self {
            Following::Full => trace,
            Following::None => trace.without_dependence(),
            // Symbolic values contain more than the partial information does.
            Following::Partial => foretell_depend::to_partial(trace).without_values(),
        }
    }
}

/// When text has colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// If the output is a terminal that shows colours
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

pub(super) fn technique_parser() -> impl clap::builder::TypedValueParser<Value = Choice> {
    let names = Technique::ALL.iter().map(|technique| technique.name());
    PossibleValuesParser::new(names.chain(["auto"]))
        .map(|name| Technique::from_name(&name).map_or(Choice::Auto, Choice::One))
}

fn technique_help() -> String {
    let mut help = String::from("Choose one or more techniques, separated by commas (docs/techniques):\n");
    for technique in Technique::ALL {
        help.push_str(&format!("  {:<10} {}\n", technique.name(), technique.summary()));
    }
    let stages = Technique::AUTO.map(Technique::name).join(", then ");
    help.push_str(&format!("  {:<10} {stages}, each on pairs that are not proven yet", "auto"));
    help
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PairsArg {
    /// One race per pair of program locations
    Location,
    /// Every pair of events
    All,
}

impl From<PairsArg> for Pairs {
    fn from(pairs: PairsArg) -> Pairs {
        match pairs {
            PairsArg::Location => Pairs::ByLocation,
            PairsArg::All => Pairs::All,
        }
    }
}

/// The format of other results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text for a terminal
    Text,
    /// JSON (docs/json-report.md)
    Json,
}

fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .map(|name| Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or(Format::Text))
}
