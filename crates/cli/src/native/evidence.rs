//! `foretell run --evidence FILE.tar.gz`: all that is needed to look into a run elsewhere, in one file. A race that the
//! program does not follow may be a bug of foretell, and is asked for in this form.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use foretell_report::{Report, json};

use super::record::{self, Folder};
use crate::args::{Order, RunArgs};
use crate::error::Failure;
use crate::output::{self, Target};
use crate::shell::quoted;

/// What the folder in the archive is called.
const NAME: &str = "foretell-evidence";
/// What the archive is called in the command that is asked for.
const ARCHIVE: &str = "evidence.tar.gz";
/// What is asked for versions.
const VERSIONS: [&[&str]; 5] = [
    &["uname", "-srvm"],
    &["cat", "/etc/os-release"],
    &["ldd", "--version"],
    &["clang-22", "--version"],
    &["rustc", "--version"],
];

/// The command that packs the evidence of this very run: the same seed gives the same run.
pub(super) fn command(args: &RunArgs) -> String {
    let mut words = vec!["foretell run --confirm --evidence".to_string(), ARCHIVE.to_string()];
    words.push(format!("--seed {}", args.schedule.seed));
    if args.schedule.schedule != "serial" {
        words.push(format!("--schedule {}", quoted(args.schedule.schedule.as_ref())));
    }
    if args.order == Order::Striped {
        words.push("--order striped".to_string());
    }
    words.push("--".to_string());
    words.push(quoted(args.program.as_os_str()));
    words.extend(args.arguments.iter().map(|argument| quoted(argument)));
    words.join(" ")
}

/// Packs logs, reports, schedules and versions. Only the user may read the archive: logs have what the program read and
/// wrote.
pub(super) fn pack(target: &Path, args: &RunArgs, logs: &Folder, reports: &[Report]) -> Result<(), Failure> {
    let packing = Folder::new()?;
    let inside = packing.path().join(NAME);
    fs::create_dir(&inside).map_err(|error| Failure::file(&inside, "make", error))?;
    let write = |name: &str, text: &str| {
        let path = inside.join(name);
        fs::write(&path, text).map_err(|error| Failure::file(&path, "write", error))
    };
    write("command.txt", &format!("{}\n", command(args)))?;
    write("versions.txt", &versions())?;
    write("report.json", &json::render(reports).map_err(Failure::rendering)?)?;
    let schedules = reports.iter().flat_map(|report| &report.races).filter_map(|race| race.schedule.as_ref());
    for (number, schedule) in (1..).zip(schedules) {
        write(&format!("race-{number}.schedule"), schedule)?;
    }
    for log in record::logs(logs)? {
        let copy = inside.join(log.file_name().unwrap_or_default());
        fs::copy(&log, &copy).map_err(|error| Failure::file(&copy, "write", error))?;
    }
    archive(packing.path(), target)?;
    output::note(&format!(
        "{}: the evidence is packed; it contains all values that the program read and wrote, also secrets: check it before you send it",
        target.display()
    ));
    Ok(())
}

/// Puts the folder into an archive.
fn archive(folder: &Path, target: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::file(target, "write", error);
    let packed = folder.join(ARCHIVE);
    let status = Command::new("tar").arg("-czf").arg(&packed).arg("-C").arg(folder).arg(NAME).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(failed(io::Error::other(format!("tar ended with {status}")))),
        Err(error) => return Err(failed(io::Error::other(format!("tar does not run: {error}")))),
    }
    Target::new(target).fill(failed, |target| {
        let copy = || io::copy(&mut File::open(&packed)?, &mut target.open_private()?);
        copy().map(drop).map_err(failed)
    })
}

/// What foretell, the system and the compilers are.
fn versions() -> String {
    let told = VERSIONS.iter().filter_map(|words| {
        let (program, arguments) = words.split_first()?;
        let ran = Command::new(program).args(arguments).stdin(Stdio::null()).output();
        let told = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned());
        Some(format!("\n$ {}\n{}", words.join(" "), told.unwrap_or_else(|error| format!("{error}\n"))))
    });
    std::iter::once(format!("foretell {}\n", env!("CARGO_PKG_VERSION"))).chain(told).collect()
}
