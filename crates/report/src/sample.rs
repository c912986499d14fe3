//! Findings for tests of renderers.

use crate::context::{Frame, HeldLock, HeldMode, Origin};
use crate::deadlock::{Deadlock, WaitingThread};
use crate::fingerprint;
use crate::hunt::{Hunt, Stopped};
use crate::observed::{Deed, Link, Observed};
use crate::report::{Candidate, Proof, Race, RacingAccess, Report, TraceInfo};
use crate::story::{Row, Story, StoryStep};

/// A race of which nothing else is known.
pub(crate) fn race(first: RacingAccess, second: RacingAccess) -> Race {
    Race {
        first,
        second,
        proof: Proof::Unordered,
        model: None,
        witness: None,
        witness_length: None,
        witness_tail: None,
        story: None,
        observed: None,
        reads: None,
        path: None,
        values: Vec::new(),
        processes: None,
        hunted: None,
        repeated: false,
        fingerprint: None,
        schedule: None,
        confirmation: None,
        picture: None,
    }
}

/// The race of the teller and the auditor, as a native program would show it.
pub(crate) fn bank() -> Report {
    let mut report = Report::new("auto");
    report.trace = TraceInfo { file: "bank".to_string(), events: 18, threads: 3, ..TraceInfo::default() };
    report.complete = true;
    let mut race = race(teller(), auditor());
    race.proof = Proof::Adjacent;
    race.witness = Some(vec![1, 2, 14, 4, 18]);
    race.witness_length = Some(5);
    race.story = Some(story());
    let deed = |thread: &str, event, what: &str, location: &str| Deed {
        thread: thread.into(),
        event,
        what: what.into(),
        location: location.into(),
    };
    let link = Link {
        from: deed("teller", 12, "unlocks lock", "bank.c:15:3"),
        to: deed("auditor", 14, "locks lock", "bank.c:27:3"),
        is_accident: true,
    };
    race.observed = Some(Observed::Ordered(vec![link]));
    report.races = vec![race];
    report.stats.candidates = 1;
    report.stats.seconds = 0.25;
    fingerprint::mark(&mut report);
    report
}

/// The same pair, undecided.
pub(crate) fn undecided() -> Report {
    let mut report = bank();
    let Race { first, second, .. } = report.races.remove(0);
    let reason = "the budget ran out".to_string();
    report.undecided = vec![Candidate { first, second, reason, more: 2, fingerprint: None }];
    report.complete = false;
    fingerprint::mark(&mut report);
    report
}

fn teller() -> RacingAccess {
    let location = "/home/user/bank/src/deposit it.c:3:10".to_string();
    RacingAccess {
        event: 4,
        thread: "teller".to_string(),
        op: "w".to_string(),
        target: "note".to_string(),
        value: Some("1".to_string()),
        function: Some("deposit".to_string()),
        stack: vec![
            Frame { function: "deposit".to_string(), location: location.clone() },
            Frame { function: "work".to_string(), location: "/usr/include/work.h:8".to_string() },
        ],
        location,
        locks: Some(vec![HeldLock {
            lock: "table".to_string(),
            mode: HeldMode::Shared,
            location: "src/bank.c:7:5".to_string(),
            stack: Vec::new(),
        }]),
        thread_started: Some(Origin {
            event: 1,
            thread: "main".to_string(),
            location: "src/bank.c:20:5".to_string(),
            stack: Vec::new(),
        }),
        source: Some("\tnote  = 1; // for the auditor".to_string()),
        ..RacingAccess::default()
    }
}

fn auditor() -> RacingAccess {
    RacingAccess {
        event: 18,
        thread: "auditor".to_string(),
        op: "r".to_string(),
        target: "note".to_string(),
        location: "17".to_string(),
        ..RacingAccess::default()
    }
}

fn story() -> Story {
    let step = |thread, event, what: &str, location: &str, races| {
        Row::Step(StoryStep { thread, event, what: what.to_string(), location: location.to_string(), races })
    };
    Story {
        thread_names: std::collections::BTreeMap::new(),
        threads: ["main", "teller", "auditor"].map(String::from).to_vec(),
        rows: vec![
            step(0, 1, "starts teller", "src/bank.c:20:5", false),
            Row::Skipped { thread: 0, steps: 1 },
            step(2, 14, "locks lock", "src/bank.c:14:5", false),
            step(1, 4, "writes note = 1", "/home/user/bank/src/deposit it.c:3:10", true),
            step(2, 18, "reads note", "17", true),
        ],
    }
}

/// The same report with hostile names, chosen to break what shows them.
pub(crate) fn hostile() -> Report {
    let evil = "<script>&\"'\u{1b}[31m\n\r\0]]>[x](http://a)\u{202e}\u{ffff}é".to_string();
    let mut report = bank();
    report.trace.file.clone_from(&evil);
    report.notes = vec![evil.clone()];
    for race in &mut report.races {
        for access in [&mut race.first, &mut race.second] {
            access.thread.clone_from(&evil);
            access.target.clone_from(&evil);
            access.value = Some(evil.repeat(10_000));
            access.function = Some(evil.clone());
            access.location = format!("{evil}:3:1");
            access.source = Some(evil.clone());
            access.stack = vec![Frame { function: evil.clone(), location: format!("{evil}:0:0") }];
        }
        let story = race.story.as_mut();
        story.into_iter().flat_map(Story::steps_mut).for_each(|step| {
            step.what.clone_from(&evil);
            step.location.clone_from(&evil);
        });
    }
    report
}

/// Two threads that wait for each other.
pub(crate) fn stuck() -> Hunt {
    let waiting = |thread: &str, other: &str, place: &str, wants: &str, holds: &str| WaitingThread {
        event: None,
        thread: thread.into(),
        waits_for: format!("lock {wants}"),
        held_by: Some(other.into()),
        location: place.into(),
        stack: vec![Frame { function: "meet".into(), location: place.into() }],
        locks: vec![HeldLock {
            lock: holds.into(),
            mode: HeldMode::Exclusive,
            location: "bank.c:3:5".into(),
            stack: Vec::new(),
        }],
    };
    let both = vec![
        waiting("T1", "T2", "bank.c:8:5", "right", "left"),
        waiting("T2", "T1", "bank.c:14:5", "left", "right"),
    ];
    Hunt {
        strategy: "random".into(),
        wanted: 2,
        stopped: Stopped::AllRuns,
        runs: Vec::new(),
        deadlocks: vec![Deadlock::new(1, 7, both)],
    }
}
