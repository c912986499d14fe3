//! `cargo xtask package`: everything that a user needs, in the forms in which users install programs.
//!
//! * [`files`]: what is built and stripped, laid out as below `/usr`
//! * [`sysroot`]: the C library that packages are built against
//! * [`glibc`]: the oldest C library that it runs with
//! * [`check`]: each package, installed where nothing else is, and the tutorial run from there
//! * [`old`]: the same on the oldest system that is supported

mod check;
mod files;
mod glibc;
mod old;
mod sysroot;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::process::{must, root, told};

/// The version of all packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Builds all packages in `target/package`, and tries them if that is asked for.
pub(crate) fn run(options: &[String]) -> Result<ExitCode, String> {
    let (mut is_checked, mut profile) = (false, "release");
    for option in options {
        match option.as_str() {
            "--check" => is_checked = true,
            // Not for users: packages that are built in a minute, to try the packaging itself.
            "--quick" => profile = "quick",
            other => return Err(format!("unknown option `{other}`; expected --check or --quick")),
        }
    }
    let packages = build(profile)?;
    if is_checked {
        check::all(&packages)?;
        old::check(&packages)?;
    }
    for path in [&packages.tarball, &packages.wheel, &packages.debian, &packages.debug] {
        let size = path.metadata().map_or(0, |about| about.len());
        println!("{:>6.1} MB  {}", size as f64 / 1e6, path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Installs what is in the packages, as far as it can be built here.
pub(crate) fn install(options: &[String]) -> Result<ExitCode, String> {
    let prefix = match options {
        [] => cargo_home()?,
        [option, folder] if option == "--prefix" => PathBuf::from(folder),
        _ => return Err("expected nothing, or --prefix FOLDER".to_string()),
    };
    let folder = files::target().join("install");
    let staged = files::stage(&files::Build::here("release"), &folder)?;
    files::copy_tree(&staged.root, &prefix)?;
    println!("foretell is installed in {}; what works here: foretell doctor", prefix.display());
    Ok(ExitCode::SUCCESS)
}

/// Where cargo installs programs.
fn cargo_home() -> Result<PathBuf, String> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = || std::env::home_dir().map(|home| home.join(".cargo"));
    named.or_else(usual).ok_or_else(|| "there is no home folder; name one with --prefix".to_string())
}

/// Where the packages are.
struct Packages {
    tarball: PathBuf,
    wheel: PathBuf,
    debian: PathBuf,
    /// The debug information of all of them.
    debug: PathBuf,
}

fn build(profile: &'static str) -> Result<Packages, String> {
    let folder = files::target().join("package");
    // What an earlier version was called would stay beside the new one.
    let _ = fs::remove_dir_all(&folder);
    let staged = files::stage(&sysroot::build(profile)?, &folder)?;
    let libc = glibc::needed(&staged.binaries())?;
    println!("needs glibc {}.{}", libc.0, libc.1);
    Ok(Packages {
        tarball: tarball(&folder, &staged)?,
        wheel: wheel(&folder, &staged, libc)?,
        debian: debian(&folder, &staged, libc)?,
        debug: debug(&folder)?,
    })
}

fn tarball(folder: &Path, staged: &files::Staged) -> Result<PathBuf, String> {
    let name = format!("foretell-{VERSION}-{}-linux-gnu", std::env::consts::ARCH);
    let inside = folder.join(&name);
    files::copy_tree(&staged.root, &inside.join("files"))?;
    files::copy(&root().join("packaging/install.sh"), &inside.join("install.sh"))?;
    archive(folder, &name)
}

fn debug(folder: &Path) -> Result<PathBuf, String> {
    archive(folder, files::DEBUG)
}

fn archive(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let path = folder.join(format!("{name}.tar.gz"));
    must("tar", &["--owner=0", "--group=0", "-C", files::text(folder), "-czf", files::text(&path), name])?;
    Ok(path)
}

fn wheel(folder: &Path, staged: &files::Staged, (major, minor): glibc::Version) -> Result<PathBuf, String> {
    let platform = format!("manylinux_{major}_{minor}_{}", std::env::consts::ARCH);
    let script = root().join("packaging/wheel.py");
    let words = [files::text(&script), files::text(&staged.root), VERSION, &platform, files::text(folder)];
    Ok(PathBuf::from(told("python3", &words)?.trim()))
}

/// A package for Debian and Ubuntu. The compiler is recommended only: traces can be analysed without.
fn debian(folder: &Path, staged: &files::Staged, (major, minor): glibc::Version) -> Result<PathBuf, String> {
    let architecture = told("dpkg", &["--print-architecture"])?.trim().to_string();
    let inside = folder.join("debian");
    files::copy_tree(&staged.root, &inside.join("usr"))?;
    for page in files::list(&inside.join("usr/share/man"))? {
        must("gzip", &["-9n", files::text(&page)])?;
    }
    let control = format!(
        "Package: foretell\n\
         Version: {VERSION}\n\
         Architecture: {architecture}\n\
         Section: devel\n\
         Priority: optional\n\
         Maintainer: The developers of foretell <foretell@localhost>\n\
         Depends: libc6 (>= {major}.{minor}), libgcc-s1, libstdc++6\n\
         Recommends: clang-22 | clang-19, z3\n\
         Suggests: gdb, cargo\n\
         Description: predicts data races, with a proof for each\n \
         Records one run of a multithreaded program in C, C++ or Rust, and proves which\n \
         accesses could race in another schedule of the same program.\n"
    );
    files::write(&inside.join("DEBIAN/control"), &control)?;
    let package = folder.join(format!("foretell_{VERSION}_{architecture}.deb"));
    let words = ["--build", "--root-owner-group", files::text(&inside), files::text(&package)];
    must("dpkg-deb", &words)?;
    Ok(package)
}
