//! What it costs to look for races while a program runs, beside what ThreadSanitizer costs: the program of the
//! recorder's benchmark, and those of `bench/native/mixed`, which meet at locks and queues most of the time.

use std::fs;
use std::path::{Path, PathBuf};

use super::asked::ready_for_programs;
use super::native::{Effort, Program, Way};
use super::record::{Record, Row, Target};
use xtask::process::{release, root};

/// How much each program has to do at least,
const WORK: u32 = 200;
const MIXED: u32 = 60_000;
/// and until ThreadSanitizer takes so many seconds: of less, a good part is noise and the beginning of the program.
const LONG_ENOUGH: f64 = 0.3;
/// But not more than so many times as much: not all programs do more if they are asked to.
const MOST_TIMES: u32 = 16;

/// Looking for races over ThreadSanitizer in CPU time.
pub(crate) fn detecting(record: &mut Record) -> Result<(), String> {
    ready_for_programs()?;
    let folder = release("bench-online");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (source, least) in sources()? {
        compare(record, &folder, &source, least)?;
    }
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn compare(record: &mut Record, folder: &Path, source: &Path, least: u32) -> Result<(), String> {
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (sources, arguments) = (vec![source.to_path_buf()], vec![least.to_string()]);
    let effort = Effort::of(record.is_quick());
    let mut program = Program { folder, sources, options: Vec::new(), arguments, effort };
    let watched = program.build(&format!("{name}-tsan"), Path::new("clang-22"), &["-fsanitize=thread"])?;
    let looked_at = program.build(&format!("{name}-online"), &release("foretell"), &["cc"])?;
    let mut work = least;
    while work < MOST_TIMES * least && program.run(&watched, Way::Plain)? < LONG_ENOUGH {
        work *= 2;
        program.arguments = vec![work.to_string()];
    }
    let [watched, looked_at] =
        program.best_of_both([(&watched, Way::Plain), (&looked_at, Way::Detecting)])?;
    record.add(Row::times(
        format!("online, {name} {work} over ThreadSanitizer"),
        1e3 * looked_at,
        1e3 * watched,
        Some(Target::AtMost(2.0)),
    ));
    Ok(())
}

/// All programs, each with how much it has to do at least.
pub(super) fn sources() -> Result<Vec<(PathBuf, u32)>, String> {
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
