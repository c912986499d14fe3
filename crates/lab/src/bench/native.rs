//! Native programs that are built and run in several ways: plain, with `-fsanitize=thread`, and with `foretell cc`, all
//! with `-O2`; and what they leave.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use foretell_wire::Malformed;
use foretell_wire::log::module::Module;
use foretell_wire::log::{ChunkContent, Chunks};
use foretell_wire::record::{Context, Record as Logged};
use foretell_wire::settings;
use foretell_wire::site::{Site, SiteTable};

use super::cpu::CpuTime;

/// How often two ways take turns.
const TURNS: usize = 7;
/// What a program ends with in which ThreadSanitizer has found something.
const TSAN_FOUND: i32 = 66;
/// So much of a log tells how long its events are: a whole number of pages.
const LONGEST_LOG: u64 = 1 << 29;
/// What `timeout` ends with then.
const TOO_LONG: i32 = 124;

/// What a figure is worth.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// How often each way is measured; the best counts.
    runs: usize,
    /// A run is ended after so many seconds, and has taken at least the CPU time until then.
    seconds: u32,
}

impl Effort {
    pub(super) fn of(is_quick: bool) -> Effort {
        if is_quick { Effort { runs: 1, seconds: 20 } } else { Effort { runs: 3, seconds: 120 } }
    }
}

/// A program that is measured in several ways.
pub(super) struct Program<'a> {
    /// Where it is built, and leaves its logs.
    pub(super) folder: &'a Path,
    pub(super) sources: Vec<PathBuf>,
    /// What its compiler is told beside.
    pub(super) options: Vec<String>,
    /// What it is told to do.
    pub(super) arguments: Vec<String>,
    pub(super) effort: Effort,
}

/// The CPU seconds of a run.
#[derive(Clone, Copy)]
pub(super) struct Taken {
    pub(super) seconds: f64,
    /// It was ended before it was done.
    pub(super) is_cut: bool,
}

/// How a program runs.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// As it is.
    Plain,
    /// Recorded, in this order.
    Recorded { order: &'static str },
    /// Looking for races in itself.
    Detecting,
}

impl Program<'_> {
    /// The program, by this compiler with these options.
    pub(super) fn build(&self, name: &str, compiler: &Path, options: &[&str]) -> Result<PathBuf, String> {
        let program = self.folder.join(name);
        let mut command = Command::new(compiler);
        command.args(options).args(["-O2", "-g", "-w"]).args(&self.sources).arg("-o").arg(&program);
        command.args(&self.options).arg("-lpthread");
        match command.status() {
            Ok(status) if status.success() => Ok(program),
            Ok(status) => {
                Err(format!("cannot build {name}: {status}; `cargo xtask setup` installs what is needed"))
            }
            Err(error) => Err(format!("cannot run {}: {error}", compiler.display())),
        }
    }

    /// The best of several runs. Where one takes too long, so would the others.
    pub(super) fn best(&self, built: &Path, way: Way) -> Result<Taken, String> {
        let mut best = self.run_until(built, way)?;
        for _ in 1..self.effort.runs {
            if best.is_cut {
                break;
            }
            best.seconds = best.seconds.min(self.run(built, way)?);
        }
        Ok(best)
    }

    /// The CPU seconds of the best runs of both, which take turns: other work on the machine comes and goes.
    pub(super) fn best_of_both(&self, both: [(&Path, Way); 2]) -> Result<[f64; 2], String> {
        (0..TURNS).try_fold([f64::INFINITY; 2], |[first, second], _| {
            let [one, other] = both;
            Ok([first.min(self.run(one.0, one.1)?), second.min(self.run(other.0, other.1)?)])
        })
    }

    pub(super) fn run(&self, built: &Path, way: Way) -> Result<f64, String> {
        self.run_until(built, way).map(|taken| taken.seconds)
    }

    fn run_until(&self, built: &Path, way: Way) -> Result<Taken, String> {
        clear(self.folder)?;
        let mut command = Command::new("timeout");
        command
            .arg(self.effort.seconds.to_string())
            .arg(built)
            .args(&self.arguments)
            .current_dir(self.folder);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        match way {
            Way::Plain => {}
            Way::Recorded { order } => {
                command.env(settings::LOG.text(), self.folder).env(settings::ORDER.text(), order);
            }
            Way::Detecting => {
                command.env(settings::LOG.text(), self.folder).env(settings::DETECT.text(), "1");
            }
        }
        let begin = CpuTime::of_children();
        let status = command.status().map_err(|error| format!("{}: {error}", built.display()))?;
        // ThreadSanitizer has a code of its own for a program with races.
        if status.code().is_none_or(|code| ![0, TSAN_FOUND, TOO_LONG].contains(&code)) {
            return Err(format!("{}: {status}", built.display()));
        }
        Ok(Taken { seconds: begin.elapsed(), is_cut: status.code() == Some(TOO_LONG) })
    }
}

/// Removes what runs have left.
pub(super) fn clear(folder: &Path) -> Result<(), String> {
    for left in left_in(folder)? {
        fs::remove_file(&left).map_err(|error| format!("{}: {error}", left.display()))?;
    }
    Ok(())
}

/// What runs have left: logs and races.
fn left_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut left = files(folder, "ftraw")?;
    left.extend(files(folder, "races")?);
    Ok(left)
}

fn files(folder: &Path, wanted: &str) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == wanted) {
            found.push(path);
        }
    }
    Ok(found)
}

/// How many events the logs in the folder tell of, and how many bytes they have: of a long one, the beginning.
/// Decisions that only their sites tell of count as well, unless nothing was read since the last one.
pub(super) fn count(folder: &Path) -> Result<(usize, u64), String> {
    let (mut events, mut bytes) = (0, 0);
    for path in files(folder, "ftraw")? {
        let mut log = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(LONGEST_LOG).read_to_end(&mut log))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        bytes += log.len() as u64;
        events += events_of(&log).map_err(|error| error.to_string())?;
    }
    Ok((events, bytes))
}

fn events_of(log: &[u8]) -> Result<usize, Malformed> {
    let (mut events, mut tables) = (0, BTreeMap::new());
    let mut chunks = Chunks::new(log)?;
    while let Some(chunk) = chunks.next_chunk()? {
        if let ChunkContent::Module(content) = chunk.content {
            let module = Module::decode(content)?;
            tables.insert(module.address, SiteTable::decode(module.table)?);
        }
    }
    let mut chunks = Chunks::new(log)?;
    while let Some(chunk) = chunks.next_chunk()? {
        let ChunkContent::Records(mut records) = chunk.content else { continue };
        let (mut context, mut has_read) = (Context::NEW, false);
        while records.first().is_some_and(|&kind| kind != 0) {
            // The beginning of a long log may end within a record.
            let Ok(record) = context.decode(&mut records) else { break };
            events += usize::from(!matches!(record, Logged::Clock(_) | Logged::Ahead(_)));
            let (Logged::Read { site, .. } | Logged::Write { site, .. }) = record else { continue };
            let about = about(&tables, site);
            events += usize::from(about.is_decided && std::mem::take(&mut has_read));
            has_read |= matches!(record, Logged::Read { .. });
            events += usize::from(about.decides.is_some() && std::mem::take(&mut has_read));
        }
    }
    Ok(events)
}

fn about(tables: &BTreeMap<u64, SiteTable>, site: u64) -> Site {
    let table = tables.range(..=site).next_back();
    let found = table.and_then(|(start, table)| table.sites.get(usize::try_from(site - start).ok()?));
    found.copied().unwrap_or_default()
}
