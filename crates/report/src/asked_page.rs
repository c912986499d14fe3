//! Pairs that the user asked about, for people with a browser: what was decided, and why. One page that needs nothing
//! but itself, not even a script.

use crate::decision::{Answer, Decision};
use crate::page::Page;
use crate::race_text;
use crate::text::{self, Detail, count};
use crate::visible::visible;

const PAGE: &str = include_str!("html/asked.html");
const STYLE: &str = include_str!("html/style.css");
/// How many columns preformatted text takes.
const WIDTH: usize = 100;
/// How many steps of a witness are listed.
const STEPS: usize = 400;

/// The page on these pairs.
pub fn render(decisions: &[Decision]) -> String {
    let summary = match decisions {
        [one] => answer(one),
        _ => format!("{} decided", count(decisions.len(), "pair")),
    };
    let pairs: String = decisions.iter().map(section).collect();
    let mut page = String::new();
    let mut rest = PAGE;
    for (gap, text) in [("{{summary}}", &*escaped(&summary)), ("{{style}}", STYLE), ("{{pairs}}", &*pairs)] {
        // What fills a gap is not looked at.
        let (before, after) = rest.split_once(gap).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page + rest
}

fn section(decision: &Decision) -> String {
    let Decision { trace, technique, first, second, .. } = decision;
    let about = format!("{} · {technique} · {}", trace.file, count(trace.events, "event"));
    let class = if decision.verdict == Answer::Race { " class=\"verdict-bad\"" } else { "" };
    let mut section = format!(
        "<section>\n<p class=\"brand\">{}</p>\n<h1{class}>{}: {}</h1>\n",
        escaped(&visible(&about)),
        escaped(&visible(&first.target)),
        escaped(&answer(decision))
    );
    section.push_str("<h2>The two accesses</h2>\n");
    section.push_str(&preformatted(|page| {
        race_text::write_access(page, first, race_text::LINES_AROUND, race_text::FRAMES);
        race_text::write_access(page, second, race_text::LINES_AROUND, race_text::FRAMES);
    }));
    if !decision.steps.is_empty() {
        section.push_str("<h2>Why they cannot meet</h2>\n<ol>\n");
        for step in &decision.steps {
            section.push_str(&format!("<li>{}</li>\n", escaped(&visible(step))));
        }
        section.push_str("</ol>\n");
    }
    if decision.witness.is_some() || decision.story.is_some() {
        section.push_str("<h2>How they meet</h2>\n");
        section.push_str(&preformatted(|page| {
            let (story, witness) = (decision.story.as_ref(), decision.witness.as_deref());
            race_text::write_witness(page, story, witness, detail());
        }));
    }
    section + "</section>\n"
}

/// The answer in words.
fn answer(decision: &Decision) -> String {
    let mut page = Page::new(Detail { width: usize::MAX, ..detail() });
    page.line(text::answer(decision));
    page.finish().trim().to_string()
}

fn detail() -> Detail {
    Detail { steps: STEPS, width: WIDTH, ..Detail::default() }
}

/// Text in lines; without any, nothing.
fn preformatted(write: impl FnOnce(&mut Page)) -> String {
    let mut page = Page::new(detail());
    write(&mut page);
    let text = page.finish();
    let text = text.trim_end().trim_start_matches('\n');
    if text.is_empty() { String::new() } else { format!("<pre>{}</pre>\n", escaped(text)) }
}

/// The text as markup that shows just that.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::DecisionStats;
    use crate::report::{RacingAccess, TraceInfo};

    fn asked(verdict: Answer, steps: &[&str]) -> Decision {
        let trace = foretell_testkit::trace("A|w(<x>,1)|a.c:1\nB|r(<x>,1)|a.c:2\n");
        let access = |event| {
            let id = trace.id(event).expect("an event");
            RacingAccess::new(id, trace.event(id), trace.names())
        };
        Decision {
            tool: "foretell".to_string(),
            technique: "mcm".to_string(),
            trace: TraceInfo::of(&trace, "a<b.std"),
            window: None,
            first: access(1),
            second: access(2),
            verdict,
            witness: (verdict == Answer::Race).then(|| vec![1, 2]),
            story: None,
            reads: None,
            steps: steps.iter().map(|&step| step.to_string()).collect(),
            reason: None,
            stats: DecisionStats { seconds: 0.0 },
        }
    }

    #[test]
    fn the_reasons_are_a_list_and_no_markup() {
        let page = render(&[asked(Answer::NoRace, &["a lock <l>", "an order & a wait"])]);
        assert!(page.contains("<li>a lock &lt;l&gt;</li>\n<li>an order &amp; a wait</li>"), "{page}");
        assert!(page.contains("&lt;x&gt;: no race") && page.contains("a&lt;b.std"), "{page}");
        assert!(!page.contains("<x>") && !page.contains("{{") && !page.contains("How they meet"), "{page}");
    }

    #[test]
    fn a_race_has_its_schedule() {
        let page = render(&[asked(Answer::Race, &[]), asked(Answer::Undecided, &[])]);
        assert!(page.contains("How they meet") && page.contains("2 pairs decided"), "{page}");
        assert!(!page.contains("Why they cannot meet"), "{page}");
    }
}
