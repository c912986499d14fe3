//! How much memory the process has had in use, as Linux tells it.

use std::fs;

/// Starts to watch for a new peak, so that earlier work does not count.
pub(crate) fn reset_peak() {
    // Where this is not possible, the peak of the whole process is reported: too much, never too little.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// How many bytes the system could give to this process, where it tells.
pub(crate) fn available() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// The peak since [`reset_peak`] in bytes, where the system tells.
pub(crate) fn peak() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// The figure behind `name` in a table of the system, in bytes.
fn kilobytes(table: &str, name: &str) -> Option<u64> {
    let table = fs::read_to_string(table).ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
