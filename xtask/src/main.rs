//! `cargo xtask setup|run|test|bench|package|install|tidy`: all commands for developers.

mod mutants;
mod package;
mod test;
mod tidy;

use std::process::ExitCode;

use xtask::{process, setup};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  run FILE… [OPTIONS]     Build foretell and analyse traces or run a program: cargo xtask run examples/bank.std
  test                    Install what the tests need; then check formatting, lints and repository rules, and run all tests
  bench [NAME…]           Measure [default: all]; --save appends to bench/RESULTS.md; --quick takes each program's figures
                          once. Names: read detect syncp referee predict memory exact certify auto shards explore z3 native
                          online necessary recipe hidden
  fuzz-exact [SECONDS [SEED]] | traces COUNT [SEED]
                          Compare exact techniques and exploration with oracle and brute force on random traces
                          [default: until interrupted]
  fuzz-certificates TRACES [SEED]
                          Certify each pair that is no race, and change the certificates, on random traces
  mutants [NAME]          Put faults into the finders: the checker of certificates must catch each
  soundness [SECONDS [SEED]]
                          Compare predicted races with all executions of random programs [default: until interrupted]
  soundness-native [SECONDS [SEED]]
                          Do the same for recorded C++ programs and Rust tests
  native-corpus [SEEDS [NAME]]
                          Record and analyse the programs of corpus/native whose names contain NAME [default: 20 seeds]
  java-corpus [SEEDS [NAME]]
                          Do the same with the programs of corpus/java, and drive them into their races
  replay-corpus [SEEDS [NAME]]
                          Drive the programs of corpus/native into their races, ten times each [default: 3 seeds]
  package [--check]       Build all packages in target/package: tarball, Python wheel, Debian package; --check
                          installs each into an empty folder, and runs the tutorial from there
  install [--prefix FOLDER]
                          Build foretell with all optimisations, and install it [default: below ~/.cargo]
  tidy                    Check the repository rules: dependencies, file headers, words
  setup                   Install what building and testing need";

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
        "mutants" => mutants::run(rest),
        "package" => package::run(rest),
        "install" => package::install(rest),
        "bench" | "fuzz-exact" | "fuzz-certificates" | "soundness" | "java-corpus" | "native-corpus"
        | "replay-corpus" | "soundness-native" => process::run_lab(&args),
        other => Err(format!("unknown command `{other}`\n{USAGE}")),
    };
    process::exit_code("xtask", result)
}
