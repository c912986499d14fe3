//! Names come from anywhere. In the page they are text, whatever they contain.

use foretell_report::observed::Deed;
use foretell_report::picture::{Kind, Shown, Taken};
use foretell_report::story::{Row, StoryStep};
use foretell_report::{
    Candidate, Confirmation, Excerpt, Frame, HeldLock, HeldMode, Need, NeededRead, NeededReads, NewValue,
    Observed, Origin, Picture, Proof, Race, RacingAccess, Report, Story, html,
};

use crate::chromium::Browser;
use crate::folder;

/// Each of them would do something if it were anything but text.
const NAMES: [&str; 8] = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "<!-- <script> \u{2028}\u{2029}",
    "\"><svg onload=alert(3)>",
    "\u{1b}[31mred\u{1b}[0m\r\nnext",
    "a\u{202e}txt.exe\u{2066}",
    "{{data}}{{script}}&lt;b&gt;",
    "javascript:alert(4)//:7:3",
];

fn name(at: usize) -> String {
    NAMES[at % NAMES.len()].to_string()
}

fn access(at: usize) -> RacingAccess {
    let frame = |at| Frame { function: name(at), location: format!("{}:{at}:1", name(at + 1)) };
    let origin = |at| Origin { event: 1, thread: name(at), location: name(at + 1), stack: vec![frame(at)] };
    let location = format!("{}:2:3", name(at + 2));
    RacingAccess {
        event: u32::try_from(at + 1).expect("a small number"),
        thread: name(at),
        thread_name: Some(name(at + 2)),
        op: name(at + 3),
        target: name(at + 1) + &"very_long_".repeat(3_000),
        value: Some(name(at + 4)),
        function: Some(name(at + 5)),
        stack: vec![frame(at), frame(at + 1)],
        locks: Some(vec![HeldLock {
            lock: name(at + 6),
            mode: HeldMode::Shared,
            location: name(at),
            stack: vec![frame(at)],
        }]),
        thread_started: Some(origin(at)),
        memory_allocated: Some(origin(at + 1)),
        source: None,
        excerpt: Some(Excerpt { first: 1, lines: (at..at + 4).map(name).collect(), doubt: None }),
        location,
    }
}

fn read(at: usize) -> NeededRead {
    let deed = |event| Deed { thread: name(at), event, what: name(at + 1), location: access(at).location };
    NeededRead { read: deed(1), strays: true, need: Need::Passed { on_by: deed(2), to: deed(3) } }
}

fn race(at: usize) -> Race {
    let steps = [at, at + 1].map(|at| StoryStep {
        thread: at % 2,
        event: u32::try_from(at + 1).expect("a small number"),
        what: name(at),
        location: access(at).location,
        races: true,
    });
    let shown = |at: usize| Shown {
        event: u32::try_from(at + 1).expect("a small number"),
        thread: at % 2,
        what: name(at),
        location: access(at).location,
        kind: Kind::Contested,
        section: None,
        races: true,
        is_key: true,
    };
    let taken = |at| Taken { at, what: Some(name(at)), skipped: 0, moved: None };
    let threads = vec![name(at), name(at + 1)];
    Race {
        first: access(at),
        second: access(at + 1),
        proof: Proof::Adjacent,
        model: None,
        witness: Some(vec![1, 2]),
        witness_length: Some(2),
        witness_tail: None,
        story: Some(Story {
            threads: threads.clone(),
            thread_names: [(threads[0].clone(), threads[1].clone())].into(),
            rows: steps.into_iter().map(Row::Step).collect(),
        }),
        observed: Some(Observed::Unordered),
        reads: Some(NeededReads { reads: vec![read(at)], more: 1 }),
        path: Some(name(at)),
        values: vec![NewValue {
            event: 1,
            thread: name(at),
            target: name(at),
            location: name(at),
            read: Some(name(at)),
            written: Some(name(at)),
        }],
        schedule: Some(name(at)),
        confirmation: Some(Confirmation::of([access(at), access(at + 1)])),
        picture: Some(Box::new(Picture {
            threads,
            events: vec![shown(at), shown(at + 1)],
            predicted: vec![taken(1), taken(0)],
            waits: Vec::new(),
            is_whole: true,
        })),
        processes: None,
        hunted: None,
        repeated: false,
        fingerprint: Some(name(2)),
    }
}

fn report() -> Report {
    let mut report = Report::new(NAMES[0]);
    report.trace.file = name(1);
    report.notes = NAMES.map(String::from).to_vec();
    report.races = (0..NAMES.len()).map(race).collect();
    let open = |at| Candidate {
        first: access(at),
        second: access(at + 1),
        reason: name(at),
        more: 3,
        fingerprint: None,
    };
    report.undecided = (0..NAMES.len()).map(open).collect();
    report
}

#[test]
fn hostile_names_are_text() {
    let path = folder("hostile").join("report.html");
    std::fs::write(&path, html::render(&[report()]).expect("a page")).expect("a file");
    let mut browser = Browser::start();
    browser.open(&path, "");
    for kind in ["race", "candidate"] {
        for number in 1..=NAMES.len() {
            browser.go_to(&format!("{kind}-{number}"));
            assert!(browser.is(
                "document.querySelector('img, svg[onload], [onerror], iframe, a[href^=javascript]') === null"
            ));
            assert!(browser.is("document.querySelectorAll('script').length === 2"), "its own");
            let detail = browser.text("document.querySelector('#detail').innerText");
            assert_eq!(detail.contains("Which reads matter"), kind == "race", "{detail}");
        }
    }
    let told = browser.text("document.body.innerText");
    assert!(told.contains("<img src=x onerror=alert(1)>") && told.contains("\\u{1b}[31mred"), "{told}");
    assert!(!told.contains(['\u{202e}', '\u{2066}', '\u{1b}']));
    for width in [360, 1600] {
        browser.size(width, 900);
        assert!(browser.fits(), "{width} pixels, a candidate");
        browser.go_to("race-2");
        assert!(browser.fits(), "{width} pixels, a race");
        browser.press(&["Escape"]);
        browser.wait_for("document.querySelector('#detail h2') === null");
        assert!(browser.fits(), "{width} pixels, the list");
        browser.go_to("candidate-3");
    }
    browser.assert_well_behaved();
}
