//! `foretell trace code`: the code behind a raw log.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use foretell_native::{Definition, GivenUp, Program, Recomputed};
use foretell_report::visible::visible;

use crate::Outcome;
use crate::error::Failure;
use crate::output;

/// How many places are named at which threads could not be followed.
const MOST_PLACES: usize = 20;

pub(crate) fn run(log: &Path, check: bool) -> Result<Outcome, Failure> {
    let bytes = fs::read(log).map_err(|error| Failure::file(log, "read", error))?;
    let refused = |error| Failure::Usage(format!("{}: {error}", log.display()));
    if check {
        let found = foretell_native::recompute(&bytes).map_err(refused)?;
        return report(&found, &foretell_native::given_up(&bytes).map_err(refused)?);
    }
    let program = Program::read(&bytes).map_err(refused)?;
    let text: String = program.functions().map(|function| listing(&function)).collect();
    output::write(None, &text)?;
    Ok(Outcome::Clean)
}

/// How far the log agrees with the code, and where it is not known what became of reads.
fn report(found: &Recomputed, given_up: &[GivenUp]) -> Result<Outcome, Failure> {
    let mut text = String::new();
    for difference in &found.differences {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", visible(difference));
    }
    let Recomputed { stores, addresses, decisions, lost, .. } = found;
    let _ = writeln!(text, "stored values: {stores}\naddresses: {addresses}\ndecisions: {decisions}");
    let _ = writeln!(text, "times that it is not known how a thread came to a record: {lost}");
    let times: u64 = given_up.iter().map(|given_up| u64::from(given_up.times)).sum();
    let _ = writeln!(text, "times that all that a thread had read was taken to matter: {times}");
    for GivenUp { why, place, times } in given_up.iter().take(MOST_PLACES) {
        let _ = writeln!(text, "  {times} at {}: {why}", visible(if place.is_empty() { "?" } else { place }));
    }
    output::write(None, &text)?;
    Ok(if found.differ() > 0 { Outcome::Incomplete } else { Outcome::Clean })
}

/// A function, block by block, with the places in the source.
fn listing(function: &[Definition<'_>]) -> String {
    let mut text = String::new();
    let mut last = None;
    for definition in function {
        let block = Some(definition.block());
        let heading = match last {
            None => format!("{}:\n", definition.function()),
            Some(_) if last != block => format!("block{}:\n", definition.block()),
            Some(_) => String::new(),
        };
        last = block;
        let place = definition.place().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{heading}  {:<60} {place}", definition.to_string());
    }
    text
}
