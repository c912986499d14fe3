use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::context::Frame;
use crate::report::{Candidate, Race};
use crate::sample::race;

/// What a person would say that an access is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Meant {
    op: &'static str,
    variable: &'static str,
    file: &'static str,
    function: &'static str,
    text: &'static str,
}

/// What differs from run to run, and from one version of the source to the next.
#[derive(Clone, Debug)]
struct Accident {
    thread: String,
    event: u32,
    folder: &'static str,
    first_line: u32,
    indent: usize,
}

fn meant() -> impl Strategy<Value = Meant> {
    let op = prop::sample::select(vec!["w", "rmw.rlx", "free"]);
    let variable = prop::sample::select(vec!["total", "heap", "account[]", "node@.next"]);
    let file = prop::sample::select(vec!["bank.c", "list.c"]);
    let function = prop::sample::select(vec!["deposit", "audit", "main"]);
    let text = prop::sample::select(vec!["total = 1;", "return total;", "x += total;"]);
    (op, variable, file, function, text).prop_map(|(op, variable, file, function, text)| Meant {
        op,
        variable,
        file,
        function,
        text,
    })
}

fn accident() -> impl Strategy<Value = Accident> {
    let folder = prop::sample::select(vec!["", "src/", "/home/me/bank/src/", "/builds/7/"]);
    ("[a-z]{1,5}", 1..1000_u32, folder, 0..500_u32, 0..4_usize).prop_map(
        |(thread, event, folder, first_line, indent)| Accident { thread, event, folder, first_line, indent },
    )
}

/// How a variable is called in one run.
fn variable(name: &str, event: u32) -> String {
    match name {
        "heap" => format!("heap{event}+8"),
        "account[]" => format!("account[{event}]"),
        "node@.next" => format!("node@main.{event}.2.next"),
        other => other.to_string(),
    }
}

fn access(meant: &Meant, accident: &Accident) -> RacingAccess {
    let line = accident.first_line + u32::try_from(meant.text.len()).unwrap();
    let location = format!("{}{}:{line}:{}", accident.folder, meant.file, 1 + accident.indent);
    RacingAccess {
        event: accident.event,
        thread: accident.thread.clone(),
        op: meant.op.to_string(),
        target: variable(meant.variable, accident.event),
        value: Some(accident.event.to_string()),
        function: Some(meant.function.to_string()),
        stack: vec![Frame { function: meant.function.to_string(), location: location.clone() }],
        location,
        source: Some(format!("{:width$}{}", "", meant.text, width = accident.indent)),
        ..RacingAccess::default()
    }
}

fn marks(races: Vec<Race>) -> Vec<String> {
    let mut report = Report { races, ..Report::new("rv") };
    mark(&mut report);
    report.races.into_iter().map(|race| race.fingerprint.unwrap()).collect()
}

proptest! {
    #[test]
    fn accidents_do_not_matter(one in meant(), other in meant(), a in accident(), b in accident(), swapped: bool) {
        let plain = race(access(&one, &a), access(&other, &a));
        let (first, second) = (access(&one, &b), access(&other, &b));
        let changed = if swapped { race(second, first) } else { race(first, second) };
        prop_assert_eq!(marks(vec![plain]), marks(vec![changed]));
    }

    #[test]
    fn different_races_are_told_apart(meant in prop::collection::vec((meant(), meant()), 1..20), a in accident()) {
        let sorted = |(one, other): &(Meant, Meant)| (one.min(other).clone(), one.max(other).clone());
        let different: HashSet<_> = meant.iter().map(sorted).collect();
        let races = meant.iter().map(|(one, other)| race(access(one, &a), access(other, &a))).collect();
        let marks = marks(races);
        let bases: HashSet<&str> = marks.iter().map(|mark| mark.split('-').next().unwrap()).collect();
        prop_assert_eq!(bases.len(), different.len());
        prop_assert_eq!(marks.iter().collect::<HashSet<_>>().len(), marks.len());
    }

    /// Of races that are alike, each keeps its number when lines move and when they are found in another order.
    #[test]
    fn numbers_follow_the_lines(one in meant(), lines in prop::collection::btree_set(1..300_u32, 2..6), a in accident(), shift in 0..50_u32) {
        let at = |line: u32| Accident { first_line: line, ..a.clone() };
        let alike = |shift: u32| lines.iter().map(move |line| line + shift);
        let races = |shift: u32| alike(shift).map(|line| race(access(&one, &at(line)), access(&one, &at(line))));
        let mut shifted = marks(races(shift).rev().collect());
        shifted.reverse();
        prop_assert_eq!(marks(races(0).collect()), shifted);
    }

    #[test]
    fn any_name_will_do(target: String, function: String, location: String, op: String) {
        let access = RacingAccess { target, function: Some(function), location, op, ..RacingAccess::default() };
        prop_assert_eq!(marks(vec![race(access.clone(), access)])[0].len(), "v1:0123456789abcdef".len());
    }
}

#[test]
fn without_a_source_the_function_counts_and_then_the_location() {
    let at = |function: Option<&str>, location: &str| RacingAccess {
        location: location.to_string(),
        function: function.map(String::from),
        ..RacingAccess::default()
    };
    let mark = |one: RacingAccess| marks(vec![race(one.clone(), one)]);
    assert_eq!(mark(at(Some("f"), "a.c:3")), mark(at(Some("f"), "a.c:9")));
    assert_ne!(mark(at(Some("f"), "a.c:3")), mark(at(Some("g"), "a.c:3")));
    assert_ne!(mark(at(None, "a.c:3")), mark(at(None, "a.c:9")));
    assert_ne!(mark(at(None, "3")), mark(at(None, "9")));
}

#[test]
fn a_candidate_is_the_race_that_it_may_become() {
    let access = |location: &str| RacingAccess { location: location.to_string(), ..RacingAccess::default() };
    let mut report = Report::new("lockset");
    let (first, second) = (access("1"), access("2"));
    let open = Candidate { first, second, reason: "who knows".to_string(), more: 0, fingerprint: None };
    report.undecided = vec![open];
    mark(&mut report);
    let proven = marks(vec![race(access("1"), access("2"))]);
    assert_eq!(report.undecided[0].fingerprint.as_ref(), proven.first());
}

#[test]
fn two_places_of_a_line_are_two() {
    let at = |column: u32, source: &str, op: &str| RacingAccess {
        location: format!("a.c:3:{column}"),
        source: Some(source.to_string()),
        op: op.to_string(),
        ..RacingAccess::default()
    };
    let mark = |one: RacingAccess, other: RacingAccess| marks(vec![race(one, other)]);
    let (write, read) = (at(1, "x = x + 1;", "w"), at(5, "x = x + 1;", "r"));
    assert_ne!(mark(write.clone(), read.clone()), mark(write.clone(), write.clone()));
    assert_eq!(mark(write.clone(), read), mark(at(3, "  x  =  x + 1;", "w"), at(8, "  x  =  x + 1;", "r")));
    assert_eq!(mark(write.clone(), write.clone()), mark(write, at(1, "x = x + 1;", "r")));
}

#[test]
fn variables_lose_what_differs_from_run_to_run() {
    for (name, expected) in [
        ("total", "total"),
        ("heap12+8", "heap"),
        ("heap12 given back", "heap given back"),
        ("heaps", "heaps"),
        ("stack3+40", "stack"),
        ("0x7f01ab40", "0x"),
        ("total#2+4", "total"),
        ("account[3]", "account[]"),
        ("table[i]", "table[i]"),
        ("node@main.1.2.next", "node@.next"),
        ("a+b", "a+b"),
    ] {
        assert_eq!(without_numbers(name), expected);
    }
}

#[test]
fn functions_lose_what_tells_instances_apart() {
    for (name, expected) in [
        ("main", "main"),
        ("std::vector<int, std::allocator<int> >::push_back", "std::vector::push_back"),
        ("max<int>", "max"),
        ("bank::operator<", "bank::operator<"),
        ("bank::operator<< <char>", "bank::operator<< <char>"),
        ("Account::operator->", "Account::operator->"),
        ("<bank::Account<u8> as bank::Deposit<u8>>::deposit", "<bank::Account as bank::Deposit>::deposit"),
        ("bank::deposit::<fn(u8) -> u8>", "bank::deposit"),
        ("bank::main::{closure#3}", "bank::main::{closure}"),
        ("bank::deposit::h05af221e174051e9", "bank::deposit"),
        ("bank[3f2a9c0d11223344]::deposit", "bank::deposit"),
        ("deposit.llvm.8374923", "deposit"),
        ("a<b", "a<b"),
    ] {
        assert_eq!(without_instance(name), expected);
    }
}
