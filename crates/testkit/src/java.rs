//! Programs in Java.

use std::path::Path;
use std::process::Command;

/// Builds the agent that records Java programs, beside this foretell.
///
/// # Panics
/// If that fails.
pub fn build_agent(foretell: &str) {
    let target = Path::new(foretell).parent().and_then(Path::parent);
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "foretell-jvm", "--target-dir"])
        .arg(target.expect("foretell is in a folder of the target"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the agent cannot be built");
}
