//! Whatever is pressed, and however large the screen is: nothing panics, and no name reaches the terminal raw.

use foretell_trace::Trace;
use foretell_view::{Flow, Key};
use proptest::prelude::*;

use crate::{bank, browser_with_races, keys_of, screen};

/// Keys, with those that do something more often than others.
fn any_key() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => prop::sample::select("jkgGhl/:?[]{}%wnNfxXtraoRcbi x149v=".chars().collect::<Vec<_>>()).prop_map(Key::Char),
        1 => any::<char>().prop_map(Key::Char),
        4 => prop::sample::select(vec![
            Key::Enter, Key::Escape, Key::Tab, Key::Backspace, Key::Up, Key::Down, Key::Left, Key::Right,
            Key::PageUp, Key::PageDown, Key::Home, Key::End, Key::WheelUp, Key::WheelDown,
            Key::Control('u'), Key::Control('d'), Key::Control('f'), Key::Control('b'),
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_keys_and_no_size_make_it_panic(
        steps in prop::collection::vec((any_key(), 0..120_u16, 0..60_u16), 1..60),
    ) {
        let trace = bank();
        let mut browser = browser_with_races(&trace);
        for (key, width, height) in steps {
            // It does not matter that it would end here.
            let _: Flow = browser.key(key);
            let shown = screen(&mut browser, width, height);
            prop_assert!(!shown.chars().any(|character| character.is_control() && character != '\n'));
        }
    }
}

/// Names that a terminal would act upon, and names that are wide or take no room.
fn hostile() -> Trace {
    foretell_testkit::trace(
        "\u{1b}[2Jevil|w(\u{202e}x\u{200b},1)|\u{7}a\tb.c:1\n日本語の長い名前のスレッド|acq(\u{9b}31m錠)|\u{1b}]0;title\u{7}\n\
         日本語の長い名前のスレッド|enter(f\r\u{8}\u{8})|3\n日本語の長い名前のスレッド|rel(\u{9b}31m錠)|日本語日本語日本語日本語日本語:1\n",
    )
}

#[test]
fn hostile_names_are_made_visible_at_every_size() {
    let trace = hostile();
    for width in 0..100 {
        for keys in ["", "G", "t", "?", "/\u{1b}[31m", "ka", "c"] {
            let mut browser = foretell_view::Browser::new(
                &trace,
                "\u{1b}[31m.std",
                Box::new(|_| Some("\u{1b}c\tx".to_string())),
            );
            for key in keys_of(keys) {
                browser.key(key);
            }
            let shown = screen(&mut browser, width, 20);
            let raw = |character: char| {
                (character.is_control() && character != '\n') || matches!(character, '\u{202e}' | '\u{200b}')
            };
            assert!(!shown.contains(raw), "{width}: {shown:?}");
        }
    }
    let mut browser = foretell_view::Browser::new(&trace, "x", Box::new(|_| None));
    assert!(screen(&mut browser, 100, 20).contains("\\u{1b}[2Jevil"));
}
