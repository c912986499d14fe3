//! The schema describes what can be printed as JSON: no less, and no more.

use std::collections::{BTreeMap, BTreeSet};

use foretell_report::baseline::{Known, KnownPair};
use foretell_report::observed::{Deed, Link};
use foretell_report::story::{Row, StoryStep};
use foretell_report::{
    Amount, Answer, Candidate, ClosureReport, ClosureStats, Confirmation, Counts, Coverage, Deadlock,
    DeadlockKind, Decision, DecisionStats, Doubt, EndedThread, Excerpt, ExploredRace, FenceCause, Frame,
    HeldLock, HeldMode, Hunt, HuntRun, Hunted, NOT_EXECUTED, Need, NeededRead, NeededReads, NewValue,
    Observed, Origin, PredictedDeadlock, PredictedViolation, ProgramAccess, ProgramDeadlock, ProgramFailure,
    ProgramProperty, ProgramRace, ProgramReport, ProgramStats, Proof, PropertyReport, PropertyVerdict, Race,
    RacingAccess, Report, SliceInfo, Stats, Steering, Stopped, Story, Suppressed, SuppressedDeadlock,
    SuppressedPair, SuppressedViolation, TestEnding, TestRun, TraceInfo, ViolationKind, WaitingThread,
    WitnessTail, schema,
};
use foretell_trace::Model;
use foretell_trace::values::Obstacle;
use serde_json::{Value, json};

fn text(text: &str) -> String {
    text.to_string()
}

fn stack() -> Vec<Frame> {
    vec![Frame { function: text("deposit"), location: text("bank.c:3:10") }]
}

fn origin() -> Option<Origin> {
    Some(Origin { event: 1, thread: text("main"), location: text("bank.c:20"), stack: stack() })
}

// None of these says "and the rest as usual": a new field must be added here, and then to the schema.

fn access(mode: HeldMode, doubt: Doubt) -> RacingAccess {
    RacingAccess {
        event: 4,
        thread: text("teller"),
        thread_name: Some(text("net-worker")),
        op: text("w"),
        target: text("note"),
        value: Some(text("1")),
        location: text("bank.c:3:10"),
        function: Some(text("deposit")),
        stack: stack(),
        locks: Some(vec![HeldLock { lock: text("l"), mode, location: text("bank.c:2"), stack: stack() }]),
        thread_started: origin(),
        memory_allocated: origin(),
        source: Some(text("note = 1;")),
        excerpt: Some(Excerpt { first: 3, lines: vec![text("note = 1;")], doubt: Some(doubt) }),
    }
}

fn accesses() -> [RacingAccess; 2] {
    [access(HeldMode::Exclusive, Doubt::Changed), access(HeldMode::Shared, Doubt::Missing)]
}

fn trace() -> TraceInfo {
    TraceInfo {
        file: text("bank.std"),
        events: 17,
        threads: 3,
        cut_short: true,
        cut_because: Some(text("the disk is full")),
        unexplained_reads: 1,
        shared_accesses: 2,
        slice: Some(SliceInfo { property: text("on x"), sound: true, events: 17, of: 20 }),
        coverage: Some(Coverage {
            concurrent_accesses: 4,
            reorderable_accesses: 3,
            thread_pairs: 2,
            reorderable_thread_pairs: 1,
            fences: 3,
            fences_by_recorder: 2,
            causes: vec![FenceCause {
                fences: 2,
                location: text("bank.c:4"),
                cause: text("calls f"),
                callee: Some(text("f")),
                mend: text("build it"),
            }],
            fences_of_other_causes: 1,
            unrecorded_programs: vec![text("/bin/sh")],
            unrecorded_threads: 1,
            blind: true,
        }),
        counts: Some(Counts { reads: 1, writes: 2, atomics: 3, syncs: 4, branches: 5, with_values: 6 }),
        quick_check: Some(7),
        quick_check_is_partial: true,
    }
}

fn story() -> Story {
    let step =
        || StoryStep { thread: 0, event: 4, what: text("writes"), location: text("bank.c:3"), races: true };
    let skipped = Row::Skipped { thread: 0, steps: 2 };
    let rows = vec![Row::Step(step()), Row::Waits(step()), skipped, Row::SkippedByAll { steps: 3 }];
    let thread_names = [(text("teller"), text("net-worker"))].into();
    Story { threads: vec![text("teller")], thread_names, rows }
}

fn reads() -> NeededReads {
    let deed = |event| Deed { thread: text("teller"), event, what: text("reads x"), location: text("a.c:1") };
    let needs = [
        Need::Decides(deed(2)),
        Need::Passed { on_by: deed(2), to: deed(3) },
        Need::DecidesLater(deed(9)),
        Need::Nothing,
    ];
    let reads = needs.map(|need| NeededRead { read: deed(1), strays: !need.is_kept(), need });
    NeededReads { reads: reads.to_vec(), more: 1 }
}

fn fingerprint() -> Option<String> {
    Some(text("v1:0123456789abcdef-2"))
}

fn race(proof: Proof, observed: Observed) -> Race {
    let [first, second] = accesses();
    Race {
        first,
        second,
        proof,
        model: (proof == Proof::Adjacent).then_some(Model::ControlFlow),
        witness: Some(vec![1, 4, 14]),
        witness_length: Some(3),
        witness_tail: Some(WitnessTail { after: 1, events: vec![3, 2] }),
        story: Some(story()),
        observed: Some(observed),
        reads: Some(reads()),
        path: Some(text(NOT_EXECUTED)),
        values: vec![NewValue {
            event: 4,
            thread: text("t"),
            target: text("x"),
            location: text("7"),
            read: Some(text("3")),
            written: Some(text("13")),
        }],
        processes: Some(2),
        hunted: Some(Hunted { run: 2, strategy: text("pct"), seed: 7, runs: 1 }),
        repeated: true,
        fingerprint: fingerprint(),
        schedule: Some(text("foretell schedule 1\nprogram p\n")),
        confirmation: Some(match proof {
            Proof::Adjacent => Confirmation::of(accesses()),
            Proof::Unordered => Confirmation::not("ordered by values"),
        }),
        picture: None,
    }
}

fn races() -> [Race; 2] {
    let deed =
        |event| Deed { thread: text("teller"), event, what: text("unlocks l"), location: text("a.c:1") };
    let ordered = Observed::Ordered(vec![Link { from: deed(1), to: deed(2), is_accident: true }]);
    [race(Proof::Adjacent, ordered), race(Proof::Unordered, Observed::Unordered)]
}

fn hunt() -> Hunt {
    let locks = accesses()[0].locks.clone().unwrap_or_default();
    let waiting = WaitingThread {
        event: Some(7),
        thread: text("a"),
        waits_for: text("lock l"),
        held_by: Some(text("b")),
        location: text("a.c:1"),
        stack: stack(),
        locks,
    };
    let run = HuntRun {
        run: 1,
        strategy: text("drfinder"),
        seed: 7,
        races: 2,
        new: 1,
        total: 3,
        deadlock: true,
        incomplete: true,
        ending: Some(text("ended after 10s")),
        seconds: 0.5,
        steering: Some(Steering { acquisitions: 4, suspensions: 3, reversals: 2, thrashings: 1 }),
    };
    Hunt {
        strategy: text("drfinder"),
        wanted: 10,
        stopped: Stopped::NothingNew,
        runs: vec![run],
        deadlocks: vec![Deadlock { run: 1, seed: 7, waiting: vec![waiting], cycle: 1 }],
    }
}

fn deadlock() -> PredictedDeadlock {
    let waiting = hunt().deadlocks.remove(0).waiting;
    PredictedDeadlock {
        kind: DeadlockKind::Locks,
        ended: Some(EndedThread { thread: text("T2"), event: 9, locks: waiting[0].locks.clone() }),
        waiting,
        model: Some(Model::Values),
        witness: Some(vec![1, 9, 7]),
        witness_length: Some(3),
        schedule: Some(text("foretell schedule 1\n")),
        confirmation: Some(Confirmation::stuck(hunt().deadlocks.remove(0).waiting)),
        fingerprint: fingerprint(),
    }
}

fn violation() -> PredictedViolation {
    let [first, second] = accesses();
    PredictedViolation {
        kind: ViolationKind::UseAfterFree,
        first,
        second,
        model: Some(Model::Values),
        witness: Some(vec![1, 9, 7]),
        witness_length: Some(3),
        schedule: Some(text("foretell schedule 1\n")),
        confirmation: Some(Confirmation::of_use(accesses())),
        fingerprint: fingerprint(),
    }
}

fn report() -> Report {
    let [first, second] = accesses();
    let pair = (first.clone(), second.clone());
    Report {
        tool: text("foretell"),
        version: text("0.1.0"),
        schema: foretell_report::report::SCHEMA,
        technique: text("auto"),
        trace: trace(),
        window: Some(1000),
        complete: false,
        interrupted: true,
        notes: vec![text("the time is over")],
        ending: Some(text("deadlock")),
        driven: Some(1),
        evidence: Some(text("foretell run --confirm --evidence e.tar.gz -- bank")),
        test: Some(TestRun {
            name: text("locks::a"),
            ending: TestEnding::Failed,
            seconds: 0.5,
            output: Some(text("no")),
        }),
        hunt: Some(hunt()),
        suppressed: Some(Suppressed {
            file: text("rules"),
            count: 1,
            pairs: vec![SuppressedPair {
                first: pair.0.clone(),
                second: pair.1.clone(),
                proven: true,
                rule: text("race:x"),
                fingerprint: fingerprint(),
            }],
            deadlocks: vec![SuppressedDeadlock { deadlock: deadlock(), rule: text("deadlock:x") }],
            violations: vec![SuppressedViolation { violation: violation(), rule: text("race:x") }],
        }),
        known: Some(Known {
            files: vec![text("old.json")],
            count: 1,
            not_seen: 0,
            pairs: vec![KnownPair {
                first: pair.0,
                second: pair.1,
                proven: false,
                fingerprint: text("v1:0123456789abcdef"),
            }],
            deadlocks: vec![deadlock()],
            violations: vec![violation()],
        }),
        races: races().to_vec(),
        deadlocks: vec![deadlock()],
        violations: vec![violation()],
        excerpts: BTreeMap::default(),
        undecided: vec![Candidate {
            first,
            second,
            reason: text("no time"),
            more: 2,
            fingerprint: fingerprint(),
        }],
        stats: Stats {
            candidates: 3,
            seconds: 0.5,
            peak_memory_bytes: Some(1 << 40),
            forgotten_accesses: 1,
            refuted: 2,
            deadlocks_refuted: 1,
            violations_refuted: 1,
            violations_undecided: 2,
            deadlocks_undecided: 1,
            not_in_window: 3,
            not_examined: 4,
            not_recomputed: 5,
            not_computed: Obstacle::ALL.map(|obstacle| (text(obstacle.name()), 7)).into(),
            not_listed: 5,
            witnesses_not_printed: 6,
        },
    }
}

fn decision() -> Decision {
    let [first, second] = accesses();
    Decision {
        tool: text("foretell"),
        technique: text("rv"),
        trace: trace(),
        window: Some(2),
        first,
        second,
        verdict: Answer::NotInWindow,
        witness: Some(vec![4, 14]),
        story: Some(story()),
        reads: Some(reads()),
        steps: vec![text("because")],
        reason: Some(text("no time")),
        stats: DecisionStats { seconds: 0.1 },
    }
}

fn exploration() -> ClosureReport {
    // Larger than what 64 bits hold.
    let amount = Some(Amount { count: u128::MAX, exact: false });
    ClosureReport {
        tool: "foretell",
        trace: trace(),
        shared_variables: 2,
        happens_before: amount,
        maximal: amount,
        feasible: amount,
        complete: true,
        interrupted: false,
        explored: 0.5,
        notes: vec![text("the time is over")],
        races: races().map(|race| ExploredRace { race, strays: vec![1] }).to_vec(),
        properties: vec![PropertyReport {
            property: text("race 1,2"),
            verdict: PropertyVerdict::Violated,
            schedule: Some(vec![1]),
            strays: vec![1],
        }],
        stats: ClosureStats { steps: 1, happens_before_steps: 2, seconds: 0.1, peak_memory_bytes: Some(1) },
    }
}

fn program() -> ProgramReport {
    let access = || ProgramAccess { thread: text("t1"), op: "w", location: text("1:1") };
    let schedule = || text("t1*2");
    ProgramReport {
        tool: "foretell",
        program: text("bank.cimp"),
        complete: true,
        interrupted: false,
        notes: vec![text("no execution ends")],
        races: vec![ProgramRace {
            target: text("x"),
            first: access(),
            second: access(),
            schedule: schedule(),
        }],
        failures: vec![ProgramFailure {
            message: text("assert fails"),
            thread: text("t1"),
            location: text("1:1"),
            source: text("assert x > 0;"),
            schedule: schedule(),
        }],
        deadlocks: vec![ProgramDeadlock { waiting: vec![text("t1 waits")], schedule: schedule() }],
        properties: vec![ProgramProperty {
            property: text("assert x > 0"),
            verdict: PropertyVerdict::Unknown,
            schedule: Some(schedule()),
        }],
        stats: ProgramStats {
            states: 3,
            final_states: 1,
            executions: Some(u128::MAX),
            seconds: 0.1,
            peak_memory_bytes: Some(1),
        },
    }
}

/// Everything that can be printed, with the definition that describes it.
fn printed() -> Vec<(&'static str, Value)> {
    // Only what is not repeated has causes.
    let mut told = report();
    told.races.iter_mut().for_each(|race| race.repeated = false);
    let told = foretell_report::json::render_reports(&[told]).unwrap();
    vec![
        ("report", serde_json::from_str(&told).unwrap()),
        (
            "report",
            serde_json::from_str(&foretell_report::json::render_reports(&[report()]).unwrap()).unwrap(),
        ),
        ("decision", json!(decision())),
        // Numbers of 128 bits are numbers of a text only.
        ("exploration", serde_json::from_str(&serde_json::to_string(&exploration()).unwrap()).unwrap()),
        ("program", serde_json::from_str(&serde_json::to_string(&program()).unwrap()).unwrap()),
    ]
}

#[test]
fn all_that_can_be_printed_is_described() {
    for (kind, value) in printed() {
        let mut schema = schema::strict().unwrap();
        schema["anyOf"] = json!([{"$ref": format!("#/$defs/{kind}")}]);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{kind}: {errors:#?}");
    }
}

/// Notes which fields of the schema the value has.
fn visit<'a>(root: &'a Value, schema: &'a Value, value: &Value, seen: &mut BTreeSet<*const Value>) {
    if let Some(definition) = schema["$ref"].as_str() {
        visit(root, root.pointer(definition.trim_start_matches('#')).unwrap(), value, seen);
    }
    for branch in schema["oneOf"].as_array().into_iter().flatten() {
        visit(root, branch, value, seen);
    }
    for item in value.as_array().into_iter().flatten() {
        visit(root, &schema["items"], item, seen);
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(name) {
            seen.insert(field);
            visit(root, field, value, seen);
        }
    }
}

/// All fields that are described, by where.
fn fields<'a>(schema: &'a Value, path: &str, all: &mut Vec<(String, &'a Value)>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        all.push((format!("{path}.{name}"), field));
        fields(field, &format!("{path}.{name}"), all);
    }
    for branch in schema["oneOf"].as_array().into_iter().flatten() {
        fields(branch, path, all);
    }
}

#[test]
fn all_that_is_described_can_be_printed() {
    let schema: Value = serde_json::from_str(schema::SCHEMA).unwrap();
    let mut seen = BTreeSet::new();
    for (kind, value) in printed() {
        visit(&schema, &schema["$defs"][kind], &value, &mut seen);
    }
    let mut all = Vec::new();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        assert!(definition["description"].is_string(), "{name}");
        // What traces are made of is printed by the command line.
        if name != "statistics" {
            fields(definition, name, &mut all);
        }
    }
    assert!(all.len() > 100);
    for (path, field) in all {
        assert!(
            field["description"].as_str().is_some_and(|text| text.ends_with('.')),
            "{path} is not described"
        );
        assert!(seen.contains(&std::ptr::from_ref(field)), "nobody prints {path}");
    }
}

/// What is read back says the same.
#[test]
fn reports_can_be_read_back() {
    let value = json!(report());
    let read: Report = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(json!(read), value);
}

#[test]
fn each_kind_has_a_schema_of_its_own() {
    for kind in schema::KINDS {
        let schema: Value = serde_json::from_str(&schema::of(kind).unwrap()).unwrap();
        assert!(jsonschema::meta::is_valid(&schema), "{kind}");
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert_eq!(validator.is_valid(&json!(report())), kind == "report", "{kind}");
    }
}
