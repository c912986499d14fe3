//! What it costs to look for races while a program runs, beside what ThreadSanitizer costs: the program of the recorder's benchmark, and
//! those of `bench/native/mixed`, which meet at locks and queues most of the time.

use std::fs;
use std::path::{Path, PathBuf};

use super::asked::ready_for_programs;
use super::native::{Program, Way};
use super::record::{Record, Row, Target};
use crate::process::{release, root};

/// How much each program has to do: enough to be measured with ThreadSanitizer.
const WORK: &str = "200";
const MIXED: &str = "60000";

/// Looking for races over ThreadSanitizer in CPU time.
pub(crate) fn detecting(record: &mut Record) -> Result<(), String> {
    ready_for_programs()?;
    let folder = release("bench-online");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (source, argument) in sources()? {
        compare(record, &folder, &source, argument)?;
    }
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn compare(record: &mut Record, folder: &Path, source: &Path, argument: &'static str) -> Result<(), String> {
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let program = Program { folder, source, argument };
    let watched = program.build(&format!("{name}-tsan"), Path::new("clang-22"), &["-fsanitize=thread"])?;
    let looked_at = program.build(&format!("{name}-online"), &release("foretell"), &["cc"])?;
    let watched = program.best(&watched, Way::Plain)?;
    let looked_at = program.best(&looked_at, Way::Detecting)?;
    record.add(Row::times(
        format!("online, {name} over ThreadSanitizer"),
        1e3 * looked_at,
        1e3 * watched,
        Some(Target::AtMost(2.0)),
    ));
    Ok(())
}

/// All programs, each with how much it has to do.
fn sources() -> Result<Vec<(PathBuf, &'static str)>, String> {
    let folder = root().join("bench/native/mixed");
    let failed = |error| format!("{}: {error}", folder.display());
    let mut mixed = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        mixed.push((entry.map_err(failed)?.path(), MIXED));
    }
    mixed.sort();
    mixed.insert(0, (root().join("bench/native/work.c"), WORK));
    Ok(mixed)
}
