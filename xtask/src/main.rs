//! The one door for developers: `cargo xtask setup|run|test|bench|tidy`.

mod test;
mod tidy;

use std::process::ExitCode;

use xtask::{process, setup};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  run FILE… [OPTIONS]    build foretell and predict on traces, or run a program, e.g. cargo xtask run examples/bank.std
  test                   install what the tests need, then formatting, lints, house rules and all tests
  bench [NAME…]          measure; names: read detect syncp referee predict memory exact auto explore z3 native online necessary recipe hidden (all unless given); --save adds to bench/RESULTS.md
  fuzz-exact [SECONDS [SEED]]  exact techniques and exploration against oracle and brute force on random traces, for ever unless told;
                               or traces COUNT [SEED]
  soundness [SECONDS [SEED]]   predicted races against all executions of random programs, for ever unless told
  native-corpus [SEEDS [PART OF A NAME]]  record and predict every program of corpus/native, with 20 seeds unless told
  replay-corpus [SEEDS [PART OF A NAME]]  drive every program of corpus/native into its races, with 3 seeds unless told, and ten times each
  soundness-native [SECONDS [SEED]]  races of recorded C++ programs and Rust tests against all executions of the same programs
  tidy                   check the rules of the house: who may depend on whom, and what every file must have
  setup                  install what building and testing need";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = args.split_first() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let result = match command.as_str() {
        "setup" => setup::run(),
        "run" => process::run_foretell(rest),
        "test" => test::run(),
        "tidy" => tidy::run(),
        "bench" | "fuzz-exact" | "soundness" | "native-corpus" | "replay-corpus" | "soundness-native" => {
            process::run_lab(&args)
        }
        other => Err(format!("unknown command `{other}`\n{USAGE}")),
    };
    process::exit_code("xtask", result)
}
