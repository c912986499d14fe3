//! `foretell doctor` where everything is installed.

use serde_json::Value;

use crate::{foretell, is_ready};

#[test]
fn the_doctor_records_programs() {
    if !is_ready() {
        return;
    }
    let output = foretell(&["doctor", "--format", "json", "--time-limit", "60s"]);
    let told = String::from_utf8_lossy(&output.stdout);
    let json: Value = serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"));
    for name in ["traces", "libraries", "C", "C++", "Rust", "replay", "solver"] {
        let check =
            json["checks"].as_array().and_then(|checks| checks.iter().find(|check| check["name"] == name));
        assert_eq!(check.map(|check| check["state"].clone()), Some("works".into()), "{name}: {told}");
    }
    assert_eq!(output.status.code(), Some(0), "{told}");
}
