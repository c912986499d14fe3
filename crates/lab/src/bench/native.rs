//! Native programs that are built and run in several ways: plain, with `-fsanitize=thread`, and with `foretell cc`, all
//! with `-O2`; and what they leave.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use foretell_wire::Malformed;
use foretell_wire::log::module::Module;
use foretell_wire::log::{ChunkContent, Chunks};
use foretell_wire::record::{Context, Record as Logged};
use foretell_wire::settings;
use foretell_wire::site::{Site, SiteTable};

use super::cpu::CpuTime;

/// How often each way is measured; the best counts.
const RUNS: usize = 3;
/// How often two ways take turns.
const TURNS: usize = 7;
/// What a program ends with in which ThreadSanitizer has found something.
const TSAN_FOUND: i32 = 66;
/// A run is ended after so many seconds, and has taken at least the CPU time until then.
const LONGEST: &str = "120";
/// What `timeout` ends with then.
const TOO_LONG: i32 = 124;

/// A program that is measured in several ways.
pub(super) struct Program<'a> {
    /// Where it is built, and leaves its logs.
    pub(super) folder: &'a Path,
    pub(super) sources: Vec<PathBuf>,
    /// What its compiler is told beside.
    pub(super) options: Vec<String>,
    /// What it is told to do.
    pub(super) arguments: Vec<String>,
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

    /// The CPU seconds of the best of several runs.
    pub(super) fn best(&self, built: &Path, way: Way) -> Result<f64, String> {
        (0..RUNS).try_fold(f64::INFINITY, |best, _| Ok(best.min(self.run(built, way)?)))
    }

    /// The CPU seconds of the best runs of both, which take turns: other work on the machine comes and goes.
    pub(super) fn best_of_both(&self, both: [(&Path, Way); 2]) -> Result<[f64; 2], String> {
        (0..TURNS).try_fold([f64::INFINITY; 2], |[first, second], _| {
            let [one, other] = both;
            Ok([first.min(self.run(one.0, one.1)?), second.min(self.run(other.0, other.1)?)])
        })
    }

    pub(super) fn run(&self, built: &Path, way: Way) -> Result<f64, String> {
        for left in left_in(self.folder)? {
            fs::remove_file(&left).map_err(|error| format!("{}: {error}", left.display()))?;
        }
        let mut command = Command::new("timeout");
        command.arg(LONGEST).arg(built).args(&self.arguments).current_dir(self.folder);
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
        Ok(begin.elapsed())
    }
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

/// How many events the log in the folder tells of, and how many bytes it has. Decisions that only their sites tell of
/// count as well, unless nothing was read since the last one.
pub(super) fn count(folder: &Path) -> Result<(usize, u64), String> {
    let (mut events, mut bytes) = (0, 0);
    for path in files(folder, "ftraw")? {
        let log = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
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
            let record = context.decode(&mut records)?;
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
