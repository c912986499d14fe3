//! Samples of the families of programs that `cargo xtask native-corpus` runs as a whole.

use std::path::Path;

use foretell_testkit::native::family::{Family, Member};

use crate::{foretell, is_ready};

/// With so many seeds, programs without races have none.
const SEEDS: u64 = 3;
/// A race need not show in every run, but in one of so many.
const RUNS: &str = "10";

/// Checks these programs of a family.
fn check(family: &str, names: &[&str]) {
    let family = Family::named(family).expect("a family");
    let Some(options) = family.options().filter(|_| is_ready()) else {
        return eprintln!("skipped: the library of {} is missing", family.name);
    };
    let members = family.members();
    for name in names {
        let member = members.iter().find(|member| member.name == *name).expect("a program of the family");
        check_member(member, &options);
    }
}

fn check_member(member: &Member, options: &[String]) {
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("family_{}", member.name.replace('.', "_")));
    let (program, source) = (program.display().to_string(), member.path.display().to_string());
    let (before, after): (Vec<&str>, Vec<&str>) =
        options.iter().map(String::as_str).partition(|option| !option.starts_with("-l"));
    let arguments =
        [&[member.compiler(), member.level()], &before[..], &[&source], &after, &["-o", &program]].concat();
    let built = foretell(&arguments);
    assert!(built.status.success(), "{}: {}", member.name, String::from_utf8_lossy(&built.stderr));
    let races_in = |arguments: &[&str]| {
        let output = foretell(&[arguments, &["--format", "json", "--no-progress", "--", &program]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        member
            .races_in(&String::from_utf8_lossy(&output.stdout))
            .unwrap_or_else(|message| panic!("{} with {arguments:?}: {message}{errors}", member.name))
    };
    if member.is_racy() {
        let shown = races_in(&["hunt", "--strategy", "predict", "--runs", RUNS]);
        assert!(shown > 0, "{}", member.name);
    } else {
        for seed in 1..=SEEDS {
            races_in(&["run", "--seed", &seed.to_string()]);
        }
    }
}

#[test]
fn openmp_programs_are_understood() {
    check(
        "openmp",
        &[
            "barrier_missing_race.c",
            "barrier_norace.c",
            "doacross_norace.c",
            "dynamic_race.c",
            "helpers_norace.c",
            "lock_norace.c",
            "reduction_norace.c",
            "resources_norace.c",
            "single_norace.c",
            "task_depend_norace.c",
            "depend_other_race.c",
            "task_depend_race.c",
            "task_reduction_norace.c",
            "taskloop_norace.c",
            "threadprivate_norace.c",
        ],
    );
}

#[test]
fn glib_programs_are_understood() {
    check(
        "glib",
        &[
            "condition_norace.c",
            "loop_norace.c",
            "many_parts_race.c",
            "once_norace.c",
            "pool_norace.c",
            "pool_race.c",
            "rwlock_norace.c",
        ],
    );
}

#[test]
fn programs_in_cpp_are_understood() {
    check("cpp", &["packaged_task_race.cpp", "queue_empty_race.cpp", "queue_norace.cpp"]);
}

#[test]
fn programs_with_other_libraries_are_understood() {
    for library in ["libuv", "sqlite3", "libcrypto"] {
        check(library, &["locks_norace.c", "locks_race.c"]);
    }
    check("zlib", &["checksum_norace.c", "checksum_race.c"]);
}
