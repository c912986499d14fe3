//! `plan`, `predict --plan`, `merge`: the same report whichever machine does which part, and no answer from files
//! that are not what they should be.

use std::fs;
use std::path::Path;
use std::process::Command;

use foretell_testkit::tiny::{self, Features, Shape};
use serde_json::Value;

use crate::{Ran, file, folder, foretell, repository};

/// A trace of every operation, cut into shards of this length.
fn planned(folder: &Path, events: usize, shard: &str) -> (String, String) {
    let features = Features { values: true, branches: true, ..Features::ALL };
    let shape = Shape { locations: Some(40), vars: 9, ..Shape::new(features, events) };
    let trace = file(folder, "trace.std", tiny::trace(5, shape));
    let plan = folder.join("plan").display().to_string();
    let ran = foretell(&["plan", &trace, "-o", &plan, "--shard-events", shard]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    (trace, plan)
}

/// The reports of all of so many shares.
fn parts(folder: &Path, plan: &str, of: usize) -> Vec<String> {
    let part = |number: usize| {
        let path = folder.join(format!("part-{number}-{of}.json")).display().to_string();
        let share = format!("{number}/{of}");
        let ran = foretell(&["predict", "--plan", plan, "--shard", &share, "-o", &path]);
        assert_ne!(ran.code, 2, "{}", ran.err);
        path
    };
    (1..=of).map(part).collect()
}

fn merged(parts: &[String]) -> Ran {
    let parts = parts.iter().map(String::as_str);
    foretell(&[&["merge", "--format", "json"], &parts.collect::<Vec<_>>()[..]].concat())
}

#[test]
fn the_report_is_the_same_for_every_share_and_order() {
    let folder = folder("shards");
    let (trace, plan) = planned(&folder, 400, "60");
    let all = merged(&parts(&folder, &plan, 1));
    let report = all.json();
    let races = report["races"].as_array().expect("races");
    assert!(!races.is_empty() && all.code == 1, "{}", all.out);
    for of in [2, 5] {
        let mut parts = parts(&folder, &plan, of);
        parts.rotate_left(1);
        parts.push(parts[0].clone());
        assert_eq!(merged(&parts).out, all.out, "{of} shares");
    }
    // The witnesses are those of the whole trace: its referee accepts them.
    let path = file(&folder, "report.json", &all.out);
    for number in 1..=races.len().min(5) {
        let ran = foretell(&["explain", &path, "--race", &number.to_string(), "--trace", &trace]);
        assert!(ran.code == 0 && ran.out.contains("the referee accepts the proof"), "{}{}", ran.out, ran.err);
    }
}

#[test]
fn what_is_damaged_missing_or_foreign_is_an_error() {
    let folder = folder("damaged_shards");
    let (trace, plan) = planned(&folder, 120, "40");
    let predict = || foretell(&["predict", "--plan", &plan]);
    let failed = |ran: Ran, word: &str| {
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.contains(word) && ran.out.is_empty(), "{word}: {}{}", ran.err, ran.out);
    };
    failed(foretell(&["plan", &trace, "-o", &plan]), "not empty");
    let two = parts(&folder, &plan, 2);
    failed(merged(&two[..1]), "missing");
    failed(merged(std::slice::from_ref(&trace)), "no report of shards");

    let shard = Path::new(&plan).join("shard-00001");
    let intact = fs::read(&shard).expect("a shard");
    let middle = intact.len() / 2;
    let changed = |at: usize| {
        let mut bytes = intact.clone();
        bytes[at] ^= 1;
        bytes
    };
    for (bytes, word) in [
        (changed(middle), "damaged"),
        (intact[..middle].to_vec(), "damaged"),
        (changed("foretell shard\n".len()), "version"),
        (changed(0), "not a shard"),
        (fs::read(Path::new(&plan).join("shard-00000")).expect("a shard"), "not one of this plan"),
    ] {
        fs::write(&shard, bytes).expect("a file");
        failed(predict(), word);
    }
    fs::remove_file(&shard).expect("it was there");
    failed(predict(), "shard-00001");
    fs::write(&shard, &intact).expect("a file");
    assert_ne!(predict().code, 2);

    let list = Path::new(&plan).join("plan.json");
    let text = fs::read_to_string(&list).expect("a plan");
    for (text, word) in [
        (text.replace("\"has_branches\":true", "\"has_branches\":false"), "damaged"),
        (text.replace("\"foretell_plan\":1", "\"foretell_plan\":2"), "version"),
        (text[..text.len() / 2].to_string(), "damaged"),
        ("{}".to_string(), "not a plan"),
    ] {
        fs::write(&list, text).expect("a file");
        failed(predict(), word);
    }
    fs::remove_file(&list).expect("it was there");
    failed(predict(), "no complete plan");
}

/// Runs a command of a shell in this folder, where `foretell` is the program.
fn shell(folder: &Path, command: &str, variables: &[(&str, String)]) {
    let program = Path::new(env!("CARGO_BIN_EXE_foretell")).parent().expect("a folder");
    let path = std::env::var("PATH").expect("there is one");
    let status = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", program.display()))
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .status();
    assert!(status.expect("a shell").success(), "{command}");
}

#[test]
fn what_clusters_are_told_gives_the_same_report() {
    let folder = folder("clusters");
    let (trace, plan) = planned(&folder, 300, "60");
    let all = merged(&parts(&folder, &plan, 1));
    let read = |name: &str| {
        let path = repository().join("examples/cluster").join(name);
        fs::read_to_string(&path).expect("an example")
    };
    let part_files = |numbers: std::ops::RangeInclusive<usize>| -> Vec<String> {
        numbers.map(|number| folder.join(format!("part-{number}.json")).display().to_string()).collect()
    };
    fs::rename(&plan, folder.join("shards")).expect("a folder");
    for task in 1..=3 {
        let variables =
            [("SLURM_ARRAY_TASK_ID", task.to_string()), ("SLURM_ARRAY_TASK_COUNT", "3".to_string())];
        shell(&folder, &read("slurm.sh"), &variables);
    }
    assert_eq!(merged(&part_files(1..=3)).out, all.out);

    // The words after `args`, as YAML joins them.
    let job = read("kubernetes.yaml");
    let (_, args) = job.split_once("args:\n            - ").expect("a command");
    let (args, _) = args.split_once("          resources:").expect("its end");
    let words: Vec<&str> = args.split_whitespace().collect();
    let command = words.join(" ").replace("/64", "/4");
    for index in 0..4 {
        shell(&folder, &command, &[("JOB_COMPLETION_INDEX", index.to_string())]);
    }
    assert_eq!(merged(&part_files(0..=3)).out, all.out);

    fs::remove_dir_all(folder.join("shards")).expect("it was there");
    let binary = folder.join("trace.ftr").display().to_string();
    assert_eq!(foretell(&["trace", "convert", &trace, "-o", &binary]).code, 0);
    let matrix = read("matrix.yml");
    for line in matrix.lines().filter_map(|line| line.trim().strip_prefix("- run: ")) {
        let shares = if line.contains("matrix.share") { 1..=4 } else { 1..=1 };
        for share in shares {
            let line = line.replace("${{ matrix.share }}", &share.to_string());
            // Shards as short as those above.
            shell(&folder, &line.replace(".ftr -o shards", ".ftr -o shards --shard-events 60"), &[]);
        }
    }
    let merged = fs::read_to_string(folder.join("report.json")).expect("a report");
    let merged: Value = serde_json::from_str(&merged).expect("JSON");
    assert_eq!(merged["races"], all.json()["races"]);
}

/// The races of a report, by locations.
fn locations(ran: &Ran) -> Vec<(String, String)> {
    let report = ran.json();
    let text = |access: &Value| access["location"].as_str().expect("a location").to_string();
    let races = report["races"].as_array().expect("races").iter();
    let mut pairs: Vec<_> = races
        .map(|race| {
            let (a, b) = (text(&race["first"]), text(&race["second"]));
            (a.clone().min(b.clone()), a.max(b))
        })
        .collect();
    pairs.sort();
    pairs
}

/// A report without what depends on the machine.
fn without_times(ran: &Ran) -> Value {
    let mut report = ran.json();
    let stats = report["stats"].as_object_mut().expect("figures");
    stats.retain(|name, _| !["seconds", "peak_memory_bytes"].contains(&name.as_str()));
    report
}

#[test]
fn a_trace_that_does_not_fit_is_analysed_in_shards() {
    let folder = folder("too_large");
    // There is room for 133 events, and for shards of an eighth of that.
    let (trace, plan) = planned(&folder, 400, "16");
    let small = ["--memory", "20000", "--jobs", "1", "--format", "json", trace.as_str()];
    let predict = |more: &[&str]| foretell(&[&["predict"], more, &small[..]].concat());
    let rv = predict(&["-t", "rv"]);
    assert_eq!(rv.json()["window"], 16, "{}", rv.out);
    assert_eq!(locations(&rv), locations(&merged(&parts(&folder, &plan, 1))));
    let auto = predict(&[]);
    let (all, of_rv) = (locations(&auto), locations(&rv));
    assert!(of_rv.iter().all(|pair| all.contains(pair)), "{all:?} {of_rv:?}");

    // What was found is kept, and what was lost or damaged of it is found again.
    let state = folder.join("state").display().to_string();
    let resumed = || predict(&["-t", "rv", "--state", &state]);
    assert_eq!(without_times(&resumed()), without_times(&rv));
    let kept = |shard: u32| folder.join(format!("state/shard-{shard:05}.json"));
    fs::remove_file(kept(2)).expect("it was kept");
    fs::write(kept(3), fs::read_to_string(kept(3)).expect("it was kept").replace("event", "even"))
        .expect("a file");
    let again = resumed();
    assert!(again.err.contains("continues"), "{}", again.err);
    assert_eq!(without_times(&again), without_times(&rv));
    assert!(kept(2).is_file());
    let other = predict(&["-t", "mcm", "--state", &state]);
    assert!(other.code == 2 && other.err.contains("another analysis"), "{}", other.err);
}
