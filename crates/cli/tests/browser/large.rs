//! A page stays quick, however much it has to tell.

use std::path::Path;
use std::time::Duration;

use crate::chromium::Browser;
use crate::reading::many;
use crate::{folder, page};

/// How long a page may take to be of use.
const LIMIT: Duration = Duration::from_secs(3);
/// How many elements a page has at most at a time, whatever it is about.
const ELEMENTS: u64 = 4_000;

/// How long a page takes to open: the best of three times, since others may be using the machine.
fn open(browser: &mut Browser, page: &Path, anchor: &str) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        best = best.min(browser.open(page, anchor));
        if best < LIMIT {
            break;
        }
    }
    best
}

fn elements(browser: &mut Browser) -> u64 {
    browser.eval("document.querySelectorAll('*').length").as_u64().unwrap_or(u64::MAX)
}

/// Two threads that do so much before they race that the witness has some 100,000 steps.
fn long() -> String {
    let mut text = String::from("main|fork(a)|l.c:1\nmain|fork(b)|l.c:2\n");
    for round in 0..5_000 {
        for (thread, lock) in [("a", "m"), ("b", "n")] {
            text += &format!("{thread}|acq({lock})|l.c:5\n");
            for var in 0..8 {
                text += &format!("{thread}|w({thread}{var},{round})|l.c:{}\n", var + 10);
            }
            text += &format!("{thread}|rel({lock})|l.c:20\n");
        }
    }
    text + "a|w(x,1)|l.c:50\na|acq(l)|l.c:51\na|rel(l)|l.c:52\nb|acq(l)|l.c:60\nb|rel(l)|l.c:61\nb|r(x,1)|l.c:62\n"
}

#[test]
fn a_thousand_races_open_at_once() {
    let page = page(&folder("thousand"), &many(1_000), "auto");
    let mut browser = Browser::start();
    let took = open(&mut browser, &page, "");
    assert!(took < LIMIT, "{took:?}");
    assert_eq!(browser.text("document.querySelector('#tab-race .count').textContent"), "1,000");
    assert!(elements(&mut browser) < ELEMENTS);
    browser.press(&["/", "x", "9", "9", "7"]);
    browser.wait_for("document.querySelectorAll('.item').length === 1");
    browser.press(&["Enter"]);
    browser.wait_for("document.querySelector('#detail h2').textContent === 'x997'");
    assert_eq!(browser.text("location.hash"), "#race-998");
    // The end of the list can be reached.
    browser.eval("document.querySelector('input[type=search]').value = ''");
    browser.eval("document.querySelector('input[type=search]').dispatchEvent(new Event('input'))");
    browser.eval("document.querySelector('[role=listbox]').scrollTop = 1e9");
    browser.wait_for(
        "[...document.querySelectorAll('.item .target')].some((item) => item.textContent === 'x999')",
    );
    browser.size(360, 740);
    assert!(browser.fits());
    println!("1,000 races: {took:?}, {} bytes", page.metadata().map_or(0, |data| data.len()));
    browser.assert_well_behaved();
}

#[test]
fn a_witness_of_a_hundred_thousand_events_opens_at_once() {
    let page = page(&folder("long"), &long(), "syncp");
    let mut browser = Browser::start();
    let took = open(&mut browser, &page, "#race-1");
    assert!(took < LIMIT, "{took:?}");
    let steps = browser.text("document.querySelector('.controls button').textContent");
    assert!(steps.starts_with("Show all 100,00"), "{steps}");
    assert!(elements(&mut browser) < ELEMENTS);
    browser.press(&["a"]);
    browser.wait_for("document.querySelector('.stage').scrollHeight > 2900000");
    browser.eval("document.querySelector('.stage').scrollIntoView({ block: 'center', behavior: 'instant' })");
    browser.eval("document.querySelector('.stage').scrollTop = 1e9");
    browser.wait_for("document.querySelectorAll('.recorded .step.racing').length > 0");
    assert!(elements(&mut browser) < ELEMENTS, "only what is in sight is there");
    println!("100,000 events: {took:?}, {} bytes", page.metadata().map_or(0, |data| data.len()));
    browser.assert_well_behaved();
}
