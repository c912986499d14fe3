//! What each key does.

use foretell_view::Flow;
use foretell_view::browser::{Ask, HELP, Mode};

use crate::{at, bank, browser, browser_with_races, press, screen};

/// Presses keys from the beginning of the bank, and tells where that leads.
fn leads_to(keys: &str) -> u32 {
    let trace = bank();
    let mut browser = browser_with_races(&trace);
    press(&mut browser, keys);
    at(&browser)
}

#[test]
fn keys_lead_from_event_to_event() {
    for (keys, event) in [
        ("jjj", 4),
        ("jjjk", 3),
        ("G", 23),
        ("Gg", 1),
        ("<pgdn><pgdn><pgdn>", 23),
        (":12<enter>", 12),
        ("12<enter>", 12),
        ("12<back>0<enter>", 10),
        ("99<enter>", 1),
        ("7<enter>b", 1),
        // The same variable, up and down.
        ("7<enter>]", 9),
        ("7<enter>]]", 17),
        ("17<enter>[[", 7),
        ("7<enter>[", 7),
        // The same thread.
        ("2<enter>}", 22),
        ("22<enter>{", 2),
        // From reads to writes and back.
        ("17<enter>w", 9),
        ("9<enter>w", 17),
        ("19<enter>w", 13),
        ("7<enter>w", 7),
        // The other half of locks, functions and threads.
        ("6<enter>%", 10),
        ("11<enter>%", 8),
        ("16<enter>%", 18),
        ("5<enter>%", 12),
        ("12<enter>%", 5),
        ("1<enter>%", 3),
        ("15<enter>%", 2),
        ("14<enter>%", 22),
        ("23<enter>%", 21),
        ("9<enter>%", 8),
        ("7<enter>%", 6),
        ("4<enter>%", 4),
        // Searches go around the ends.
        ("/balance<enter>", 7),
        ("/balance<enter>n", 9),
        ("/balance<enter>N", 17),
        ("/balance<enter>nnn", 7),
        ("/lock=log<enter>n", 11),
        ("/thread=auditor<enter>", 2),
        ("/nothing<enter>", 1),
        // Races.
        ("r", 4),
        ("rr", 9),
        ("rrr", 4),
        ("R", 9),
        ("r<tab>", 20),
        ("r<tab><tab>", 4),
        ("17<enter><tab>", 9),
        ("a<down><enter>", 9),
    ] {
        assert_eq!(leads_to(keys), event, "{keys}");
    }
}

#[test]
fn only_matches_can_be_shown_and_all_again() {
    let trace = bank();
    let mut browser = browser(&trace);
    press(&mut browser, "/var:balance<enter>f");
    assert!(browser.shows_only_found());
    let lanes = browser.lanes();
    let shown = |browser: &foretell_view::Browser<'_>| -> Vec<u32> {
        browser.window(&lanes).0.iter().map(|row| row.event.number()).collect()
    };
    assert_eq!(shown(&browser), [7, 9, 17]);
    press(&mut browser, "G");
    assert_eq!(at(&browser), 17);
    // Another search picks other events.
    press(&mut browser, "/op=fork<enter>");
    assert_eq!(shown(&browser), [1, 2]);
    press(&mut browser, "/none of these<enter>");
    assert_eq!((shown(&browser), at(&browser)), (vec![], 0));
    press(&mut browser, "jkGg%w[]{}xor<tab>bnN");
    press(&mut browser, "<esc>");
    assert_eq!(browser.window(&lanes).0.len(), browser.layout().rows.min(23));
    press(&mut browser, "<esc>");
    assert!(browser.query().is_none());
}

#[test]
fn a_jump_shows_what_it_leads_to() {
    let trace = bank();
    let mut browser = browser_with_races(&trace);
    press(&mut browser, "/thread=main<enter>f20<enter>");
    assert_eq!(at(&browser), 20);
    assert!(!browser.shows_only_found());
    press(&mut browser, "x");
    assert_ne!(at(&browser), 20);
    press(&mut browser, "20<enter>");
    assert_eq!((at(&browser), browser.hidden_count()), (20, 0));
}

#[test]
fn hidden_threads_have_no_lanes_and_no_events() {
    let trace = bank();
    let mut browser = browser(&trace);
    press(&mut browser, "4<enter>x");
    assert_eq!((browser.lanes().len(), at(&browser)), (2, 15));
    assert!(browser.message().contains("teller is hidden"), "{}", browser.message());
    press(&mut browser, "/balance<enter>n");
    assert_eq!(at(&browser), 17, "nothing is looked for in hidden threads");
    press(&mut browser, "X");
    assert_eq!(browser.lanes().len(), 3);
    press(&mut browser, "tgx<down> <enter>");
    assert_eq!(browser.lanes().len(), 1);
    press(&mut browser, "tia<esc>");
    assert_eq!(browser.lanes().len(), 3);
    press(&mut browser, "ti<enter>");
    assert_eq!((browser.lanes().len(), at(&browser)), (0, 0));
    press(&mut browser, "jkG%r/x<enter>nf");
}

#[test]
fn a_witness_is_shown_in_its_own_order() {
    let trace = bank();
    let mut browser = browser_with_races(&trace);
    press(&mut browser, "ro");
    assert!(browser.shows_witness());
    let lanes = browser.lanes();
    let shown: Vec<u32> = browser.window(&lanes).0.iter().map(|row| row.event.number()).collect();
    assert_eq!(shown, [1, 2, 3, 15, 16, 17, 18, 19, 4, 20]);
    assert_eq!(at(&browser), 4);
    // The order of the witness is what counts there: the write has not happened before the read of the balance.
    press(&mut browser, "jjjjw");
    assert_eq!(at(&browser), 4, "the last event reads what the one before it wrote");
    press(&mut browser, "17<enter>w");
    assert!(browser.message().contains("no write before it"), "{}", browser.message());
    press(&mut browser, "9<enter>");
    assert!(!browser.shows_witness(), "that event is not in the witness");
    press(&mut browser, "rro");
    assert!(browser.shows_witness());
    press(&mut browser, "o");
    assert_eq!((browser.shows_witness(), at(&browser)), (false, 4));
    press(&mut browser, "ro");
    assert!(browser.message().contains("no witness of race 2"), "{}", browser.message());
}

#[test]
fn without_a_report_races_are_not_looked_for() {
    let trace = bank();
    for key in ["r", "R", "a", "o"] {
        let mut browser = browser(&trace);
        press(&mut browser, key);
        assert!(browser.message().contains("foretell predict"), "{key}: {}", browser.message());
        assert_eq!((browser.mode(), at(&browser)), (&Mode::Browse, 1));
    }
}

#[test]
fn questions_can_be_taken_back() {
    let trace = bank();
    let mut browser = browser(&trace);
    press(&mut browser, "/ab<back>");
    assert_eq!(browser.mode(), &Mode::Prompt(Ask::Search, "a".to_string()));
    press(&mut browser, "<back><back>");
    assert_eq!(browser.mode(), &Mode::Browse);
    press(&mut browser, "/x<esc>");
    assert!(browser.query().is_none() && browser.mode() == &Mode::Browse);
    press(&mut browser, "?j?");
    assert_eq!(browser.mode(), &Mode::Browse);
}

#[test]
fn q_and_control_c_quit() {
    let trace = bank();
    assert_eq!(press(&mut browser(&trace), "q"), Flow::Quit);
    assert_eq!(press(&mut browser(&trace), "/q"), Flow::Continue);
    assert_eq!(press(&mut browser(&trace), "/q<ctrl-c>"), Flow::Quit);
}

#[test]
fn help_names_every_key_of_the_document() {
    let document = include_str!("../../../../docs/trace-view.md");
    let keys = HELP.iter().flat_map(|(_, keys)| keys.iter()).flat_map(|(keys, _)| keys.split(' '));
    for key in keys.filter(|key| !key.is_empty()) {
        assert!(document.contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn long_work_is_done_in_pieces_and_can_be_ended() {
    let trace = foretell_testkit::trace(&"A|acq(l)|1\nA|w(x)|2\nA|rel(l)|3\n".repeat(100_000));
    let mut browser = browser(&trace);
    assert!(browser.is_busy(), "locks are still being followed");
    press(&mut browser, "g");
    for key in crate::keys_of("/var:nowhere<enter>") {
        browser.key(key);
    }
    assert!(browser.activity().is_some_and(|activity| activity.contains("nowhere")));
    assert!(screen(&mut browser, 80, 24).contains("looks for match of var:nowhere"));
    for key in crate::keys_of("<esc>") {
        browser.key(key);
    }
    assert!(!browser.is_busy());
    assert_eq!(browser.message(), "search ended");
    // While matches are being picked, the cursor stays with its event.
    press(&mut browser, "299000<enter>/loc=2<enter>");
    let here = at(&browser);
    browser.key(foretell_view::Key::Char('f'));
    assert!(browser.is_busy());
    while browser.is_busy() {
        browser.work();
    }
    assert_eq!(at(&browser), here);
    press(&mut browser, "G");
    assert_eq!(at(&browser), 299_999);
}
