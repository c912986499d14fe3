//! What a program costs that can be recorded: to build it, to run it, to record it in both orders, to look for races
//! in it; each beside ThreadSanitizer, all in one run.
//!
//! The programs are those of the recorder's benchmark and of `bench/native/mixed`, and three that are fetched as Debian
//! sources if that is possible.

use std::fs;
use std::path::{Path, PathBuf};

use super::asked::ready_for_programs;
use super::cpu::CpuTime;
use super::debian::PACKAGES;
use super::native::{Effort, Program, Taken, Way, clear, count};
use super::online;
use super::record::{Record, Row, Target};
use xtask::process::release;

/// What is measured of each program, and what it should be: in the mean, and at worst.
const FIGURES: [(&str, Option<Target>, Option<Target>); 6] = [
    ("build over ThreadSanitizer", Some(Target::AtMost(1.3)), None),
    ("not recording over plain", Some(Target::AtMost(1.2)), None),
    ("recording (serial) over ThreadSanitizer", Some(Target::AtMost(1.0)), Some(Target::AtMost(2.0))),
    ("online detection over ThreadSanitizer", Some(Target::AtMost(1.0)), None),
    ("recording (striped) over ThreadSanitizer", Some(Target::AtMost(2.0)), None),
    ("bytes of log an event", Some(Target::AtMost(1.0)), None),
];

/// CPU time is counted in hundredths of a second: of less than so many milliseconds nothing can be said.
const SHORTEST: f64 = 25.0;

/// All figures of all programs, with their geometric means and the worst of them.
pub(crate) fn all(record: &mut Record) -> Result<(), String> {
    ready_for_programs()?;
    let folder = release("bench-native");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found: [Vec<f64>; FIGURES.len()] = Default::default();
    for (name, program) in programs(record, &folder)? {
        for ((what, ..), (list, row)) in FIGURES.iter().zip(found.iter_mut().zip(figures(&program)?)) {
            let Figure { figure, base, is_cut } = row;
            let at_least = if is_cut { " (ended before it was done)" } else { "" };
            if base < SHORTEST {
                record.note(&format!("{name}, {what}: too short to tell, {figure:.0} over {base:.0} ms"));
                continue;
            }
            record.add(Row::counts(format!("{name}, {what}{at_least}"), figure, base, None));
            list.push(figure / base);
        }
    }
    for ((what, mean, worst), list) in FIGURES.into_iter().zip(found) {
        let largest = list.iter().copied().fold(0.0, f64::max);
        record.add(Row::summary(format!("all, {what}, geometric mean"), geometric_mean(&list), mean));
        record.add(Row::summary(format!("all, {what}, worst"), largest, worst));
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "there are a dozen")]
fn geometric_mean(figures: &[f64]) -> f64 {
    (figures.iter().map(|figure| figure.ln()).sum::<f64>() / figures.len().max(1) as f64).exp()
}

/// The programs that are there. That one cannot be fetched is said.
fn programs<'a>(record: &mut Record, folder: &'a Path) -> Result<Vec<(String, Program<'a>)>, String> {
    let (mut programs, effort) = (Vec::new(), Effort::of(record.is_quick()));
    for (source, work) in online::sources()? {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (options, arguments) = (Vec::new(), vec![work.to_string()]);
        programs.push((name, Program { folder, sources: vec![source], options, arguments, effort }));
    }
    for package in PACKAGES {
        let sources = match package.sources(folder) {
            Ok(sources) => sources,
            Err(why) => {
                record.note(&format!("{}: {why}", package.name));
                continue;
            }
        };
        let input = folder.join("input");
        let filled = |argument: &&str| match *argument {
            "INPUT" => write_input(&input, package.input).map(|()| input.display().to_string()),
            other => Ok(other.to_string()),
        };
        let arguments = package.arguments.iter().map(filled).collect::<Result<_, _>>()?;
        let options = package.options.iter().map(ToString::to_string).collect();
        // Where it keeps what it works on.
        fs::create_dir_all(folder.join("testdb"))
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        programs.push((package.name.to_string(), Program { folder, sources, options, arguments, effort }));
    }
    Ok(programs)
}

/// Bytes that can be compressed, but not to nothing: the beginning of a program.
fn write_input(path: &Path, bytes: usize) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", path.display());
    let mut content = fs::read(release("libforetell_llvm.so")).map_err(failed)?;
    content.truncate(bytes);
    fs::write(path, content).map_err(failed)
}

/// What one program costs: pairs, of which the second one is what the first is compared with, milliseconds but for the
/// log, which is bytes and events; and whether the first is only the time until the run was ended.
fn figures(program: &Program<'_>) -> Result<[Figure; FIGURES.len()], String> {
    let build = |name: &str, compiler: PathBuf, options: &[&str]| -> Result<(PathBuf, f64), String> {
        let begin = CpuTime::of_children();
        let built = program.build(name, &compiler, options)?;
        Ok((built, 1e3 * begin.elapsed()))
    };
    let (plain, _) = build("plain", "clang-22".into(), &[])?;
    let (watched, watched_build) = build("tsan", "clang-22".into(), &["-fsanitize=thread"])?;
    let (ours, our_build) = build("recorded", release("foretell"), &["cc"])?;
    let plain = 1e3 * program.best(&plain, Way::Plain)?.seconds;
    let watched = 1e3 * program.best(&watched, Way::Plain)?.seconds;
    let over = |base: f64, way: Way| -> Result<Figure, String> {
        let Taken { seconds, is_cut } = program.best(&ours, way)?;
        Ok(Figure { figure: 1e3 * seconds, base, is_cut })
    };
    let idle = over(plain, Way::Plain)?;
    let online = over(watched, Way::Detecting)?;
    let striped = over(watched, Way::Recorded { order: "striped" })?;
    let serial = over(watched, Way::Recorded { order: "serial" })?;
    let (events, bytes) = count(program.folder)?;
    clear(program.folder)?;
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let log = Figure { figure: bytes as f64, base: events.max(1) as f64, is_cut: false };
    let build = Figure { figure: our_build, base: watched_build, is_cut: false };
    Ok([build, idle, serial, online, striped, log])
}

/// What something costs beside something else.
#[derive(Clone, Copy)]
struct Figure {
    figure: f64,
    base: f64,
    /// It was not done in time.
    is_cut: bool,
}
