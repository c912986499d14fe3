//! Which reads matter to what comes after them, from the source to the trace.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use foretell_trace::format::open;
use foretell_trace::{Event, EventId, Op, Trace};

use crate::{build, build_at, foretell, is_ready, programs};

/// A recorded program, whose lines are known by the comments at their ends.
struct Run {
    source: String,
    trace: Trace,
}

impl Run {
    fn new(program: &str, level: &str) -> Run {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let path = programs().join("depend").join(program);
        let binary = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("depend{number}"));
        let (source, binary) = (path.display().to_string(), binary.display().to_string());
        let built = foretell(&["cc", level, &source, "-o", &binary]);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let recording = format!("{binary}.std");
        let recorded = foretell(&["record", "-o", &recording, "--", &binary]);
        assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
        let file = fs::File::open(&recording).expect("a recording");
        let trace = Trace::read(open(Box::new(file), None).expect("a format")).expect("a trace");
        Run { source: fs::read_to_string(path).expect("a source"), trace }
    }

    /// What is said at the end of the line that an event comes from.
    fn words(&self, event: Event) -> &str {
        let place = self.trace.names().symbol_text(event.loc.0).to_string();
        // A fence also says what it is for.
        let place = place.split(" (fence").next().unwrap_or_default();
        let line = place.rsplit(':').nth(1).and_then(|line| line.parse::<usize>().ok());
        let text = line.and_then(|line| self.source.lines().nth(line - 1)).unwrap_or_default();
        text.rsplit_once("// ").map_or("", |(_, words)| words)
    }

    /// The events of the first thread that was started.
    fn events(&self) -> impl Iterator<Item = (EventId, Event)> {
        let thread = self.trace.names().threads.get("T1").expect("a thread");
        self.trace.iter().filter(move |(_, event)| event.thread == thread)
    }

    /// The line from which on what was read in this one matters, and the lines that write what was made of it.
    fn fate(&self, line: &str) -> (Option<&str>, Vec<&str>) {
        let dependence = self.trace.dependence().expect("it is known");
        let is_read = |op: Op| op.access().is_some_and(|access| access.kind.reads());
        let reads = self.events().filter(|&(_, event)| is_read(event.op) && self.words(event) == line);
        let reads: Vec<EventId> = reads.map(|(id, _)| id).collect();
        assert!(!reads.is_empty(), "nothing was read in {line:?}");
        let steered = reads.iter().filter_map(|&read| dependence.steered_by(read)).min();
        let steered = steered.map(|first| {
            let is_told = |op: Op| !matches!(op, Op::Branch | Op::Enter(_) | Op::Exit(_));
            let after = self.events().find(|&(id, event)| id >= first && is_told(event.op));
            after.map_or("", |(_, event)| self.words(event))
        });
        let mut written = Vec::new();
        for (id, event) in self.events() {
            let writes = event.op.access().is_some_and(|access| access.kind.writes());
            let value = dependence.reads(dependence.value_of(id)).unwrap_or_default();
            if writes && value.iter().any(|read| reads.contains(read)) {
                written.push(self.words(event));
            }
        }
        written.dedup();
        (steered, written)
    }
}

#[test]
fn values_are_followed_to_where_they_matter() {
    if !is_ready() {
        return;
    }
    for level in ["-O0", "-O2"] {
        let run = Run::new("values.c", level);
        let fate = |line: &str| run.fate(line);
        assert_eq!(fate("unused"), (None, vec![]));
        assert_eq!(fate("stored"), (None, vec!["stored"]));
        assert_eq!(fate("decides"), (Some("decided"), vec![]));
        assert_eq!(fate("index"), (Some("index"), vec![]));
        assert_eq!(fate("pointer"), (Some("pointer"), vec![]));
        assert_eq!(fate("local"), (None, vec!["from local"]));
        assert_eq!(fate("copied"), (None, vec!["from copy"]));
        assert_eq!(fate("passed"), (None, vec!["passed"]));
        assert_eq!(fate("recursive"), (None, vec!["recursive"]));
        assert_eq!(fate("loop"), (None, vec!["from loop"]));
        assert_eq!(fate("heap"), (None, vec!["from heap"]));
        assert_eq!(fate("chosen"), (Some("chosen"), vec![]));
    }
}

#[test]
fn what_goes_to_code_that_nobody_knows_decides_what_comes_next() {
    if !is_ready() {
        return;
    }
    for level in ["-O0", "-O2"] {
        let run = Run::new("unseen.c", level);
        let fate = |line: &str| run.fate(line);
        assert_eq!(fate("before"), (Some("unseen"), vec![]));
        assert_eq!(fate("by value"), (Some("from value"), vec![]));
        assert_eq!(fate("sorted"), (Some("sort"), vec![]));
        assert_eq!(fate("size"), (Some("after size"), vec![]));
        assert_eq!(fate("printed"), (Some("printed"), vec![]));
        let (returned, _) = fate("returned");
        assert!(returned.is_some(), "who waits for the thread sees that");
    }
}

/// How many races between two lines a trace has, for a technique with its options.
fn races_of_lines(trace: &str, options: &[&str], lines: [u32; 2]) -> usize {
    let report = foretell(&[&["predict", "--no-progress", "--format", "json", trace], options].concat());
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("a report");
    let of_lines = |race: &&serde_json::Value| {
        let is_at = |access: &str, line: u32| {
            race[access]["location"]
                .as_str()
                .is_some_and(|location| location.contains(&format!(".c:{line}:")))
        };
        is_at("first", lines[0]) && is_at("second", lines[1])
    };
    report["races"].as_array().expect("races").iter().filter(of_lines).count()
}

/// Figure 2 of ReconP's paper, once the threads have taken turns as there: the third one has found what the second one
/// wrote.
#[test]
fn a_race_behind_reads_that_do_not_matter_is_found_by_who_knows_them() {
    if !is_ready() {
        return;
    }
    let program = build("figures/reconp_figure2.c");
    let trace = format!("{program}.std");
    let races = |technique: &str| races_of_lines(&trace, &["-t", technique], [10, 31]);
    for seed in 0..300 {
        foretell(&["record", "--seed", &seed.to_string(), "-o", &trace, "--", &program]);
        if ["m2", "seqcheck", "rv"].iter().all(|technique| races(technique) == 0) && races("reconp") == 1 {
            assert_eq!(races("rv-nre"), 1);
            return;
        }
    }
    panic!("the threads never took turns as in the figure");
}

/// Figure 3 of ReconP's paper, once the first thread has come before the second: that `m` is read again matters to `n`
/// only.
#[test]
fn a_race_behind_a_read_of_the_own_thread_is_found_unless_such_reads_are_all_kept() {
    if !is_ready() {
        return;
    }
    let program = build("figures/reconp_figure3.c");
    let trace = format!("{program}.std");
    let races = |how: &str| races_of_lines(&trace, &["-t", "reconp", "--dependence", how], [9, 19]);
    for seed in 0..100 {
        foretell(&["record", "--seed", &seed.to_string(), "-o", &trace, "--", &program]);
        if races("partial") == 0 && races("full") == 1 {
            assert_eq!(races("none"), 0, "then every read matters");
            return;
        }
    }
    panic!("the first thread never came before the second");
}

/// Figure 4 of ReconP's paper: the function calls itself with its arguments exchanged, and records nothing.
#[test]
fn what_a_recursion_results_in_depends_on_all_that_it_was_given() {
    if !is_ready() {
        return;
    }
    for level in ["-O0", "-O2"] {
        let program = build_at("figures/reconp_figure4.c", Some(level));
        let recording = format!("{program}.std");
        foretell(&["record", "-o", &recording, "--", &program]);
        let file = fs::File::open(&recording).expect("a recording");
        let trace = Trace::read(open(Box::new(file), None).expect("a format")).expect("a trace");
        let accesses = |name: &str| -> Vec<EventId> {
            let var = trace.names().vars.get(name);
            let of_var = |(_, event): &(EventId, Event)| event.op.access().map(|access| access.var) == var;
            trace.iter().filter(of_var).map(|(id, _)| id).collect()
        };
        let thread = trace.names().threads.get("T1").expect("a thread");
        let own = |name: &str| accesses(name).into_iter().find(|&id| trace.event(id).thread == thread);
        let dependence = trace.dependence().expect("it is known");
        let (a, b, c) = (own("a").expect("read"), own("b").expect("read"), own("c").expect("written"));
        assert_eq!(dependence.reads(dependence.value_of(c)), Some(vec![a.min(b), a.max(b)]), "{level}");
        assert_eq!((dependence.steered_by(a), dependence.steered_by(b)), (None, None), "{level}");
    }
}

#[test]
fn who_asks_for_no_dependence_gets_the_same_races_as_from_a_trace_without() {
    if !is_ready() {
        return;
    }
    let source = programs().join("figures/reconp_figure3.c").display().to_string();
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_dependence.std").display().to_string();
    let run = |options: &[&str]| {
        let report = foretell(&[&["run", "-t", "rv-nre", "--format", "json"], options, &[&source]].concat());
        let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("a report");
        report["races"].as_array().expect("races").len()
    };
    let none = run(&["--dependence", "none"]);
    assert_eq!(run(&["--dependence", "none", "--trace", &trace]), none);
    let kept = fs::read_to_string(&trace).expect("a trace");
    assert!(kept.contains("#dependence"), "a trace that is kept tells everything");
    assert!(run(&[]) >= none);
}
