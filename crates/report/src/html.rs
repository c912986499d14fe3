//! Reports for people with a browser: one page that needs nothing but itself.
//!
//! The page is written by hand in `html/`; what it shows is embedded as JSON, and its script makes all elements of it
//! as text.

mod data;
mod texts;

use std::io::{self, Write};

use crate::report::Report;
use crate::sink::{Sink, whole};
use crate::text;

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
/// In the order in which they need each other.
const SCRIPTS: [&str; 9] = [
    include_str!("html/script/dom.js"),
    include_str!("html/script/data.js"),
    include_str!("html/script/source.js"),
    include_str!("html/script/picture.js"),
    include_str!("html/script/timeline.js"),
    include_str!("html/script/race.js"),
    include_str!("html/script/hunt.js"),
    include_str!("html/script/list.js"),
    include_str!("html/script/main.js"),
];

/// The reports as one page.
pub fn render(reports: &[Report]) -> io::Result<String> {
    whole(|sink| write(reports, sink))
}

/// The same, piece by piece.
pub fn write(reports: &[Report], sink: &mut Sink<'_>) -> io::Result<()> {
    let data = data::Data::new(reports, sink)?;
    let mut rest = PAGE;
    for gap in ["{{summary}}", "{{style}}", "{{data}}", "{{script}}"] {
        // What fills a gap is not looked at.
        let (before, after) = rest.split_once(gap).unwrap_or((rest, ""));
        sink.write_all(before.as_bytes())?;
        match gap {
            "{{summary}}" => sink.write_all(text::summary(reports).as_bytes())?,
            "{{style}}" => sink.write_all(STYLE.as_bytes())?,
            "{{data}}" => serde_json::to_writer(Inert(sink), &data)?,
            // In a block of its own, nothing of it gets in the way of what the browser calls the same.
            _ => write!(sink, "\"use strict\";\n{{\n{}}}", SCRIPTS.concat())?,
        }
        rest = after;
    }
    sink.write_all(rest.as_bytes())
}

/// JSON in which nothing can be mistaken for markup, nor for the end of a line of a script: all of that can only be
/// in strings.
struct Inert<'a, 'b>(&'a mut Sink<'b>);

/// How characters begin that end a line of a script, U+2028 and U+2029, and how they end.
const LINE_END: [u8; 2] = [0xE2, 0x80];

impl Write for Inert<'_, '_> {
    /// Strings come in pieces that end between characters.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut plain = 0;
        for at in 0..bytes.len() {
            let (safe, length): (&[u8], usize) = match bytes[at] {
                b'<' => (b"\\u003c", 1),
                b'>' => (b"\\u003e", 1),
                b'&' => (b"\\u0026", 1),
                0xE2 if bytes[at..].starts_with(&LINE_END) => match bytes.get(at + 2) {
                    Some(0xA8) => (b"\\u2028", 3),
                    Some(0xA9) => (b"\\u2029", 3),
                    _ => continue,
                },
                _ => continue,
            };
            self.0.write_all(&bytes[plain..at])?;
            self.0.write_all(safe)?;
            plain = at + length;
        }
        self.0.write_all(&bytes[plain..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::observed::Deed;
    use crate::report::{Proof, Race, RacingAccess};
    use crate::sample;
    use crate::{
        Excerpt, Need, NeededRead, NeededReads, Observed, Picture, Recorded, Room, Story, StoryDetail,
    };

    const BANK: &str = "main|fork(t)|bank.c:1\nmain|fork(a)|bank.c:2\nt|w(note,1)|bank.c:3:5\nt|acq(l)|bank.c:4\nt|rel(l)|bank.c:5\n\
                        a|acq(l)|bank.c:6\na|rel(l)|bank.c:7\na|r(note,1)|bank.c:8\n";

    /// One race with everything that is shown of it.
    fn bank() -> Report {
        let trace = foretell_testkit::trace(BANK);
        let [first, second] = [3, 8].map(|event| trace.id(event).unwrap());
        let access = |id| RacingAccess::new(id, trace.event(id), trace.names());
        let witness = vec![1, 2, 6, 7, 3, 8];
        let recorded = Recorded::new(&trace);
        let mut race = Race {
            proof: Proof::Adjacent,
            model: None,
            witness_length: Some(witness.len()),
            story: Story::new(&trace, &recorded, &witness, StoryDetail::Essence),
            observed: Observed::new(&trace, first, second, Some(&witness)),
            witness: Some(witness),
            ..sample::race(access(first), access(second))
        };
        race.first.excerpt =
            Some(Excerpt { first: 2, lines: vec!["{".into(), "\tnote = 1;".into()], doubt: None });
        race.picture = Picture::new(&trace, &recorded, &race, &mut Room::new()).map(Box::new);
        let mut report = Report::new("auto");
        report.trace.file = "bank.std".to_string();
        report.trace.events = 8;
        report.races = vec![race.clone(), Race { repeated: true, ..race }];
        report
    }

    /// What is embedded in a page.
    fn embedded(page: &str) -> Value {
        let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn a_race_is_embedded_in_columns_and_texts_once() {
        let data = embedded(&render(&[bank()]).unwrap());
        assert_eq!(data["summary"], "1 race proven");
        let texts = data["texts"].as_array().unwrap();
        let text =
            |position: &Value| texts[usize::try_from(position.as_u64().unwrap()).unwrap()].as_str().unwrap();
        let report = &data["reports"][0];
        assert_eq!(
            report["races"].as_array().map(Vec::len),
            Some(1),
            "what another process has is not told again"
        );
        let race = &report["races"][0];
        assert_eq!(text(&race["first"]["deed"]), "writes note = 1");
        assert_eq!(race["proof"], "adjacent");
        let picture = &race["picture"];
        assert_eq!(picture["events"], serde_json::json!([1, 1, 1, 1, 1, 1, 1, 1]));
        assert_eq!(picture["order"], serde_json::json!([0, 1, 4, 1, -4, 5]));
        assert_eq!(picture["moved"], serde_json::json!([[4, 1]]));
        assert_eq!(picture["gaps"], serde_json::json!([]));
        let pieces = &data["files"][0]["pieces"];
        assert_eq!((text(&data["files"][0]["name"]), &pieces[0][0]), ("bank.c", &serde_json::json!(2)));
        assert_eq!(text(&pieces[0][1][1]), "\tnote = 1;", "columns count the tab");
        let mut sorted = texts.clone();
        sorted.sort_by_key(ToString::to_string);
        sorted.dedup();
        assert_eq!(sorted.len(), texts.len(), "each text is there once");
    }

    #[test]
    fn the_reads_that_matter_are_embedded_in_words() {
        let mut report = bank();
        let deed = |event| Deed {
            thread: "t".to_string(),
            event,
            what: "reads x".to_string(),
            location: "bank.c:9:5".to_string(),
        };
        let read = NeededRead { read: deed(2), strays: true, need: Need::Nothing };
        report.races[0].reads = Some(NeededReads { reads: vec![read], more: 3 });
        let data = embedded(&render(&[report]).unwrap());
        let reads = &data["reports"][0]["races"][0]["reads"];
        let at = usize::try_from(reads["lines"][0][1].as_u64().unwrap()).unwrap();
        let words = "t reads x at bank.c:9:5 (event 2) does not matter: no event of this schedule depends on it; here it sees \
                     another value";
        assert_eq!((&reads["lines"][0][0], &data["texts"][at]), (&Value::from(2), &Value::from(words)));
        assert_eq!(reads["more"], 3);
    }

    /// What is embedded is what `html/script/data.js` reads: who changes one of them looks at the other.
    #[test]
    fn the_form_of_the_data_is_what_the_scripts_read() {
        let data = embedded(&render(&[bank()]).unwrap());
        let shown = serde_json::to_string_pretty(&data["reports"][0]["races"][0]).unwrap();
        let compact: String = shown.split_whitespace().collect();
        let expected: String = include_str!("html/race.json").split_whitespace().collect();
        assert_eq!(compact, expected, "the new form:\n{shown}");
    }

    #[test]
    fn a_page_needs_nothing_but_itself() {
        let page = render(&[bank()]).unwrap();
        // The one address is a name: of drawings.
        let rest = page.replace("http://www.w3.org/2000/svg", "");
        for needs in [
            "http:",
            "https:",
            "src=",
            "@import",
            "url(",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
        ] {
            assert!(!rest.contains(needs), "{needs}");
        }
        assert!(!page.contains("{{"), "all gaps are filled");
    }

    #[test]
    fn no_name_ends_the_data_or_is_looked_at_as_a_gap() {
        let mut report = bank();
        let hostile = "</script><!--<script>&amp;\u{2028}\u{2029}{{script}}\u{1b}[31m";
        report.races[0].first.target = hostile.to_string();
        let page = render(&[report]).unwrap();
        assert!(!page.contains("<!--<script>") && !page.contains(['\u{2028}', '\u{2029}', '\u{1b}']));
        assert_eq!(page.matches("</script>").count(), 2, "those of the page itself");
        let texts = embedded(&page)["texts"].to_string();
        assert!(texts.contains("{{script}}\\\\u{1b}[31m"), "{texts}");
    }

    #[test]
    fn long_names_are_cut_and_that_is_told() {
        let mut report = bank();
        report.races[0].first.target = "ä".repeat(10_000);
        let texts = embedded(&render(&[report]).unwrap())["texts"].to_string();
        assert!(texts.contains("ä… (9400 more characters)"));
        assert!(texts.len() < 5_000);
    }

    #[test]
    fn what_keeps_the_answer_open_is_told() {
        let mut report = bank();
        report.interrupted = true;
        report.trace.cut_short = true;
        report.stats.not_examined = 3;
        let data = embedded(&render(&[report]).unwrap());
        assert_eq!(data["reports"][0]["notes"].as_array().map(Vec::len), Some(3));
    }
}
