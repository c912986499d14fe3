//! Measurements and experiments on the product. `cargo xtask NAME` builds and runs them.

mod bench;
mod fuzz_certificates;
mod fuzz_exact;
mod java_corpus;
mod native_corpus;
mod primitives;
mod replay_corpus;
mod soundness;
mod soundness_native;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = args.split_first() else {
        eprintln!("lab: which experiment? `cargo xtask` lists them");
        return ExitCode::from(2);
    };
    let result = match command.as_str() {
        "bench" => bench::run(rest),
        "fuzz-certificates" => fuzz_certificates::run(rest),
        "fuzz-exact" => fuzz_exact::run(rest),
        "soundness" => soundness::run(rest),
        "java-corpus" => java_corpus::run(rest),
        "native-corpus" => native_corpus::run(rest),
        "replay-corpus" => replay_corpus::run(rest),
        "soundness-native" => soundness_native::run(rest),
        other => Err(format!("there is no experiment named `{other}`")),
    };
    xtask::process::exit_code("lab", result)
}
