//! The checker of certificates: what it demands of each axiom, and of what follows from axioms.

use foretell_trace::Trace;
use foretell_witness::proof::{self, TraceFacts};

/// The first lines of a certificate about two events.
fn header(trace: &Trace, model: &str, (first, second): (u32, u32)) -> String {
    format!("foretell-proof 1\nmodel {model}\nevents {}\npair {first} {second}\n", trace.events().len())
}

/// What is wrong with these lines, if not just that they are no proof.
fn wrong(trace: &Trace, model: &str, pair: (u32, u32), lines: &str) -> Option<String> {
    let text = header(trace, model, pair) + lines;
    let refusal = proof::check(&TraceFacts::new(trace), &text).err()?;
    (!refusal.to_string().ends_with("it ends without a contradiction")).then(|| refusal.to_string())
}

/// Each of the good lines is an axiom of the trace, and none of the bad ones is.
fn axioms(text: &str, model: &str, pair: (u32, u32), good: &[&str], bad: &[&str]) {
    let trace = foretell_testkit::trace(text);
    for line in good {
        assert_eq!(wrong(&trace, model, pair, line), None, "{line}");
    }
    for line in bad {
        assert!(wrong(&trace, model, pair, line).is_some(), "{line} is no axiom");
    }
}

#[test]
fn what_every_schedule_keeps() {
    let text = "M|w(x,1)|1\nM|fork(T)|2\nT|w(y,1)|3\nT|w(y,2)|4\nM|join(T)|5\nM|w(y,3)|6\nU|w(y,4)|7\n";
    axioms(
        text,
        "same-write",
        (4, 7),
        &[
            "need 2 3",
            "need 2 4",
            "need 4 5",
            "need 3 5",
            "prefix 3 7",
            "prefix 7 3",
            "cycle 4 7 7 3\nclause 7<4 3<7 by 1",
        ],
        &[
            "need 3 2",
            "need 4 6",
            "need 4 7",
            "need 1 3",
            "prefix 3 3",
            "cycle 3 7 7 2",
            "cycle 3 3",
            "cycle 3 7 6",
            "cycle",
        ],
    );
    let text = "A|alloc(x)|1\nB|w(x)|2\nA|sem(s,1)|3\nB|p(s)|4\nB|v(s)|5\nC|free(x)|6\nC|w(z)|7\nD|w(z)|8\n";
    axioms(
        text,
        "same-write",
        (2, 6),
        &["need 1 2", "need 1 6", "need 3 4", "need 3 5", "free 2 6", "reached 1", "absent 6", "absent 2"],
        &["need 2 6", "need 4 5", "free 6 6", "free 7 6", "free 6 2", "reached 3", "absent 4"],
    );
}

#[test]
fn what_has_no_recorded_reason_is_a_fence() {
    let text = "A|w(x,1)|1\nB|r(y,7)|2\nA|r(y,7)|3\nB|r(x,1)|4\nC|r(x,5)|5\nB|w(x,2)|6\nA|w(x,3)|7\n";
    axioms(
        text,
        "control-flow",
        (6, 7),
        &["need 1 5", "need 5 6", "need 1 6", "need 5 7", "reached 5", "pin 5 4", "pin 5 3"],
        &["need 1 4", "need 6 7", "pin 5 5", "pin 4 3", "unexplained", "choice 5"],
    );
    axioms(text, "same-value", (5, 6), &["unexplained"], &[]);
}

#[test]
fn when_reads_are_pinned() {
    let text = "A|w(x,1)|1\nB|r(x,1)|2\nB|w(z,1)|3\nB|branch|4\nB|w(y,1)|5\nC|w(y,2)|6\nC|r(y,2)|7\n";
    let both = ["pin 4 2", "choice 2", "concrete 7 6 2", "sees 2 1", "source 2 1", "between 7 6 5"];
    let never = [
        "pin 2 3",
        "pin 1 2",
        "pinned 7",
        "pinned 3",
        "concrete 7 5 7",
        "sees 2 0",
        "sees 2 3",
        "between 2 1 1",
    ];
    axioms(text, "same-write", (5, 6), &["pin 2 2", "pin 3 2", both[0]], &["pinned 2", never[0], never[1]]);
    axioms(text, "same-value", (5, 6), &["pin 3 2", "pinned 2", both[0]], &["pin 2 2", never[2], never[3]]);
    axioms(text, "control-flow", (5, 6), &both[..1], &["pin 2 2", "pin 3 2", "pin 5 2", "pinned 2"]);
    axioms(text, "same-value", (5, 6), &["concrete 7 5 2", both[1], both[3], both[4], both[5]], &never);
    axioms(text, "same-value", (5, 6), &[], &both[2..3]);
    let told = format!("{text}#dependence\n#steers 2 4\n#value 5 -\n");
    axioms(&told, "necessary", (5, 6), &["pin 4 2", "pin 5 2", "pinned 2"], &["pin 3 2", "concrete 7 5 2"]);
    let told = format!("{text}#dependence\n#value 5 2\n");
    axioms(&told, "necessary", (5, 6), &["concrete 7 5 2"], &["pin 4 2", "pinned 2"]);
}

/// A choice that leaves a source out says so: an axiom is used with all that it says, or it leads to nothing.
#[test]
fn all_writes_of_a_value_are_in_a_choice() {
    let text = "A|w(x,1)|1\nA|w(x,2)|2\nB|w(x,1)|3\nB|w(x,0)|4\nC|r(x,0)|5\nC|w(y)|6\nD|w(y)|7\nC|r(x,0)|8\n";
    let trace = foretell_testkit::trace(text);
    let follows = |lines: &str| wrong(&trace, "same-value", (6, 7), lines).is_none();
    // The read saw 0: that is event 4, or what was there at first.
    assert!(follows("choice 5\nclause -C5 S5,4 S5,0 by 1"));
    assert!(!follows("choice 5\nclause -C5 S5,4 by 1"));
    assert!(!follows("choice 5\nclause -C5 S5,0 by 1"));
    assert!(follows("choice 5 later 4\nclause -C5 4<5 S5,0 by 1"));
    assert!(follows("choice 5 later 3\nclause -C5 3<5 S5,0 by 1"));
    assert!(!follows("choice 5 later 3\nclause -C5 4<5 S5,0 by 1"));
    assert!(follows("choice 5 absent 3\nclause -C5 R3 S5,0 by 1"));
    assert!(follows("choice 5 initial 1\nclause -C5 5<1 S5,4 by 1"));
    assert!(follows("choice 5 overwritten 4 2\nclause -C5 5<2 2<4 S5,0 by 1"));
    assert!(!follows("choice 5 overwritten 4 2\nclause -C5 5<2 S5,0 by 1"));
    assert!(
        follows("choice 5 overwritten 4 4\nclause -C5 5<4 S5,4 S5,0 by 1"),
        "it does not overwrite itself"
    );
    assert!(!follows("choice 5 overwritten 4 6"), "this is no write of the variable");
    assert!(!follows("choice 5 initial 8"), "nor this");
    assert!(follows("choice 5 later 5\nclause -C5 S5,4 S5,0 by 1"));
    assert!(!follows("choice 5 surely 5"));
}

#[test]
fn sections_and_failed_attempts() {
    let text =
        "A|acq(l)|1\nA|rel(l)|2\nB|racq(l)|3\nC|racq(l)|4\nD|tryfail(l)|5\nD|rtryfail(m)|6\nC|rrel(l)|7\n\
                E|acq(m)|8\nA|w(x)|9\nB|w(x)|10\n"
            .replace("D|rtryfail(m)|6\n", "");
    axioms(
        &text,
        "same-write",
        (8, 9),
        &["exclusion 1 3", "exclusion 4 1", "attempt 5", "begun 5 3", "begun 5 1", "open 5 4", "open 5 1"],
        &[
            "exclusion 3 4",
            "exclusion 1 7",
            "exclusion 1 1",
            "attempt 4",
            "begun 5 7",
            "open 5 3",
            "begun 5 2",
        ],
    );
    let trace = foretell_testkit::trace(&text);
    let follows = |lines: &str| wrong(&trace, "same-write", (8, 9), lines).is_none();
    assert!(follows("exclusion 1 3\nclause -R1 -R3 2<3 by 1"), "the section of B does not end");
    assert!(!follows("exclusion 1 4\nclause -R1 -R4 2<4 by 1"));
    assert!(follows("attempt 5\nclause -R5 F5,1 F5,3 F5,4 by 1"));
    assert!(!follows("attempt 5\nclause -R5 F5,3 F5,4 by 1"));
}

#[test]
fn permits_are_counted() {
    let text = "A|v(s)|1\nB|p(s)|2\nC|v(s)|3\nD|p(s)|4\nA|w(x)|5\nB|w(x)|6\n";
    axioms(
        text,
        "same-write",
        (5, 6),
        &["permits 2 posts 1 3", "permits 2 4 posts 1", "permits 4 2 posts 3", "permits 2 4 posts 1 3"],
        &[
            "permits 2 posts 1",
            "permits 2 posts",
            "permits 2 4 posts",
            "permits 2 2 posts 1",
            "permits 2 4 4 posts",
            "permits 1 posts",
            "permits 2 1 posts 1",
        ],
    );
}

#[test]
fn who_is_woken_by_whom() {
    let one = "A|acq(l)|1\nA|wait(c,l)|2\nB|notify(c)|3\nA|woken(c,l)|4\nA|w(x)|5\nB|w(x)|6\n";
    axioms(one, "same-write", (5, 6), &["notified 4", "need 3 4"], &["notified 2", "notified 3", "need 2 3"]);
    let two = "A|acq(l)|1\nA|wait(c,l)|2\nB|acq(l)|3\nB|wait(c,l)|4\nC|notify(c)|5\nA|woken(c,l)|6\nA|rel(l)|7\n\
               C|notify(c)|8\nD|notifyall(c)|9\nB|woken(c,l)|10\nB|w(x)|11\nD|w(x)|12\n";
    axioms(
        two,
        "same-write",
        (11, 12),
        &[
            "wakeups 6 10 by 5",
            "wakeups 6 10 by 8",
            "wakeups 6 by",
            "after-wait 5 6",
            "before-return 8 10",
            "waker 5 6",
        ],
        &[
            "notified 6",
            "need 5 6",
            "wakeups 6 10 by 5 8",
            "wakeups 6 10 by 9",
            "wakeups 6 6 by 5",
            "wakeups by",
            "waker 7 6",
            "waker 5 7",
        ],
    );
    let trace = foretell_testkit::trace(two);
    let follows = |lines: &str| wrong(&trace, "same-write", (11, 12), lines).is_none();
    assert!(follows("wakeups 6 10 by 5\nclause -R6 -R10 W8,6 W9,6 W8,10 W9,10 by 1"));
    assert!(!follows("wakeups 6 10 by 5\nclause -R6 -R10 W8,6 W9,6 W8,10 by 1"));
}

#[test]
fn who_meets_at_a_barrier() {
    let same = "A|arrive(b)|1\nB|arrive(b)|2\nA|depart(b)|3\nB|depart(b)|4\nA|arrive(b)|5\nB|arrive(b)|6\nA|depart(b)|7\n\
                A|w(x)|8\nB|depart(b)|9\nB|w(x)|10\n";
    axioms(
        same,
        "same-write",
        (8, 10),
        &["need 1 4", "need 2 3", "need 2 5", "need 6 7", "arrivals 7 1 2 of 1 2 5", "arrivals 3 of 1"],
        &[
            "need 1 7",
            "need 5 6",
            "arrivals 7 of 1 2 5",
            "arrivals 3 of 1 2",
            "arrivals 7 1 1 of 1 2 5",
            "arrivals 7 1 5 of 1 2 5",
            "arrivals 1 of",
        ],
    );
    let any = format!("{same}C|arrive(b)|11\n");
    axioms(&any, "same-write", (8, 10), &["arrivals 3 of 1"], &["need 1 4", "need 2 5"]);
    let unknown =
        "A|arrive(b)|1\nA|depart(b)|2\nA|arrive(b)|3\nB|arrive(b)|4\nA|depart(b)|5\nA|w(x)|6\nB|w(x)|7\n";
    axioms(unknown, "same-write", (6, 7), &[], &["need 4 5", "arrivals 5 of 3", "arrivals 5 of"]);
}

#[test]
fn what_follows_is_checked_step_by_step() {
    let trace = foretell_testkit::trace("M|w(x)|1\nM|fork(T)|2\nT|w(x)|3\nU|w(x)|4\n");
    let proof = "absent 1\nprefix 1 2\nclause -R2 by 1 2\nreached 2\nclause by 3 4\n";
    assert_eq!(wrong(&trace, "same-write", (1, 3), proof), None);
    let facts = TraceFacts::new(&trace);
    let refuted = proof::check(&facts, &(header(&trace, "same-write", (1, 3)) + proof)).expect("a proof");
    assert_eq!(refuted.pair().map(|(first, second)| (first.number(), second.number())), Some((1, 3)));
    let changes = [
        ("clause by 3 4", "clause by 4 3 4"),
        ("clause by 3 4", "clause by 4"),
        ("clause by 3 4", "clause by"),
        ("clause by 3 4", "clause by 3 9"),
        ("clause by 3 4", "clause 3 4"),
        ("clause by 3 4", "clause by 3 4\nreached 2"),
        ("reached 2", "drop 3\nreached 2"),
        ("reached 2", "drop 9\nreached 2"),
        ("absent 1", "absent 4"),
        ("absent 1", "absent 0"),
        ("absent 1", "absent 1 1"),
        ("absent 1", "absent"),
        ("absent 1", "surely 1"),
        ("-R2", "-R02x"),
        ("-R2", "3<3"),
        ("-R2", "S2"),
    ];
    for (old, new) in changes {
        let changed = proof.replace(old, new);
        assert_ne!(changed, proof);
        assert!(wrong(&trace, "same-write", (1, 3), &changed).is_some(), "{changed}");
    }
    for lines in ["", "absent 1\n", "absent 1\nprefix 1 2\nclause -R2 by 1 2\nreached 2\n"] {
        assert!(proof::check(&facts, &(header(&trace, "same-write", (1, 3)) + lines)).is_err());
    }
}

#[test]
fn the_question_must_fit_the_trace() {
    let trace = foretell_testkit::trace("A|w(x)|1\nB|w(x)|2\nB|w(x)|3\nA|w(y)|4\nC|r(x)|5\n");
    let right = header(&trace, "same-write", (1, 2));
    let facts = TraceFacts::new(&trace);
    let refusal = |text: &str| proof::check(&facts, text).expect_err("no proof").to_string();
    assert!(refusal(&right).ends_with("it ends without a contradiction"));
    for (old, new) in [
        ("pair 1 2", "pair 2 1"),
        ("pair 1 2", "pair 2 3"),
        ("pair 1 2", "pair 2 4"),
        ("pair 1 2", "pair 1 6"),
        ("pair 1 2", "pair 1"),
        ("events 5", "events 4"),
        ("same-write", "values-or-so"),
        ("foretell-proof 1", "foretell-proof 2"),
    ] {
        let changed = right.replace(old, new);
        assert_ne!(changed, right);
        assert!(!refusal(&changed).ends_with("it ends without a contradiction"), "{changed}");
    }
    assert!(!refusal("").is_empty());
}
