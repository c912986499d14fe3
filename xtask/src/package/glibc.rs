//! The oldest C library that programs and libraries run with, by the symbols that they really use.

use std::path::PathBuf;

use xtask::process::told;

use super::files;

/// Major and minor version.
pub(super) type Version = (u32, u32);

/// The newest version that any of these files asks for.
pub(super) fn needed(files: &[PathBuf]) -> Result<Version, String> {
    let mut newest = (2, 17);
    for path in files {
        let symbols = told("objdump", &["-T", files::text(path)])?;
        newest = versions(&symbols).fold(newest, Version::max);
    }
    Ok(newest)
}

/// All versions of the C library that symbols ask for: `… *UND* … (GLIBC_2.34) pthread_create`.
fn versions(symbols: &str) -> impl Iterator<Item = Version> {
    let asked = symbols.lines().filter(|line| line.contains("*UND*"));
    asked.filter_map(|line| {
        let version = line.split_once("GLIBC_")?.1.split(|c: char| c != '.' && !c.is_ascii_digit()).next()?;
        let mut numbers = version.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let symbols = "0 DF *UND* 0 (GLIBC_2.9) a\n0 DF *UND* 0 (GLIBC_2.34) b\n0 DF *UND* 0 (GLIBC_2.2.5) c\n\
                       0 DF .text 0 (GLIBC_2.99) own\n0 DF *UND* 0 Base d\n0 DF *UND* 0 (GLIBCXX_3.4) e";
        assert_eq!(versions(symbols).max(), Some((2, 34)));
    }
}
