//! Which reads matter to what comes after them, from the source to the trace.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use foretell_trace::format::open;
use foretell_trace::{Event, EventId, Op, Trace};

use crate::{build, foretell, is_ready, programs};

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

/// Figure 2 of ReconP's paper, once the threads have taken turns as there: the third one has found what the second one wrote.
#[test]
fn a_race_behind_reads_that_do_not_matter_is_found_by_who_knows_them() {
    if !is_ready() {
        return;
    }
    let program = build("figures/reconp_figure2.c");
    let trace = format!("{program}.std");
    let races = |technique: &str| {
        let report = foretell(&["predict", "--no-progress", "-t", technique, "--format", "json", &trace]);
        let report: serde_json::Value = serde_json::from_slice(&report.stdout).expect("a report");
        let of_figure = |race: &&serde_json::Value| {
            let is_at = |access: &str, line: &str| {
                race[access]["location"].as_str().is_some_and(|location| location.contains(line))
            };
            is_at("first", ".c:10:") && is_at("second", ".c:31:")
        };
        report["races"].as_array().expect("races").iter().filter(of_figure).count()
    };
    for seed in 0..300 {
        foretell(&["record", "--seed", &seed.to_string(), "-o", &trace, "--", &program]);
        if ["m2", "seqcheck", "rv"].iter().all(|technique| races(technique) == 0) && races("reconp") == 1 {
            assert_eq!(races("rv-nre"), 1);
            return;
        }
    }
    panic!("the threads never took turns as in the figure");
}
