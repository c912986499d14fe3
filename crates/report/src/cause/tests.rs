use super::*;
use crate::context::{Frame, HeldLock};
use crate::sample;

fn access(op: &str, target: &str, function: &str, line: u32, locks: &[&str]) -> RacingAccess {
    let location = format!("pool.c:{line}:3");
    let lock = |lock: &&str| HeldLock {
        lock: (*lock).to_string(),
        mode: HeldMode::Exclusive,
        location: "pool.c:1".to_string(),
        stack: Vec::new(),
    };
    RacingAccess {
        op: op.to_string(),
        target: target.to_string(),
        stack: vec![Frame { function: function.to_string(), location: location.clone() }],
        location,
        thread: "T1".to_string(),
        locks: Some(locks.iter().map(lock).collect()),
        ..RacingAccess::default()
    }
}

fn report(pairs: Vec<[RacingAccess; 2]>) -> Report {
    let mut report = Report::new("auto");
    let race = |[first, second]: [RacingAccess; 2]| Race { first, second, ..sample::bank().races[0].clone() };
    report.races = pairs.into_iter().map(race).collect();
    report
}

fn told(pairs: Vec<[RacingAccess; 2]>) -> Vec<(String, Vec<usize>, Option<String>)> {
    causes(&report(pairs)).into_iter().map(|cause| (cause.sentence, cause.races, cause.fix)).collect()
}

#[test]
fn the_lock_that_protects_it_elsewhere_is_named() {
    let bad = |op| access(op, "stats.hits", "account", 9, &[]);
    let good = || access("w", "stats.hits", "drain", 20, &["pool.lock", "outer"]);
    let other = || access("r", "stats.hits", "show", 30, &["pool.lock"]);
    let expected = (
        "`stats.hits` is read and written by `account` without `pool.lock`, which protects it elsewhere"
            .to_string(),
        vec![1, 2, 3],
        Some("hold `pool.lock` at pool.c:9:3, as at pool.c:20:3".to_string()),
    );
    assert_eq!(told(vec![[bad("w"), good()], [other(), bad("r")], [bad("w"), bad("r")]]), [expected]);
}

#[test]
fn no_lock_is_guessed() {
    let side = |function, locks: &[&str]| access("w", "x", function, 4, locks);
    let one_of_two = told(vec![[side("f", &["a"]), side("g", &["b"])]]);
    assert_eq!(one_of_two[0].0, "`x` is written by `f` and `g` without a common lock");
    assert_eq!(one_of_two[0].2, None);
    let none = told(vec![[side("f", &[]), access("r", "x", "g", 5, &[])]]);
    assert_eq!(none[0].0, "`x` is written by `f` and read by `g` without any lock");
    let mut shared = side("f", &["a"]);
    shared.locks.as_mut().unwrap()[0].mode = HeldMode::Shared;
    assert_eq!(told(vec![[shared, side("g", &[])]])[0].2, None, "readers do not exclude each other");
    let unknown = RacingAccess { locks: None, ..side("g", &[]) };
    assert_eq!(told(vec![[side("f", &["a"]), unknown]])[0].2, None);
}

#[test]
fn elements_and_objects_of_a_type_have_one_cause_and_bare_memory_does_not() {
    let pair = |target: &str| [access("w", target, "f", 4, &[]), access("w", target, "f", 4, &[])];
    let numbers = |targets: &[&str]| -> Vec<Vec<usize>> {
        told(targets.iter().map(|target| pair(target)).collect()).into_iter().map(|cause| cause.1).collect()
    };
    assert_eq!(numbers(&["a[1]", "b", "a[2]"]), [vec![1, 3], vec![2]]);
    assert_eq!(numbers(&["node.next", "node#2.next", "node.prev"]), [vec![1, 2], vec![3]]);
    assert_eq!(numbers(&["heap1+4", "heap2+4", "heap1+4"]), [vec![1, 3], vec![2]]);
}

#[test]
fn what_is_atomic_elsewhere_is_said() {
    let atomic = access("rmw.rlx", "flag", "set", 4, &[]);
    let plain = access("r", "flag", "get", 5, &[]);
    let [cause] = &told(vec![[atomic, plain]])[..] else { panic!("one cause") };
    assert_eq!(cause.0, "`flag` is atomic for `set`, but is read without an atomic operation by `get`");
    assert_eq!(cause.2.as_deref(), Some("access `flag` atomically at pool.c:5:3, too"));
}
