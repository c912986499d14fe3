//! Builds the C++ part of the plugin if LLVM 22 is installed. Without it the crate is empty, so that a machine without
//! LLVM can still build and test everything else.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rerun-if-env-changed=LLVM_CONFIG");
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-22".to_string());
    match ask(&config, "--includedir") {
        Some(headers) => build(&headers),
        None => println!(
            "cargo::warning=LLVM 22 is missing ({config} does not run), so the compiler pass is not built. On Debian: apt-get install clang-22 llvm-22-dev lld-22; elsewhere name its llvm-config in LLVM_CONFIG. Then build again."
        ),
    }
}

fn build(headers: &str) {
    let mut shim = cc::Build::new();
    shim.cpp(true)
        .include(headers)
        .files(["cpp/shim.cc", "cpp/plain.cc"])
        .std("c++17")
        .flag("-fno-exceptions")
        .warnings(false);
    // The LLVM of rustc has no type information at run time, whatever that of clang has, and we need none.
    shim.flag("-fno-rtti");
    shim.compile("foretell_shim");
    println!("cargo::rustc-cfg=has_llvm");
}

fn ask(config: &str, question: &str) -> Option<String> {
    let output = Command::new(config).arg(question).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
