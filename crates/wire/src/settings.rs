//! Environment variables: the contract between the command line, the runtime inside the recorded program, and the
//! tests.
//!
//! Names, defaults and help texts stand here and nowhere else. A test compares the table with the tree and with
//! `docs/native.md`.

use std::ffi::CStr;

/// An environment variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Its name, as the C library wants it.
    pub name: &'static CStr,
    /// What counts if it is not set, as text; none if its absence has a meaning of its own.
    pub default: Option<&'static str>,
    /// What it does.
    pub help: &'static str,
    /// Who reads it.
    pub reader: Reader,
}

/// Who reads a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reader {
    /// The runtime inside the recorded program. `foretell` sets it; a user may, too.
    Runtime,
    /// The command line.
    CommandLine,
    /// A process that another one of ours has started with it. It is not for users.
    Internal,
    /// Tests.
    Tests,
}

impl Setting {
    /// The name as text.
    pub const fn text(&self) -> &'static str {
        match self.name.to_str() {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

/// The seed of runs for which none is given.
pub const DEFAULT_SEED: u64 = 0;
/// The first seed of a hunt for which none is given: the run with [`DEFAULT_SEED`] is the one that `run` and `record`
/// show.
pub const FIRST_HUNTING_SEED: u64 = DEFAULT_SEED + 1;
/// How many picks of a thread a strategy expects by default.
pub const DEFAULT_STEPS: u64 = 1_000;
/// The value of [`ORDER`] for threads that run in parallel.
pub const STRIPED: &str = "striped";
/// The value of [`LOG_KEEP`] if the beginning of a log is dropped when it is full.
pub const LAST: &str = "last";
/// The value of [`ORDER`] for threads that run one at a time.
pub const SERIAL: &str = "serial";

macro_rules! settings {
    ($($id:ident $name:literal $reader:ident $default:expr, $help:literal;)*) => {
        $(#[doc = $help] pub const $id: Setting =
            Setting { name: $name, default: $default, help: $help, reader: Reader::$reader };)*

        /// All variables.
        pub const ALL: &[Setting] = &[$($id),*];
    };
}

settings! {
    LOG c"FORETELL_LOG" Runtime None, "Folder for the raw logs (`PID.ftraw`); without it nothing is recorded";
    SEED c"FORETELL_SEED" Runtime Some("0"), "Seed of the scheduler";
    ORDER c"FORETELL_ORDER" Runtime Some(SERIAL), "`serial`: one thread runs at a time; `striped`: threads run in parallel";
    STRATEGY c"FORETELL_STRATEGY" Runtime Some("random"), "Scheduling strategy: `random`, `contest`, `pct`, `pos` or `drfinder`";
    DEPTH c"FORETELL_DEPTH" Runtime None, "`pct`: bug depth [default: 3]; `drfinder`: caller frames [default: 12]";
    STEPS c"FORETELL_STEPS" Runtime Some("1000"), "How many picks of a thread `pct` expects";
    TRIGGERS c"FORETELL_TRIGGERS" Runtime None, "File with what the run before has learnt";
    DETECT c"FORETELL_DETECT" Runtime Some("0"), "`1`: online detection; nothing is recorded";
    LOG_LIMIT c"FORETELL_LOG_LIMIT" Runtime None, "How many bytes all logs together may have";
    LOG_KEEP c"FORETELL_LOG_KEEP" Internal None, "`last`: `foretell` drops the beginnings of logs that become too long";
    STARTED_AGAIN c"FORETELL_STARTED_AGAIN" Internal None, "The process was started again with fixed addresses";
    AS_GUARD c"FORETELL_AS_GUARD" Internal None, "`foretell` is the guard that removes a folder when its parent is killed";
    AS_RUSTC c"FORETELL_AS_RUSTC" Internal None, "`foretell` is called by cargo in the place of rustc";
    LIBRARIES c"FORETELL_LIBRARIES" CommandLine None, "Folder with the compiler pass and the runtime, if not beside `foretell`";
    MODELS c"FORETELL_MODELS" CommandLine None, "Files with models of library functions, separated by `:`";
    STD c"FORETELL_STD" Internal None, "Folder of a standard library of Rust that is built with the compiler pass, or `build` while that is done";
    SUPPRESSIONS c"FORETELL_SUPPRESSIONS" CommandLine None, "Suppressions file";
    Z3 c"FORETELL_Z3" CommandLine Some("z3"), "The Z3 program";
    SEEDS c"FORETELL_SEEDS" Tests None, "How many random programs a test makes";
    UPDATE_DOCUMENTS c"FORETELL_UPDATE_DOCUMENTS" Tests None, "Write down what the commands of the documents print now";
    UPDATE_SCREENS c"FORETELL_UPDATE_SCREENS" Tests None, "Write down what the browser shows now";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_constants() {
        assert_eq!(SEED.default.and_then(|text| text.parse().ok()), Some(DEFAULT_SEED));
        assert_eq!(STEPS.default.and_then(|text| text.parse().ok()), Some(DEFAULT_STEPS));
        assert_eq!(FIRST_HUNTING_SEED, 1);
    }

    #[test]
    fn names_are_distinct_and_help_is_there() {
        for (index, setting) in ALL.iter().enumerate() {
            assert!(setting.text().starts_with("FORETELL_") && !setting.help.is_empty());
            assert!(ALL[..index].iter().all(|earlier| earlier.name != setting.name));
        }
    }
}
