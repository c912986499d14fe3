//! Programs that nobody here wrote, as Debian sources, where the machine's package lists lead to some.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program to fetch and build.
pub(super) struct Package {
    pub(super) name: &'static str,
    /// The folders of its sources, all of which are built, but for
    folders: &'static [&'static str],
    /// those that begin so.
    without: &'static [&'static str],
    pub(super) options: &'static [&'static str],
    /// What it is told to do; `INPUT` is a file.
    pub(super) arguments: &'static [&'static str],
    /// How many bytes that file has.
    pub(super) input: usize,
}

pub(super) const PACKAGES: [Package; 3] = [
    Package {
        name: "pigz",
        folders: &["", "zopfli/src/zopfli"],
        without: &["zopfli_bin"],
        options: &["-lz", "-lm"],
        arguments: &["-11", "-p", "4", "-c", "INPUT"],
        input: 30_000,
    },
    Package {
        name: "zstd",
        folders: &["lib/common", "lib/compress", "lib/decompress", "lib/dictBuilder", "programs"],
        without: &[],
        options: &["-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM", "-DXXH_NAMESPACE=ZSTD_"],
        arguments: &["-T4", "-5", "-B100000", "-c", "INPUT"],
        input: 1_000_000,
    },
    Package {
        name: "lmdb",
        folders: &["libraries/liblmdb"],
        without: &["mdb_", "mtest2", "mtest3", "mtest4", "mtest5", "mtest6", "sample"],
        options: &[],
        arguments: &[],
        input: 0,
    },
];

impl Package {
    /// The sources, which are fetched if they are not there yet.
    pub(super) fn sources(&self, folder: &Path) -> Result<Vec<PathBuf>, String> {
        let root = match unpacked(folder, self.name) {
            Some(root) => root,
            None => fetch(folder, self.name)?,
        };
        let mut found = Vec::new();
        for part in self.folders {
            let part = root.join(part);
            let entries = fs::read_dir(&part).map_err(|error| format!("{}: {error}", part.display()))?;
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            found.extend(paths.filter(|path| self.is_wanted(path)));
        }
        found.sort();
        Ok(found)
    }

    fn is_wanted(&self, path: &Path) -> bool {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|ending| ending == "c")
            && !self.without.iter().any(|start| name.starts_with(start))
    }
}

fn unpacked(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_it = |path: &PathBuf| {
        path.is_dir()
            && path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&format!("{name}-")))
    };
    fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(is_it)
}

/// The machine's lists name binary packages only, as a rule: the same places are asked for sources, with lists of our
/// own. A place may have lists of a release whose sources it has no longer, and those of the current one.
fn fetch(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let fetched = fetch_of(Release::Own, folder, name);
    fetched.or_else(|why| fetch_of(Release::Current, folder, name).map_err(|_| why))
}

/// Of which release the sources are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Release {
    /// The machine's.
    Own,
    /// The one that is called stable now.
    Current,
}

fn fetch_of(release: Release, folder: &Path, name: &str) -> Result<PathBuf, String> {
    let (lists, parts) = (folder.join("lists"), folder.join("parts"));
    for made in [&lists.join("partial"), &parts] {
        fs::create_dir_all(made).map_err(|error| format!("{}: {error}", made.display()))?;
    }
    ask_for_sources(release, &parts)?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(["-o", "Dir::Etc::sourcelist=/dev/null", "-o", "APT::Sandbox::User=root"]);
        command.arg("-o").arg(format!("Dir::Etc::sourceparts={}", parts.display()));
        command.arg("-o").arg(format!("Dir::State::lists={}", lists.display()));
        command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let is_fetched = apt(&["update"]) && apt(&["source", "--download-only", name]);
    let archive =
        fs::read_dir(folder).ok().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_archive = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.contains(name) && file.contains(".orig.tar.") && !file.ends_with(".asc")
    };
    let archive =
        archive.filter(|_| is_fetched).find(is_archive).ok_or("there is no source package of it here")?;
    let unpacks = Command::new("tar").arg("xf").arg(&archive).current_dir(folder).status();
    let there = unpacks.is_ok_and(|status| status.success()).then(|| unpacked(folder, name)).flatten();
    there.ok_or_else(|| format!("{} cannot be unpacked", archive.display()))
}

fn ask_for_sources(release: Release, parts: &Path) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", parts.display());
    let known = Path::new("/etc/apt/sources.list.d");
    for entry in fs::read_dir(known).map_err(failed)?.flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let text = text.replace("Types: deb\n", "Types: deb-src\n");
        let text = text.lines().map(|line| asking(release, line)).collect::<Vec<_>>().join("\n");
        fs::write(parts.join(entry.file_name()), text + "\n").map_err(failed)?;
    }
    Ok(())
}

/// A line of a list of packages, asking for the sources of this release.
fn asking(release: Release, line: &str) -> String {
    if let Some(rest) = line.strip_prefix("deb ") {
        return format!("deb-src {rest}");
    }
    match line.strip_prefix("Suites:") {
        Some(suites) if release == Release::Current => {
            let current = |suite: &str| match suite.split_once('-') {
                Some((_, part)) => format!("stable-{part}"),
                None => "stable".to_string(),
            };
            format!("Suites: {}", suites.split_whitespace().map(current).collect::<Vec<_>>().join(" "))
        }
        _ => line.to_string(),
    }
}
