//! What came of driving a program into a race or a deadlock, for people at a terminal.

use crate::confirmation::Confirmation;
use crate::hunt_text::write_waiting;
use crate::page::{Ink, Page, Text};
use crate::race_text::{FRAMES, LINES_AROUND, deed, together, write_access};
use crate::report::RacingAccess;
use crate::text::Detail;
use crate::visible::visible;

/// How it went, with what both threads did, if they came together.
pub fn render(confirmation: &Confirmation, detail: Detail) -> String {
    let mut page = Page::new(detail);
    match &confirmation.live[..] {
        [first, second] => {
            let target = visible(&first.target);
            let (kind, how, what) = match confirmation.apart {
                false => (
                    "race",
                    together(first, second),
                    "both threads were held right before these accesses, and made them one after the other",
                ),
                true => (
                    "use after free",
                    format!("{} after {}", live(second), live(first)),
                    "the one thread freed the memory, and later the other one used it",
                ),
            };
            let title = Text::new()
                .ink(Ink::Race, format!("{kind}: {target}"))
                .add(" · ")
                .ink(Ink::Sure, "confirmed");
            page.wrapped(0, 2, title.add(format!(": {how}")));
            for access in [first, second] {
                write_access(&mut page, access, LINES_AROUND, FRAMES);
            }
            page.wrapped(2, 4, what);
        }
        _ if !confirmation.waiting.is_empty() => {
            let title = Text::new().ink(Ink::Race, "deadlock").add(" · ").ink(Ink::Sure, "confirmed");
            page.wrapped(0, 2, title.add(": the program itself is in it"));
            for waiting in &confirmation.waiting {
                write_waiting(&mut page, waiting);
            }
        }
        _ => page.wrapped(0, 2, words(confirmation)),
    }
    page.finish()
}

/// How it went, in a sentence.
pub(crate) fn words(confirmation: &Confirmation) -> Text {
    let text = Text::new();
    if !confirmation.confirmed {
        let why = confirmation.why.as_deref().unwrap_or("unknown reason");
        return text.ink(Ink::Heading, "not confirmed").add(format!(": {}", visible(why)));
    }
    let text = text.ink(Ink::Sure, "confirmed").add(": the program itself was driven into it");
    match &confirmation.live[..] {
        [first, second] => text.add(format!("; there {}, and {}", live(first), live(second))),
        _ => text,
    }
}

fn live(access: &RacingAccess) -> String {
    format!("{} {}", visible(&access.thread), deed(access))
}
