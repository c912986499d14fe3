//! Reads on the way to a race in words: which of them matter, and what for.

use crate::observed::Deed;
use crate::page::{GLUE, Ink, Text};
use crate::race_text::deed_text;
use crate::reads::{Need, NeededRead};
use crate::visible::{place, visible};

/// What is to be known before single reads are shown.
pub(crate) const INTRODUCTION: &str = "Some reads see other values than in the recorded run. The necessary reads do not: the steps above depend on \
     them, by a branch, an address or a value.";

/// A read, whether it matters, and why.
pub(crate) fn read(needed: &NeededRead) -> Text {
    let text = deed_text(&needed.read).add(match needed.need.is_kept() {
        true => " matters: ",
        false => " does not matter: ",
    });
    let text = match &needed.need {
        Need::Decides(deed) => text.add("it decides ").append(decided(deed)),
        Need::Passed { on_by, to } => text
            .add("a value that depends on it is written where ")
            .append(deed_text(on_by))
            .add(", and must be seen where ")
            .append(deed_text(to)),
        Need::DecidesLater(deed) => {
            text.add("the first event that it steers is ").append(decided(deed)).add(", after the race")
        }
        Need::Nothing => text.add("no event of this schedule depends on it"),
    };
    if needed.strays { text.add("; here it sees another value") } else { text }
}

/// What a read decides.
fn decided(deed: &Deed) -> Text {
    Text::from(format!("what {} does at ", visible(&deed.thread)))
        .ink(Ink::Place, place(&deed.location))
        .ink(Ink::Quiet, format!(" (event{GLUE}{})", deed.event))
}
