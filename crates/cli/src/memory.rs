//! How much memory the process may use, and has had in use, as Linux tells it.

use std::fs::{self, File};
use std::io::Read;
use std::sync::OnceLock;

use foretell_engine::Note;

use crate::allocator;

/// Without so much nothing works at all: a smaller limit is one for what is decided, not for the whole process.
const LEAST: u64 = 96 << 20;
/// The size of a page.
const PAGE: u64 = 4096;

/// The limit, and whether the user has set it.
static ALLOWED: OnceLock<(u64, bool)> = OnceLock::new();

/// From now on no more than this is used, or than the system has to give.
pub(crate) fn bound(wanted: Option<u64>) {
    let system = available();
    let Some(bytes) = [wanted.filter(|&bytes| bytes > 0), system].into_iter().flatten().min() else { return };
    let bytes = bytes.max(LEAST);
    if ALLOWED.set((bytes, wanted.is_some())).is_ok() {
        allocator::limit(bytes);
    }
}

/// How many bytes were allowed, if these did not suffice, and whether the command line said so.
pub(crate) fn reached_limit() -> Option<(u64, bool)> {
    ALLOWED.get().filter(|_| allocator::is_short()).copied()
}

/// That in words, if it is so.
pub(crate) fn note() -> Option<String> {
    reached_limit().map(|(bytes, is_set)| Note::Memory { bytes, is_set }.to_string())
}

/// Whether one part of so many is in use of what lets everything stop. A trace that is being made should end there: its
/// analysis needs memory, too.
pub(crate) fn is_taken(parts: i64) -> bool {
    allocator::is_taken(parts)
}

/// How many bytes the system has given to this process, where it tells. Allocates nothing.
pub(crate) fn in_use() -> Option<u64> {
    let mut text = [0_u8; 128];
    let length = File::open("/proc/self/statm").ok()?.read(&mut text).ok()?;
    let pages = text.get(..length)?.split(|&byte| byte == b' ').nth(1)?;
    Some(std::str::from_utf8(pages).ok()?.parse::<u64>().ok()? * PAGE)
}

/// Starts to watch for a new peak, so that earlier work does not count.
pub(crate) fn reset_peak() {
    // Where this is not possible, the peak of the whole process is reported: too much, never too little.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// How many bytes the system could give to this process, where it tells.
pub(crate) fn available() -> Option<u64> {
    let of_system = kilobytes("/proc/meminfo", "MemAvailable:");
    [of_system, addresses(), of_group()].into_iter().flatten().min()
}

/// How many more bytes the process may have addresses for (`ulimit -v`), if there is a limit.
fn addresses() -> Option<u64> {
    let table = fs::read_to_string("/proc/self/limits").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:").unwrap_or(0)))
}

/// How many more bytes the group of processes may have that this one is in, if there is a limit.
fn of_group() -> Option<u64> {
    let most: u64 = fs::read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()?;
    let table = fs::read_to_string("/sys/fs/cgroup/memory.stat").unwrap_or_default();
    let taken = table.lines().find_map(|line| line.strip_prefix("anon ")?.parse().ok());
    Some(most.saturating_sub(taken.unwrap_or(0)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_what_is_in_use() {
        assert!(in_use().is_some_and(|bytes| bytes > 1 << 20), "{:?}", in_use());
        assert!(available().is_some());
    }
}
