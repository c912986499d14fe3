//! How much memory the process has had in use, as Linux tells it.

use std::fs;

/// Starts to watch for a new peak, so that earlier work does not count.
pub(crate) fn reset_peak() {
    // Where this is not possible, the peak of the whole process is reported: too much, never too little.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The peak since [`reset_peak`] in bytes, where the system tells.
pub(crate) fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
