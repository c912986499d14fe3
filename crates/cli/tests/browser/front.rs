//! What a reader sees first: the sentence, the fix and the picture; the rest folded until it is asked for.

use std::path::PathBuf;

use serde_json::json;

use crate::chromium::Browser;
use crate::{folder, page};

/// Two fields that one function touches without the lock under which others do, from several places; and a line that
/// is much longer than the page is wide.
fn pool(test: &str) -> PathBuf {
    let folder = folder(test);
    let long = format!("    if (ready) {{ {}; stats.hits += 1; }}", "relax()".repeat(40));
    std::fs::write(folder.join("pool.c"), format!("// ü\n{long}\nint größe; stats.hits++;\n"))
        .expect("a file");
    let mut trace = String::from("main|fork(a)|m.c:1\nmain|fork(b)|m.c:2\n");
    let column = long.find("stats").expect("it is there") + 1;
    let deep = "std::__invoke_impl<void, pool::Worker<std::vector<int, std::allocator<int>>, 3>::run(int)::{lambda()#1}>(std::__invoke_other)";
    for depth in 0..20 {
        trace += &format!("a|enter({deep}{depth})|src/deep.cc:{}:1\n", depth + 1);
    }
    trace += &format!("a|enter(account)|pool.c:1:1\na|w(stats.hits,1)|pool.c:2:{column}\n");
    trace += "a|w(stats.misses,1)|pool.c:1:1\n";
    trace += "b|enter(drain)|pool.c:1:1\nb|acq(pool.lock)|pool.c:1:1\nb|w(stats.hits,2)|pool.c:3:14\n";
    trace += "b|r(stats.hits,2)|pool.c:4:1\nb|w(stats.misses,2)|pool.c:1:4\nb|rel(pool.lock)|pool.c:5:1\n";
    page(&folder, &trace, "auto")
}

#[test]
fn the_sentence_comes_first_then_the_fix_then_the_picture() {
    let page = pool("sentence");
    let mut browser = Browser::start();
    browser.open(&page, "#race-1");
    let sentence = "`stats.hits` is written by `account` without `pool.lock`, which protects it elsewhere."
        .replace('`', "");
    assert_eq!(browser.text("document.querySelector('.cause').textContent"), sentence);
    let fix = browser.text("document.querySelector('.fix').textContent");
    assert!(fix.starts_with("Proposed fix: hold pool.lock at pool.c:2:"), "{fix}");
    let order = "[...document.querySelectorAll('.cause, .fix, .picture, .accesses')].map((part) => part.className).join(' ')";
    assert_eq!(browser.text(order), "cause fix picture accesses");
    browser.assert_well_behaved();
}

#[test]
fn races_of_one_cause_stand_together() {
    let page = pool("causes");
    let mut browser = Browser::start();
    browser.open(&page, "");
    let causes = browser.text("document.querySelector('.causes').innerText");
    assert!(causes.starts_with("2 causes of 3 races"), "{causes}");
    let listed =
        "[...document.querySelectorAll('.item .target')].map((target) => target.textContent).join(' ')";
    assert_eq!(browser.text(listed), "stats.hits stats.hits stats.misses");
    assert_eq!(browser.eval("document.querySelectorAll('.item.first-of-cause').length"), json!(2));
    let first = "document.querySelector('.cause ~ .dim .link').textContent";
    let other = browser.text(first);
    browser.point(".cause ~ .dim .link", true);
    browser.wait_for(&format!("location.hash === '#race-{other}'"));
    browser.assert_well_behaved();
}

#[test]
fn the_thing_that_is_accessed_is_marked_and_in_sight() {
    let page = pool("column");
    let mut browser = Browser::start();
    browser.size(900, 800);
    browser.open(&page, "#race-1");
    let marks = "[...document.querySelectorAll('.access mark')].map((mark) => mark.textContent).join(' ')";
    assert_eq!(browser.text(marks), "stats.hits stats.hits", "bytes are not letters");
    let in_sight = "(() => { const mark = document.querySelector('.access mark').getBoundingClientRect(); const box = \
                    document.querySelector('.access .source').getBoundingClientRect(); return mark.left >= box.left && mark.right <= box.right; })()";
    assert!(browser.is(in_sight), "the line is scrolled to it");
    assert!(browser.fits());
    browser.assert_well_behaved();
}

#[test]
fn deep_stacks_and_long_names_are_folded() {
    let page = pool("deep");
    let mut browser = Browser::start();
    browser.open(&page, "#race-1");
    let shown = "[...document.querySelectorAll('.access')].find((card) => card.innerText.includes('more callers')).querySelector('.stack').children.length";
    assert_eq!(browser.eval(shown), json!(7));
    let name = browser.text("document.querySelector('.stack details.name summary').innerText");
    assert_eq!(name, "std::__invoke_impl<…>(std::__invoke_other)19");
    assert!(browser.is("document.querySelector('.stack').offsetHeight < 500"));
    browser.assert_well_behaved();
}

#[test]
fn the_timeline_zooms_from_the_whole_run_to_the_two_accesses() {
    let page = pool("timeline");
    let mut browser = Browser::start();
    browser.open(&page, "#race-1");
    let range = "document.querySelector('.timeline .dim').textContent";
    assert!(browser.text(range).starts_with("events 1 to "), "{}", browser.text(range));
    let racing = "document.querySelectorAll('.strip .tick.racing').length";
    assert_eq!(browser.eval(racing), json!(2));
    let apart = "(() => { const [one, other] = document.querySelectorAll('.strip .tick.racing'); return Math.abs(one.getBoundingClientRect().x - \
                 other.getBoundingClientRect().x); })()";
    let before = browser.eval(apart).as_f64().expect("a number");
    browser.point(".timeline button:last-of-type", true);
    assert!(!browser.text(range).starts_with("events 1 to "));
    let after = browser.eval(apart).as_f64().expect("a number");
    assert!(after > before && browser.eval(racing) == json!(2), "{before} {after}");
    browser.assert_well_behaved();
}

#[test]
fn notes_are_folded_and_printed() {
    let folder = folder("notes");
    let page =
        page(&folder, "main|fork(a)|1\na|w(x,1)|2\nmain|r(x,7)|3\na|w(y,1)|4\nmain|r(y,1)|5\n", "auto");
    let mut browser = Browser::start();
    browser.open(&page, "");
    assert!(
        browser.is("document.querySelector('.notes') !== null && !document.querySelector('.notes').open")
    );
    assert!(browser.text("document.querySelector('.notes summary').innerText").contains("note"));
    browser.eval("dispatchEvent(new Event('beforeprint'))");
    assert!(browser.is("document.querySelector('.notes').open"), "nobody can unfold paper");
    browser.eval("dispatchEvent(new Event('afterprint'))");
    assert!(browser.is("!document.querySelector('.notes').open"));
    browser.assert_well_behaved();
}
