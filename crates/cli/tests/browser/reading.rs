//! What a reader does: reads, filters, points, clicks, presses keys.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::chromium::Browser;
use crate::{folder, page};

/// The auditor looks at the note without the lock that the teller had given back before, in this run.
const BANK: &str = "\
main|enter(main)|bank.c:20:1
main|fork(teller)|bank.c:21:5
main|fork(auditor)|bank.c:22:5
teller|begin|bank.c:4:1
teller|enter(teller)|bank.c:21:5
teller|w(note,1)|bank.c:5:10
teller|acq(lock)|bank.c:6:5
teller|r(balance,0)|bank.c:7:13
teller|w(balance,100)|bank.c:7:13
teller|rel(lock)|bank.c:8:5
auditor|begin|bank.c:11:1
auditor|enter(auditor)|bank.c:22:5
auditor|acq(lock)|bank.c:12:5
auditor|r(limit,0)|bank.c:13:16
auditor|rel(lock)|bank.c:14:5
auditor|r(note,1)|bank.c:15:12
";

const SOURCE: &str = "\
#include <pthread.h>
int note, balance, limit;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *teller(void *unused) {
    note = 1; // not under the lock
    pthread_mutex_lock(&lock);
    balance += 100;
    pthread_mutex_unlock(&lock);
    return 0;
}
void *auditor(void *unused) {
    pthread_mutex_lock(&lock);
    int most = limit;
    pthread_mutex_unlock(&lock);
    return note ? 0 : &limit;
}
";

/// A page with one race, whose source is there.
fn bank(folder: &Path) -> PathBuf {
    std::fs::write(folder.join("bank.c"), SOURCE).expect("a file");
    page(folder, BANK, "auto")
}

/// A trace with so many races, each of them on another variable.
pub(crate) fn many(races: usize) -> String {
    let mut text = String::from("main|fork(a)|m.c:1\nmain|fork(b)|m.c:2\n");
    for race in 0..races {
        text += &format!("a|w(x{race},1)|src/a{}.c:{}:5\n", race % 3, race + 10);
    }
    text += "a|acq(l)|l.c:1\na|rel(l)|l.c:2\nb|acq(l)|l.c:3\nb|rel(l)|l.c:4\n";
    for race in 0..races {
        text += &format!("b|r(x{race},1)|src/b.c:{}:9\n", race + 10);
    }
    text
}

#[test]
fn a_race_is_told_from_a_file_without_any_network() {
    let page = bank(&folder("told"));
    let mut browser = Browser::start();
    browser.open(&page, "");
    assert_eq!(browser.text("document.querySelector('h1').textContent"), "1 race proven");
    assert_eq!(browser.text("document.title"), "foretell: 1 race proven");
    let told = browser.text("document.querySelector('#detail').innerText");
    for expected in [
        "teller writes note = 1 at bank.c:5:10, and auditor reads note = 1 at bank.c:15:12.",
        "note = 1; // not under the lock",
        "teller unlocks lock (event 10) came before auditor locks lock (event 13)",
        "main at bank.c:21:5",
        "holds",
        "no lock",
        "Proven.",
        "teller waits here; in the recorded run it continued to event 6",
        "Recorded order",
        "Predicted order",
    ] {
        assert!(told.contains(expected), "`{expected}` is not in {told}");
    }
    // The same events in both orders, the racing two together at the end of one of them.
    let events = |panel: &str| {
        format!(
            "[...document.querySelectorAll('.{panel} .step')].map((step) => step.querySelector('.event').textContent).join(' ')"
        )
    };
    assert_eq!(browser.text(&events("recorded")), "2 3 6 7 8 9 10 13 14 15 16");
    assert_eq!(browser.text(&events("predicted")), "2 3 13 14 15 6 16");
    let moved =
        "[...document.querySelectorAll('.predicted .moved')].map((step) => step.dataset.at).join(' ')";
    assert_eq!(browser.text(moved), "5", "only the teller's write is moved");
    assert_eq!(browser.requests(), 1, "the page itself");
    browser.assert_well_behaved();
}

#[test]
fn pointing_at_a_step_shows_its_source_and_a_click_goes_there() {
    let page = bank(&folder("pointing"));
    let mut browser = Browser::start();
    browser.open(&page, "");
    browser.point(".recorded .step[data-at='12'] .chip", false);
    browser.wait_for("document.querySelector('.dock').innerText.includes('pthread_mutex_lock(&lock);')");
    let dock = browser.text("document.querySelector('.dock').innerText");
    assert!(dock.contains("auditor locks lock at bank.c:12:5 · event 13"), "{dock}");
    assert!(browser.is("document.querySelectorAll('.step.pointed').length === 2"), "in both orders");
    browser.point(".predicted .step[data-at='5'] .chip", true);
    browser.wait_for("document.querySelector('.sources .line.selected') !== null");
    let line = browser.text("document.querySelector('.sources .line.selected').innerText");
    assert!(line.contains("note = 1;"), "{line}");
    let in_sight = "(() => { const box = document.querySelector('.sources .selected').getBoundingClientRect(); return box.top >= 0 && \
                    box.bottom <= innerHeight; })()";
    browser.wait_for(in_sight);
    // What does not matter is folded, and comes when asked for.
    assert!(browser.is("document.querySelector('.predicted .step.silent') === null"));
    browser.point(".controls button", true);
    browser.wait_for("document.querySelectorAll('.predicted .step').length === 12");
    assert!(browser.is("document.querySelector('.predicted .step.silent') !== null"));
    browser.assert_well_behaved();
}

#[test]
fn everything_can_be_done_by_keys() {
    let page = page(&folder("keys"), &many(5), "auto");
    let mut browser = Browser::start();
    browser.open(&page, "#race-3");
    let heading = "document.querySelector('h2').textContent";
    assert_eq!(browser.text(heading), "x2", "the address names it");
    browser.press(&["j"]);
    assert_eq!(browser.text(heading), "x3");
    browser.press(&["k", "k"]);
    assert_eq!(browser.text(heading), "x1");
    assert_eq!(browser.text("location.hash"), "#race-2");
    browser.press(&["Escape"]);
    browser.wait_for("document.querySelector('h2') === null || !document.querySelector('#detail h2')");
    browser.press(&["/"]);
    assert!(browser.is("document.activeElement.type === 'search'"));
    browser.press(&["x", "4"]);
    browser.wait_for("document.querySelectorAll('.item').length === 1");
    browser.press(&["Enter"]);
    browser.wait_for("document.querySelector('#detail h2')?.textContent === 'x4'");
    browser.press(&["Escape", "?"]);
    assert!(browser.is("document.querySelector('dialog').open"));
    browser.press(&["Escape"]);
    browser.wait_for("!document.querySelector('dialog').open");
    // From step to step in the picture, and over to the same step in the other order.
    browser.eval("document.querySelector('.predicted .step[tabindex=\"0\"]').focus()");
    let focused =
        "document.activeElement.closest('.panel').className + ' ' + document.activeElement.dataset.at";
    let last = browser.text(focused);
    browser.press(&["ArrowUp"]);
    assert_ne!(browser.text(focused), last);
    assert!(browser.text("document.querySelector('.dock').innerText").contains("event"));
    browser.press(&["ArrowLeft"]);
    assert!(browser.text(focused).starts_with("panel recorded"));
    let outline = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(browser.text(outline), "solid", "one sees where one is");
    // The list by itself.
    browser.eval("document.querySelector('[role=search], input[type=search]').value = ''");
    browser.eval("document.querySelector('input[type=search]').dispatchEvent(new Event('input'))");
    browser.eval("document.querySelector('[role=listbox]').focus()");
    browser.press(&["ArrowUp", "Enter"]);
    assert_eq!(browser.text("document.querySelector('#detail h2').textContent"), "x3");
    let active = "document.getElementById(document.querySelector('[role=listbox]').getAttribute('aria-activedescendant')).innerText";
    assert!(browser.text(active).contains("x3"));
    let nameless = "[...document.querySelectorAll('button, input, select, [role=listbox], [role=tablist]')].filter((element) => \
                    !element.textContent.trim() && !element.getAttribute('aria-label')).length";
    assert_eq!(browser.eval(nameless), json!(0), "everything has a name");
    browser.assert_well_behaved();
}

#[test]
fn filters_narrow_the_list_and_candidates_stand_apart() {
    let page = page(&folder("filters"), &many(6), "auto,lockset");
    let mut browser = Browser::start();
    browser.open(&page, "");
    let items = "document.querySelectorAll('.item').length";
    assert_eq!(browser.eval(items), json!(6));
    let choose = |name: &str, value: &str| {
        format!(
            "(() => {{ const select = document.querySelector('select[aria-label={name}]'); select.value = '{value}'; \
             select.dispatchEvent(new Event('change')); }})()"
        )
    };
    browser.eval(&choose("File", "src/a1.c"));
    assert_eq!(browser.eval(items), json!(2));
    browser.eval(&choose("Variable", "x4"));
    assert_eq!(browser.eval(items), json!(1));
    browser.eval(&choose("Variable", "x0"));
    assert!(browser.text("document.querySelector('.none').textContent").contains("Nothing matches"));
    let races = browser.text("document.querySelector('#list').innerText");
    assert!(!races.contains("not proven\n"), "{races}");
    browser.point("#tab-open", true);
    browser.eval(&choose("File", ""));
    browser.eval(&choose("Variable", ""));
    assert_eq!(browser.eval(items), json!(6));
    browser.point(".item", true);
    let told = browser.text("document.querySelector('#detail').innerText");
    assert!(told.contains("This pair is not proven to race. Reason: lockset does not prove"), "{told}");
    assert!(!told.contains("Proven"), "{told}");
    assert!(browser.is("location.hash === '#candidate-1'"));
    browser.assert_well_behaved();
}

#[test]
fn it_is_readable_on_phones_and_walls_by_day_and_by_night() {
    let page = bank(&folder("sizes"));
    let mut browser = Browser::start();
    let background = "getComputedStyle(document.body).backgroundColor";
    let mut colours = [String::new(), String::new()];
    for (width, height) in [(360, 740), (1600, 1000), (2560, 1440)] {
        browser.size(width, height);
        browser.open(&page, "");
        assert!(browser.fits(), "{width} pixels, as it opens");
        browser.go_to("race-1");
        colours = ["light", "dark"].map(|scheme| {
            browser.prefer(scheme);
            assert!(browser.fits(), "{width} pixels, a race");
            assert!(browser.screenshot().len() > 10_000, "something is to be seen");
            browser.text(background)
        });
    }
    assert_ne!(colours[0], colours[1]);
    // Whoever prefers it otherwise says so: system, light, dark.
    browser.prefer("light");
    browser.point("#theme", true);
    browser.point("#theme", true);
    assert_eq!(browser.text(background), colours[1], "dark by choice");
    browser.size(360, 740);
    browser.open(&page, "");
    assert!(browser.is("document.querySelector('#list').offsetHeight > 0 && document.querySelector('#detail').offsetHeight === 0"));
    browser.point(".item", true);
    browser.wait_for("document.querySelector('#list').offsetHeight === 0 && document.querySelector('#detail').offsetHeight > 0");
    browser.point(".back", true);
    browser.wait_for("document.querySelector('#list').offsetHeight > 0");
    browser.assert_well_behaved();
}

#[test]
fn it_can_be_printed() {
    let page = bank(&folder("printed"));
    let mut browser = Browser::start();
    browser.open(&page, "#race-1");
    let printed = browser.call("Page.printToPDF", json!({"printBackground": true}));
    assert!(printed["data"].as_str().is_some_and(|pdf| pdf.len() > 20_000));
    // All rows of the picture are there, whether in sight or not.
    browser.size(1600, 300);
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert!(browser.is("document.querySelectorAll('.recorded .step').length === 11"));
    browser.assert_well_behaved();
}
