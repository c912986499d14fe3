//! What to install on this system.

use std::fs;

/// The version of LLVM that the compiler pass is made for, and that of Rust's compiler.
pub(crate) const LLVM: u32 = 22;
/// The versions that the pass can be built for, the best one first.
pub(crate) const VERSIONS: [u32; 4] = [LLVM, 21, 20, 19];
/// Where Debian and Ubuntu have it if they do not have it themselves.
const APT: &str = "if apt does not know them: https://apt.llvm.org";

/// A family of systems, and how packages are installed there.
struct Family {
    ids: &'static [&'static str],
    /// To compile programs for recording.
    compile: &'static str,
    /// To build the compiler pass itself.
    build: &'static str,
    z3: &'static str,
    gdb: &'static str,
    java: &'static str,
}

const FAMILIES: [Family; 5] = [
    Family {
        ids: &["debian", "ubuntu"],
        compile: "apt-get install clang-22 lld-22",
        build: "apt-get install clang-22 llvm-22-dev lld-22",
        z3: "apt-get install z3",
        gdb: "apt-get install gdb",
        java: "apt-get install default-jdk-headless",
    },
    Family {
        ids: &["fedora", "rhel", "centos"],
        compile: "dnf install clang lld",
        build: "dnf install clang llvm-devel lld",
        z3: "dnf install z3",
        gdb: "dnf install gdb",
        java: "dnf install java-latest-openjdk-devel",
    },
    Family {
        ids: &["arch"],
        compile: "pacman -S clang lld",
        build: "pacman -S clang llvm lld",
        z3: "pacman -S z3",
        gdb: "pacman -S gdb",
        java: "pacman -S jdk-openjdk",
    },
    Family {
        ids: &["opensuse", "suse"],
        compile: "zypper install clang22 lld22",
        build: "zypper install clang22 llvm22-devel lld22",
        z3: "zypper install z3",
        gdb: "zypper install gdb",
        java: "zypper install java-21-openjdk-devel",
    },
    Family {
        ids: &["nixos"],
        compile: "nix-shell -p llvmPackages_22.clang llvmPackages_22.lld",
        build: "nix-shell -p llvmPackages_22.llvm.dev llvmPackages_22.clang llvmPackages_22.lld",
        z3: "nix-shell -p z3",
        gdb: "nix-shell -p gdb",
        java: "nix-shell -p jdk",
    },
];

/// What this system says about itself.
pub(crate) struct System {
    text: String,
}

impl System {
    /// The system that we run on.
    pub(crate) fn this() -> System {
        let read = |path: &str| fs::read_to_string(path).ok();
        System { text: read("/etc/os-release").or_else(|| read("/usr/lib/os-release")).unwrap_or_default() }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> String {
        self.value("PRETTY_NAME").unwrap_or("an unknown system").to_string()
    }

    fn value(&self, key: &str) -> Option<&str> {
        let value = self.text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(value.trim().trim_matches(['"', '\'']))
    }

    fn family(&self) -> Option<&'static Family> {
        let like = self.value("ID_LIKE").unwrap_or_default().split(' ');
        let names: Vec<&str> = self.value("ID").into_iter().chain(like).collect();
        let is_of = |family: &&Family, name: &str| family.ids.iter().any(|id| name.starts_with(id));
        names.iter().find_map(|name| FAMILIES.iter().find(|family| is_of(family, name)))
    }

    /// How the packages are installed, if that is known.
    fn command(&self, choose: impl Fn(&'static Family) -> &'static str) -> Option<&'static str> {
        self.family().map(choose)
    }

    /// The command that installs the compiler.
    pub(crate) fn install_clang(&self) -> String {
        self.llvm(|family| family.compile, "clang and lld")
    }

    fn install_for_building(&self) -> String {
        self.llvm(|family| family.build, "clang, lld and the headers")
    }

    fn llvm(&self, choose: impl Fn(&'static Family) -> &'static str, what: &str) -> String {
        match self.command(choose) {
            Some(apt) if apt.starts_with("apt-get") => format!("{apt} ({APT})"),
            // These have one version, or a few.
            Some(command) => format!("{command} (it must be LLVM {LLVM}: clang --version)"),
            None if self.value("ID") == Some("alpine") => {
                "nothing: programs are recorded with the C library glibc only, and Alpine has musl"
                    .to_string()
            }
            None => format!("{what} of LLVM {LLVM} (https://releases.llvm.org)"),
        }
    }

    /// The command that installs the solver.
    pub(crate) fn install_z3(&self) -> String {
        self.command(|family| family.z3).unwrap_or("install z3 (https://github.com/Z3Prover/z3)").to_string()
    }

    /// The command that installs Java.
    pub(crate) fn install_java(&self) -> String {
        self.command(|family| family.java).unwrap_or("install a JDK (https://adoptium.net)").to_string()
    }

    /// The command that installs the debugger.
    pub(crate) fn install_gdb(&self) -> String {
        self.command(|family| family.gdb).unwrap_or("install gdb").to_string()
    }
}

/// What building the compiler pass needs, and how to install it here.
pub(crate) fn llvm_for_building() -> String {
    let system = System::this();
    format!("LLVM {LLVM}; on {}: {}", system.name(), system.install_for_building())
}

/// How to install the compiler that programs are recorded with.
pub(crate) fn llvm_for_compiling() -> String {
    let system = System::this();
    format!("on {}: {}", system.name(), system.install_clang())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(text: &str) -> System {
        System { text: text.to_string() }
    }

    #[test]
    fn each_system_is_told_its_own_command() {
        let clang = |text: &str| system(text).install_clang();
        assert!(clang("ID=debian\n").starts_with("apt-get install clang-22 lld-22"));
        assert!(clang("NAME=Mint\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n").starts_with("apt-get"));
        assert!(clang("ID=fedora\n").starts_with("dnf install clang lld"));
        assert!(clang("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n").starts_with("dnf"));
        assert!(clang("ID=endeavouros\nID_LIKE=arch\n").starts_with("pacman -S clang"));
        assert!(
            clang("ID=opensuse-tumbleweed\nID_LIKE='opensuse suse'\n").starts_with("zypper install clang22")
        );
        assert!(clang("ID=alpine\n").contains("musl"));
        assert!(clang("").contains("clang and lld of LLVM 22"));
        assert_eq!(system("ID=x\nPRETTY_NAME=\"The X\"\n").name(), "The X");
    }
}
