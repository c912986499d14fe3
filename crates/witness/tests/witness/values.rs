//! Schedules in which reads see something else, and values are computed anew: the rules, each on a few events, and
//! recorded programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_cimp::record::{Limits, confirm, run as record};
use foretell_cimp::scheduler::{Random, Scheduler, Serial};
use foretell_testkit::program;
use foretell_trace::values::{Binary, Demand, Demanded, Term, TermId, Unary, Values};
use foretell_trace::{Dependence, EventId, Reads, Trace};
use foretell_witness::observed::Observed;
use foretell_witness::oracle::{self, Pair};
use foretell_witness::{Blocked, Claim, Machine, Model, NewValues, Proof, Referee};

use crate::{id, ids, trace};

/// The trace with values that `tell` tells of.
fn told(text: &str, tell: impl Fn(&mut Values)) -> Trace {
    let trace = trace(text);
    let mut values = Values::new(trace.events().len(), true);
    tell(&mut values);
    trace.with_values(values).unwrap()
}

fn add(values: &mut Values, term: Term) -> TermId {
    values.add(term).unwrap()
}

fn read(values: &mut Values, event: u32) -> TermId {
    add(values, Term::Read(id(event)))
}

fn number(values: &mut Values, number: u64) -> TermId {
    add(values, Term::Number(number))
}

fn binary(values: &mut Values, op: Binary, left: TermId, right: TermId) -> TermId {
    add(values, Term::Binary { op, width: 64, left, right })
}

fn demand(values: &mut Values, event: u32, term: TermId, number: u64) {
    values.demand(Demand { event: id(event), term, value: Demanded::Number(number) });
}

/// Runs the events in this order; the error is that of the first one that cannot run, in words.
fn run(trace: &Trace, schedule: &[u32]) -> Result<(), String> {
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::Values);
    for id in ids(schedule) {
        let thread = trace.event(id).thread;
        assert_eq!(machine.next(thread), Some(id), "the test itself breaks thread order");
        assert_eq!(machine.enabled(thread), machine.clone().step(thread));
        machine.step(thread).map_err(|blocked| format!("{id}: {}", blocked.text(trace.names())))?;
    }
    Ok(())
}

fn other_way(event: u32, found: &str, wanted: &str) -> Result<(), String> {
    Err(format!("{event}: it would go another way: what it depends on is {found}, and was {wanted}"))
}

fn adjacent(schedule: &[u32]) -> Proof {
    Proof::Adjacent { model: Model::Values, schedule: ids(schedule) }
}

fn claim(schedule: &[u32]) -> Claim {
    let [.., first, second] = *schedule else { panic!("two events race") };
    Claim { first: id(first), second: id(second), proof: adjacent(schedule) }
}

/// Thread b copies x + 1 to y if x is positive, and thread c decides on whether y is 6.
fn copied() -> Trace {
    let text = "a|w(x,3)\na|w(x,5)\nb|r(x,5)\nb|branch\nb|w(y,6)\nc|r(y,6)\nc|branch\nc|w(z,1)";
    told(text, |values| {
        for (event, written) in [(1, 3), (2, 5), (8, 1)] {
            let term = number(values, written);
            values.set_written(id(event), term);
        }
        let (x, zero, one) = (read(values, 3), number(values, 0), number(values, 1));
        let positive = binary(values, Binary::LessSigned, zero, x);
        demand(values, 4, positive, 1);
        let sum = binary(values, Binary::Add, x, one);
        values.set_written(id(5), sum);
        let (y, six) = (read(values, 6), number(values, 6));
        let is_six = binary(values, Binary::Equal, y, six);
        demand(values, 7, is_six, 1);
    })
}

#[test]
fn decisions_must_go_alike_and_nothing_else() {
    assert_eq!(run(&copied(), &[1, 2, 3, 4, 5, 6, 7, 8]), Ok(()));
    assert_eq!(run(&copied(), &[1, 3, 4, 5, 2, 6]), Ok(()), "3 is positive, too");
    assert_eq!(run(&copied(), &[3, 4]), other_way(4, "0", "1"));
    assert_eq!(run(&copied(), &[1, 3, 4, 5, 6, 7]), other_way(7, "0", "1"), "y is 4");
}

#[test]
fn what_is_new_is_told() {
    let (trace, schedule) = (copied(), adjacent(&[1, 3, 4, 5, 6]));
    let new = |event, read: Option<&str>, written: Option<&str>| NewValues {
        event: id(event),
        read: read.map(str::to_string),
        written: written.map(str::to_string),
    };
    let mut referee = Referee::new(&trace);
    let expected = vec![new(3, Some("3"), None), new(5, None, Some("4")), new(6, Some("4"), None)];
    assert_eq!(referee.new_values(&schedule), expected);
    assert_eq!(referee.new_values(&schedule), expected, "nothing is left of the first time");
    assert_eq!(referee.new_values(&adjacent(&[1, 2, 3, 4, 5, 6])), []);
    let strict = Proof::Adjacent { model: Model::SameValue, schedule: ids(&[1, 3, 4, 5, 6]) };
    assert_eq!(referee.new_values(&strict), []);
}

#[test]
fn claims_are_judged_by_values() {
    let trace = copied();
    let mut referee = Referee::new(&trace);
    assert!(referee.check(claim(&[1, 3, 4, 5, 6])).is_ok());
    assert!(referee.check(claim(&[3, 4, 5, 6])).is_err());
    let strict = Proof::Adjacent { model: Model::Necessary, schedule: ids(&[1, 3, 4, 5, 6]) };
    assert!(referee.check(Claim { first: id(5), second: id(6), proof: strict }).is_err());
}

/// A write of which how it is computed is unknown, and a reader that decides on it.
#[test]
fn what_nobody_can_compute_is_as_observed_only_after_what_was_observed() {
    let text = "a|w(x,1)\nb|r(x,1)\nb|w(y,7)\nc|r(y,7)\nc|branch";
    let tell = |values: &mut Values| {
        let y = read(values, 4);
        demand(values, 5, y, 7);
    };
    let trace = told(text, tell);
    assert_eq!(run(&trace, &[1, 2, 3, 4, 5]), Ok(()));
    assert_eq!(run(&trace, &[2, 3, 4, 5]), other_way(5, "not known", "7"));
    // Where the trace shows values only of reads, the same write means the same value.
    let hidden = told(&text.replace("w(y,7)", "w(y)"), tell);
    assert_eq!(run(&hidden, &[1, 2, 3, 4, 5]), Ok(()));
    assert_eq!(run(&hidden, &[2, 3, 4, 5]), other_way(5, "not known", "7"));
}

#[test]
fn a_value_that_the_trace_does_not_show_can_be_known() {
    let trace = told("a|w(x)\na|w(x)\nb|r(x)\nb|branch", |values| {
        for (event, written) in [(1, 8), (2, 9)] {
            let term = number(values, written);
            values.set_written(id(event), term);
        }
        let x = read(values, 3);
        demand(values, 4, x, 9);
    });
    assert_eq!(run(&trace, &[1, 2, 3, 4]), Ok(()));
    assert_eq!(run(&trace, &[1, 3, 4]), other_way(4, "8", "9"));
}

#[test]
fn what_is_frozen_needs_all_its_reads_as_observed() {
    let text = "a|w(x,1)\na|w(v,1)\nb|r(x,1)\nb|r(v,1)\nb|r(v,1)\nb|w(y,7)\nc|r(y,7)\nc|branch";
    let frozen = |set: fn(&mut Dependence) -> Reads| {
        let trace = trace(text);
        let mut dependence = Dependence::new(trace.events().len());
        let reads = set(&mut dependence);
        let mut values = Values::new(trace.events().len(), false);
        let term = add(&mut values, Term::Frozen { value: 7, reads });
        values.set_written(id(6), term);
        let y = read(&mut values, 7);
        demand(&mut values, 8, y, 7);
        trace.with_dependence(dependence).unwrap().with_values(values).unwrap()
    };
    let two = frozen(|of| of.unite(Reads::of(id(3)), Reads::of(id(4))));
    assert_eq!(run(&two, &[1, 2, 3, 4, 5, 6, 7, 8]), Ok(()));
    assert_eq!(run(&two, &[3, 1, 2, 4, 5, 6, 7, 8]), other_way(8, "not known", "7"));
    assert_eq!(run(&two, &[1, 3, 4, 2, 5, 6, 7, 8]), other_way(8, "not known", "7"));
    let one = frozen(|_| Reads::of(id(3)));
    assert_eq!(run(&one, &[1, 3, 4, 2, 5, 6, 7, 8]), Ok(()), "event 4 is not in it");
    assert_eq!(run(&frozen(|_| Reads::NOTHING), &[3, 4, 1, 2, 5, 6, 7, 8]), Ok(()));
    let all = frozen(|_| Reads::EVERYTHING);
    assert_eq!(run(&all, &[1, 2, 3, 4, 5, 6, 7, 8]), Ok(()));
    assert_eq!(run(&all, &[1, 3, 4, 2, 5, 6, 7, 8]), other_way(8, "not known", "7"));
}

/// A compare-exchange that succeeds is an update that demands what it reads.
#[test]
fn what_an_event_demands_of_itself_need_not_hold_for_a_race() {
    let text = "a|w(x,1)\nb|rmw(x,1,2)\nc|r(x,2)";
    let trace = told(text, |values| {
        let (one, two, own) = (number(values, 1), number(values, 2), read(values, 2));
        values.set_written(id(1), one);
        values.set_written(id(2), two);
        let same = binary(values, Binary::Equal, own, one);
        demand(values, 2, same, 1);
    });
    assert_eq!(run(&trace, &[1, 2, 3]), Ok(()));
    assert_eq!(run(&trace, &[2]), other_way(2, "0", "1"));
    let races: Vec<Pair> = oracle::races(&trace, Model::Values, 100).unwrap().into_iter().collect();
    assert_eq!(races, [(id(1), id(2)), (id(1), id(3)), (id(2), id(3))]);
    assert!(Referee::new(&trace).check(claim(&[1, 2])).is_ok());
}

#[test]
fn other_demands_of_a_racing_event_must_hold() {
    let text = "a|w(i,1)\nb|r(i,1)\nb|w(x,1)\na|w(x,2)";
    let trace = told(text, |values| {
        let index = read(values, 2);
        demand(values, 3, index, 1);
    });
    let mut referee = Referee::new(&trace);
    assert!(referee.check(claim(&[1, 2, 3, 4])).is_ok());
    let trace = told("a|w(i,1)\nb|r(i,1)\nb|w(x,1)\nc|w(x,2)", |values| {
        let index = read(values, 2);
        demand(values, 3, index, 1);
    });
    let why = Referee::new(&trace).check(claim(&[2, 3, 4])).unwrap_err();
    let text =
        "step 2 (event 3, b: w(x,1)) cannot run: it would go another way: what it depends on is 0, and was 1";
    assert_eq!(why.to_string(), text);
}

#[test]
fn updates_compute_from_what_they_read() {
    let text = "a|rmw(x,0,1)\nb|rmw(x,1,2)\nc|r(x,2)\nc|branch";
    let trace = told(text, |values| {
        for event in [1, 2] {
            let (own, one) = (read(values, event), number(values, 1));
            let next = binary(values, Binary::Add, own, one);
            values.set_written(id(event), next);
        }
        let x = read(values, 3);
        demand(values, 4, x, 2);
    });
    assert_eq!(run(&trace, &[2, 1, 3, 4]), Ok(()), "whoever comes first");
    assert_eq!(run(&trace, &[2, 3, 4]), other_way(4, "1", "2"));
}

#[test]
fn names_are_compared_and_chosen() {
    let mut names = trace("a|w(p,one)\na|w(p,other)\nb|r(p,other)\nb|branch\nb|w(q,other)");
    let value = |event: u32| names.event(id(event)).op.value_written().unwrap();
    let (one, other) = (value(1), value(2));
    let mut values = Values::new(5, true);
    for (event, name) in [(1, one), (2, other)] {
        let term = add(&mut values, Term::Name(name));
        values.set_written(id(event), term);
    }
    let (p, null) = (read(&mut values, 3), number(&mut values, 0));
    let is_null = add(&mut values, Term::Unary { op: Unary::IsZero, width: 64, of: p });
    demand(&mut values, 4, is_null, 0);
    let choice = add(&mut values, Term::Choice { condition: p, then: p, otherwise: null });
    values.set_written(id(5), choice);
    values.demand(Demand { event: id(5), term: p, value: Demanded::Name(other) });
    names = names.with_values(values).unwrap();
    assert_eq!(run(&names, &[1, 2, 3, 4, 5]), Ok(()));
    assert_eq!(run(&names, &[3, 4]), other_way(4, "1", "0"));
    assert_eq!(run(&names, &[1, 3, 4, 5]), other_way(5, "one", "other"));
}

#[test]
fn the_write_from_outside_needs_every_read_as_observed() {
    let trace = told("a|w(x,1)\nc|r(x,1)\nb|r(z,0)\nb|w(z,1)\nb|r(z,5)", |_| {});
    let why = "5: no recorded write explains it, and a thread has read something else than observed";
    assert_eq!(run(&trace, &[2, 1, 3, 4, 5]), Err(why.to_string()));
    assert_eq!(run(&trace, &[1, 2, 3, 4, 5]), Ok(()));
}

/// Sums of sums are as deep as a trace is long, and each step of a long sum may be decided on.
#[test]
fn values_may_have_come_a_long_way() {
    let count = 100_000;
    let steps: String = (0..count).map(|_| "b|r(x,1)\nb|branch\n").collect();
    let text = format!("a|w(x,1)\n{steps}b|w(y,{count})");
    let trace = told(&text, |values| {
        let mut sum = number(values, 0);
        for step in 0..count {
            let (x, limit) = (read(values, 2 * step + 2), number(values, count.into()));
            sum = binary(values, Binary::Add, sum, x);
            let is_over = binary(values, Binary::LessUnsigned, limit, sum);
            demand(values, 2 * step + 3, is_over, 0);
        }
        values.set_written(id(2 * count + 2), sum);
    });
    let mut machine = Machine::new(Arc::new(Observed::new(&trace)), Model::Values);
    let order = [2, 1].into_iter().chain(3..=2 * count + 2);
    for event in order {
        assert_eq!(machine.step(trace.event(id(event)).thread), Ok(()));
    }
    let y = trace.names().vars.get("y").unwrap();
    let seen = machine.value(y).map(|value| trace.names().value_text(value).into_owned());
    assert_eq!(seen.as_deref(), Some("99999"));
}

#[test]
fn what_the_trace_does_not_tell_is_assumed_as_ever() {
    let text = "a|w(x,1)\nb|r(x,1)\nb|branch";
    assert_eq!(
        run(&trace(text), &[2, 3]),
        Err("3: its thread has read something else than observed".to_string())
    );
    assert_eq!(run(&told(text, |_| {}), &[2, 3]), Ok(()), "who demands nothing needs nothing");
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn recorded(path: &Path, scheduler: &mut dyn Scheduler) -> Trace {
    let program = foretell_cimp::compile(&std::fs::read_to_string(path).unwrap()).unwrap();
    record(&program, scheduler, &Limits::default()).unwrap().trace
}

/// A figure of the paper, all of the first thread before the second.
fn figure(number: u32) -> Trace {
    recorded(&folder("examples").join(format!("recipe_figure{number}.cimp")), &mut Serial::new())
}

/// Whether the event is at this line of its program.
fn is_at(trace: &Trace, event: EventId, line: u32) -> bool {
    let loc = trace.names().loc_text(trace.event(event).loc).into_owned();
    loc.split(':').next() == Some(line.to_string().as_str())
}

/// Whether accesses at these lines race, the first of the trace first.
fn races(trace: &Trace, model: Model, lines: [u32; 2]) -> bool {
    let races = oracle::races(trace, model, 100_000).unwrap();
    races.into_iter().any(|(a, b)| is_at(trace, a, lines[0]) && is_at(trace, b, lines[1]))
}

#[test]
fn decisions_of_the_recipe_paper_may_go_alike_with_other_values() {
    for (number, lines) in [(1, [10, 16]), (2, [12, 24]), (5, [9, 14])] {
        let trace = figure(number);
        assert!(races(&trace, Model::Values, lines), "figure {number}");
        assert!(!races(&trace, Model::Necessary, lines), "figure {number}");
    }
}

#[test]
fn references_of_the_recipe_paper_must_stay_the_same() {
    let trace = figure(3);
    assert!(races(&trace, Model::Values, [14, 19]));
    let mut machine = Machine::new(Arc::new(Observed::new(&trace)), Model::Values);
    for (_, event) in trace.iter().take_while(|&(id, _)| !is_at(&trace, id, 13)) {
        assert_eq!(machine.step(event.thread), Ok(()));
    }
    let reader = trace.iter().find(|&(id, _)| is_at(&trace, id, 18)).unwrap().1.thread;
    assert_eq!(machine.step(reader), Ok(()), "it sees the other object");
    assert!(matches!(machine.step(reader), Err(Blocked::OtherWay { .. })), "which it did not look into");
}

/// The judge is the program itself: what the oracle has for a race it really does.
#[test]
fn programs_do_what_was_computed() {
    let (mut confirmed, mut new) = (0, 0);
    for seed in 0..700 {
        let text = program::program(seed, program::Shape::any(seed)).to_string();
        let program = foretell_cimp::compile(&text).unwrap();
        let run = record(&program, &mut Random::new(seed), &Limits::default()).unwrap();
        judge_recorded(&run.trace, &text);
        let Some(witnesses) = oracle::witnesses(&run.trace, Model::Values, 2000) else { continue };
        let strict = oracle::races(&run.trace, Model::Necessary, 20_000).unwrap_or_default();
        assert!(strict.iter().all(|pair| witnesses.contains_key(pair)), "{text}");
        for (pair, schedule) in witnesses {
            // What prepares the memory is no step of the program, and does not race with what comes after it.
            assert_eq!(confirm(&program, &run.trace, &schedule), Ok(()), "{pair:?} of\n{text}");
            confirmed += 1;
            new += usize::from(!strict.contains(&pair));
        }
    }
    assert!(confirmed > 400 && new > 8, "{confirmed} {new}");
}

/// The order in which everything was recorded is a schedule in which everything is as it was.
fn judge_recorded(trace: &Trace, what: &str) {
    let mut machine = Machine::new(Arc::new(Observed::new(trace)), Model::Values);
    for (id, event) in trace.iter() {
        let step = machine.step(event.thread);
        // Who fails because something is no number decides on what has no value, and does nothing any more.
        let fails = matches!(step, Err(Blocked::OtherWay { found: None, .. }))
            && trace.iter().all(|(other, later)| other <= id || later.thread != event.thread);
        assert!(step.is_ok() || fails, "{what}: event {id}: {step:?}");
    }
    let order: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
    let proof = Proof::Adjacent { model: Model::Values, schedule: order };
    assert_eq!(Referee::new(trace).new_values(&proof), [], "{what}");
}

#[test]
fn every_recorded_program_computes_what_it_computed() {
    let mut programs = 0;
    for folder in ["examples", "corpus/programs"].map(folder) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_none_or(|extension| extension != "cimp") {
                continue;
            }
            programs += 1;
            judge_recorded(&recorded(&path, &mut Serial::new()), &path.display().to_string());
            for seed in 0..20 {
                let trace = recorded(&path, &mut Random::new(seed));
                judge_recorded(&trace, &format!("{} with seed {seed}", path.display()));
            }
        }
    }
    assert!(programs > 30);
}
