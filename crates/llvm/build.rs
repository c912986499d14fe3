//! Builds the C++ part of the plugin if LLVM 22 is installed. Without it the crate is empty, so that a machine without
//! LLVM can still build and test everything else.

use std::process::Command;

/// The oldest version that the pass can be built for.
const OLDEST: u32 = 19;
const WHY: &str =
    "earlier ones have debug information in calls, which the pass would take for calls of the program";

fn main() {
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rerun-if-env-changed=LLVM_CONFIG");
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-22".to_string());
    match ask(&config, "--includedir").zip(ask(&config, "--version")) {
        Some((headers, version)) => build(&headers, &version),
        None => println!(
            "cargo::warning=LLVM 22 is missing ({config} does not run), so the compiler pass is not built. On Debian: apt-get install clang-22 llvm-22-dev lld-22; elsewhere name its llvm-config in LLVM_CONFIG. Then build again."
        ),
    }
}

fn build(headers: &str, version: &str) {
    let major = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
    assert!(OLDEST <= major, "the compiler pass needs LLVM {OLDEST} or later; this is LLVM {version}: {WHY}");
    let mut shim = cc::Build::new();
    shim.cpp(true)
        .include(headers)
        .files(["cpp/shim.cc", "cpp/plain.cc", "cpp/objects.cc"])
        .std("c++17")
        .flag("-fno-exceptions")
        .warnings(false);
    // The LLVM of rustc has no type information at run time, whatever that of clang has, and we need none.
    shim.flag("-fno-rtti");
    shim.compile("foretell_shim");
    println!("cargo::rustc-cfg=has_llvm");
    if major >= 22 {
        println!("cargo::rustc-cfg=llvm_22");
    }
}

fn ask(config: &str, question: &str) -> Option<String> {
    let output = Command::new(config).arg(question).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
