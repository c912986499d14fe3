//! The C library that packages are built against: that of Debian 11, so that they also run on systems of its age.
//!
//! Headers and libraries are unpacked from Debian's packages into a folder; nothing is installed, and no rights are
//! needed. Clang compiles and links with them.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::process::{must, told};

use super::files::{Build, target, text, write};

/// The system whose C library it is.
pub(super) const RELEASE: &str = "bullseye";
pub(super) const ARCHIVE: &str = "http://deb.debian.org/debian";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// What a C++ program is compiled and linked with.
const PACKAGES: [&str; 7] =
    ["libc6", "libc6-dev", "linux-libc-dev", "libgcc-s1", "libgcc-10-dev", "libstdc++6", "libstdc++-10-dev"];

/// How packages are built.
pub(super) fn build(profile: &'static str) -> Result<Build, String> {
    let target = target().join("portable");
    let root = prepare(&target.join("sysroot"))?;
    let option = format!("--sysroot={}", root.display());
    let linker = format!("CARGO_TARGET_{}_UNKNOWN_LINUX_GNU_LINKER", std::env::consts::ARCH.to_uppercase());
    let variables = [
        ("CC", "clang-22".to_string()),
        ("CXX", "clang++-22".to_string()),
        ("CFLAGS", option.clone()),
        ("CXXFLAGS", option.clone()),
        (linker.as_str(), "clang-22".to_string()),
        ("RUSTFLAGS", format!("-Clink-arg={option}")),
    ];
    let variables = variables.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    Ok(Build { profile, variables, target })
}

/// The folder with headers and libraries, which is made if need be.
fn prepare(folder: &Path) -> Result<PathBuf, String> {
    let (root, done) = (folder.join(RELEASE), folder.join(RELEASE).join("complete"));
    if done.is_file() {
        return Ok(root);
    }
    // What an interrupted attempt has left. It may not be there.
    let _ = fs::remove_dir_all(folder);
    for package in download(&folder.join("packages"))? {
        must("dpkg-deb", &["--extract", text(&package), text(&root)])?;
    }
    make_links_relative(&root)?;
    write(&done, "")?;
    Ok(root)
}

/// By apt with lists and settings of its own, which checks signatures.
fn download(folder: &Path) -> Result<Vec<PathBuf>, String> {
    for place in ["lists/partial", "cache/archives/partial"] {
        write(&folder.join(place).join("made"), "")?;
    }
    write(&folder.join("status"), "")?;
    write(&folder.join("sources.list"), &format!("deb [signed-by={KEYS}] {ARCHIVE} {RELEASE} main\n"))?;
    let at = |name: &str| folder.join(name).display().to_string();
    let settings = [
        format!("Dir::Etc::SourceList={}", at("sources.list")),
        "Dir::Etc::SourceParts=-".to_string(),
        format!("Dir::State::Lists={}", at("lists")),
        format!("Dir::State::Status={}", at("status")),
        format!("Dir::Cache={}", at("cache")),
        "APT::Sandbox::User=".to_string(),
    ];
    let options: Vec<&str> = settings.iter().flat_map(|setting| ["-o", setting]).collect();
    must("apt-get", &[&options[..], &["--quiet", "update"]].concat())?;
    let uris = told("apt-get", &[&options[..], &["--print-uris", "download"], &PACKAGES].concat())?;
    let mut packages = Vec::new();
    for line in uris.lines() {
        let mut words = line.split_whitespace();
        let (Some(address), Some(name)) = (words.next(), words.next()) else { continue };
        let package = folder.join(name);
        must(
            "curl",
            &["--fail", "--silent", "--show-error", "--output", text(&package), address.trim_matches('\'')],
        )?;
        packages.push(package);
    }
    if packages.len() == PACKAGES.len() {
        Ok(packages)
    } else {
        Err(format!("apt-get names other packages:\n{uris}"))
    }
}

/// `libm.so -> /lib/x86_64-linux-gnu/libm.so.6` would lead out of the folder.
fn make_links_relative(root: &Path) -> Result<(), String> {
    let links = told("find", &[text(root), "-type", "l", "-lname", "/*"])?;
    for link in links.lines() {
        let target = fs::read_link(link).map_err(|error| format!("cannot read {link}: {error}"))?;
        let inside = root.join(target.strip_prefix("/").unwrap_or(&target));
        must("ln", &["--symbolic", "--force", "--relative", "--no-target-directory", text(&inside), link])?;
    }
    Ok(())
}
