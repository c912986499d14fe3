//! What the place can show that text is written to.

use std::env;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};
use foretell_report::text::Detail;
use terminal_size::{Width, terminal_size_of};

use crate::args::Color;

/// The default width of text.
const USUAL: usize = 80;
/// Narrower text cannot be read, and wider text is not.
const NARROWEST: usize = 60;
const WIDEST: usize = 120;

/// When text has colours, as the command line says.
static COLOR: OnceLock<Color> = OnceLock::new();

/// Sets when text has colours, once.
pub(crate) fn set_color(color: Color) {
    // It is the command line of one process: there is no second one.
    let _ = COLOR.set(color);
    ColorChoice::from(color).write_global();
}

/// How text is shown in the file, or on standard output.
pub(crate) fn detail(path: Option<&Path>) -> Detail {
    let is_output = path.is_none_or(|path| path == Path::new("-"));
    let is_coloured = match COLOR.get() {
        Some(Color::Always) => true,
        Some(Color::Never) => false,
        Some(Color::Auto) | None => is_output && AutoStream::choice(&io::stdout()) != ColorChoice::Never,
    };
    Detail { width: width(is_output), color: is_coloured, ..Detail::default() }
}

/// Whether the user's language settings name a character set other than UTF-8. Without settings, it is UTF-8.
pub(crate) fn is_ascii() -> bool {
    let set =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(env::var_os).find(|value| !value.is_empty());
    set.is_some_and(|value| !is_utf8(&value.to_string_lossy()))
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_sets_are_told_by_their_names() {
        assert!(["C.UTF-8", "de_DE.utf8", "en_US.UTF-8@euro"].into_iter().all(is_utf8));
        assert!(!["C", "POSIX", "de_DE", "en_US.ISO-8859-1"].into_iter().any(is_utf8));
    }
}
