//! `trace check|stats|convert|code|view`.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use foretell_trace::format::Format;

use super::analysis::{InputArgs, OutputFormat};
use super::texts;
use super::values::{parse_event, parse_limit};

#[derive(Debug, clap::Args)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) command: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Check that a program could have produced the trace; list all errors, and reads that no write explains
    Check {
        #[arg(help = texts::TRACE)]
        trace: PathBuf,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Count threads, variables, locks and operations
    Stats {
        #[arg(help = texts::TRACE)]
        trace: PathBuf,
        #[arg(long, value_enum, default_value_t = OutputFormat::Text, help = texts::FORMAT)]
        format: OutputFormat,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Write the trace in another format
    Convert {
        #[arg(help = texts::TRACE)]
        trace: PathBuf,
        /// Write to FILE; `-` writes to standard output
        ///
        /// The extension sets format and compression: .std .csv .rr .ftr .json, then .gz or .zst.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Set the output format [default: as the name of --output says]
        ///
        /// `chrome` is a timeline for ui.perfetto.dev and chrome://tracing.
        #[arg(long, value_parser = form_parser())]
        to: Option<Form>,
        /// Drop values, locations and thread names that the format cannot express, instead of failing
        #[arg(long)]
        lossy: bool,
        /// Mark the races of this JSON report in a timeline
        #[arg(long, value_name = "REPORT.json")]
        report: Option<PathBuf>,
        #[command(flatten)]
        input: InputArgs,
    },
    /// Print the LLVM code of a recorded program, as it was instrumented, from its raw log
    Code {
        /// Raw log: a `.ftraw` file in the folder that FORETELL_LOG names
        log: PathBuf,
        /// Recompute all values of the program from what it read, and compare them with the log
        #[arg(long)]
        check: bool,
    },
    /// Browse the events in the terminal, one lane per thread; without a terminal, print them
    View {
        #[arg(help = texts::TRACE)]
        trace: PathBuf,
        /// Also browse the races of this JSON report
        #[arg(long, value_name = "REPORT.json", conflicts_with_all = ["list", "from", "count"])]
        report: Option<PathBuf>,
        /// Print the events, even in a terminal
        #[arg(long)]
        list: bool,
        /// Print from this event on
        #[arg(long, value_parser = parse_event, value_name = "EVENT")]
        from: Option<usize>,
        /// Print at most so many events: a number or `all` [default: 1000]
        #[arg(long, value_parser = parse_limit, value_name = "EVENTS")]
        count: Option<usize>,
        #[command(flatten)]
        input: InputArgs,
    },
}

/// What a trace can be converted into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A trace format, which can be read again.
    Trace(Format),
    /// A timeline for other viewers.
    Timeline,
}

impl Form {
    /// All of them.
    fn all() -> impl Iterator<Item = Form> {
        Format::ALL.into_iter().map(Form::Trace).chain([Form::Timeline])
    }

    /// The name in messages and on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Trace(format) => format.name(),
            Form::Timeline => "chrome",
        }
    }
}

fn form_parser() -> impl clap::builder::TypedValueParser<Value = Form> {
    PossibleValuesParser::new(Form::all().map(Form::name))
        .map(|name| Form::all().find(|form| form.name() == name).unwrap_or(Form::Timeline))
}
