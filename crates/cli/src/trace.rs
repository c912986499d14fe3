//! `foretell trace`: look at traces.

mod check;
mod code;
pub(crate) mod convert;
mod stats;
mod view;

use crate::Outcome;
use crate::args::{TraceArgs, TraceCommand};
use crate::error::Failure;
use crate::input::Input;

pub(crate) fn run(args: &TraceArgs) -> Result<Outcome, Failure> {
    match &args.command {
        TraceCommand::Check { trace, input } => check::run(&Input::new(trace, input)),
        TraceCommand::Stats { trace, format, input } => stats::run(&Input::new(trace, input), *format),
        TraceCommand::Convert { trace, output, to, lossy, input } => {
            convert::run(&Input::new(trace, input), output, *to, *lossy)
        }
        TraceCommand::Code { log } => code::run(log),
        TraceCommand::View { trace, from, count, input } => {
            view::run(&Input::new(trace, input), *from, *count)
        }
    }
}
