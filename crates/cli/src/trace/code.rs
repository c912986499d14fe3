//! `foretell trace code`: the code behind a raw log.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use foretell_native::{Definition, Program};

use crate::Outcome;
use crate::error::Failure;
use crate::output;

pub(crate) fn run(log: &Path) -> Result<Outcome, Failure> {
    let bytes = fs::read(log).map_err(|error| Failure::file(log, "read", error))?;
    let program =
        Program::read(&bytes).map_err(|error| Failure::Usage(format!("{}: {error}", log.display())))?;
    let text: String = program.functions().map(|function| listing(&function)).collect();
    output::write(None, &text)?;
    Ok(Outcome::Clean)
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
