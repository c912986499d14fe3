//! `foretell run --evidence FILE.tar.gz`: all that is needed to look into a run elsewhere, in one file. A race that the
//! program does not follow may be a bug of foretell, and is asked for in this form.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use foretell_report::{Report, json};

use super::record::{self, Folder};
use crate::args::{Order, RunArgs};
use crate::error::Failure;
use crate::output;

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

/// A word as a shell takes it.
fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
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
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(target);
    let file = file.map_err(|error| Failure::file(target, "write", error))?;
    let packed = Command::new("tar").arg("-cz").arg("-C").arg(folder).arg(NAME).stdout(file).status();
    match packed {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            Err(Failure::Environment(format!("cannot write {}: tar ended with {status}", target.display())))
        }
        Err(error) => {
            Err(Failure::Environment(format!("cannot run tar to write {}: {error}", target.display())))
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for word in ["./a-b", "two words", "it's", "", "$HOME", "a\"b"] {
            let shown = quoted(OsStr::new(word));
            let told = Command::new("sh").arg("-c").arg(format!("printf %s {shown}")).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&told.stdout), word, "{shown}");
        }
    }
}
