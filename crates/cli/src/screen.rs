//! What the place can show that text is written to.

use std::env;
use std::io;
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use foretell_report::text::Detail;
use terminal_size::{Width, terminal_size_of};

use crate::args::Color;

/// The default width of text.
const USUAL: usize = 80;
/// Narrower text cannot be read, and wider text is not.
const NARROWEST: usize = 60;
const WIDEST: usize = 120;

/// How text is shown in the file, or on standard output.
pub(crate) fn detail(color: Color, path: Option<&Path>) -> Detail {
    let is_output = path.is_none_or(|path| path == Path::new("-"));
    let is_coloured = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_output && AutoStream::choice(&io::stdout()) != ColorChoice::Never,
    };
    Detail { width: width(is_output), color: is_coloured, ..Detail::default() }
}

/// As wide as the user says, or as the terminal is.
fn width(is_output: bool) -> usize {
    let named = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let measured = || terminal_size_of(io::stdout()).filter(|_| is_output);
    let width = named.filter(|&columns: &usize| columns > 0);
    width
        .or_else(|| measured().map(|(Width(columns), _)| columns.into()))
        .unwrap_or(USUAL)
        .clamp(NARROWEST, WIDEST)
}
