//! The corpus: small traces with their known answers, as data.
//!
//! A file of `corpus/` is a trace in the text format whose first lines say what is known of it:
//!
//! ```text
//! #! about: one sentence
//! #! races: 2-7 3-9                 the races of the same-write model; nothing if there are none
//! #! deadlocks: 2-6 1-4             the deadlocks of the same model, each by the events that wait, sorted, and then
//!                                   the end of a thread that has taken a lock with it; left out if there are none
//! #! misses hb 2-7: the reason      a technique does not report a race
//! #! adds wcp 5-10: the reason      a technique reports what is no race of that model
//! #! undecided: 1-10                the trace does not say enough: exact techniques neither prove nor refute these
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Two events by number, the smaller one first.
pub type Numbers = (u32, u32);

/// A trace with its known answers.
#[derive(Debug)]
pub struct Example {
    /// The name of the file without its ending.
    pub name: String,
    /// The whole file; a trace in the text format.
    pub text: String,
    /// The races of the same-write model.
    pub races: BTreeSet<Numbers>,
    /// The deadlocks of the same-write model: the events of each.
    pub deadlocks: BTreeSet<Vec<u32>>,
    /// What exact techniques can neither prove nor refute.
    pub undecided: BTreeSet<Numbers>,
    /// Where techniques differ from that.
    pub differences: Vec<Difference>,
}

/// A pair that a technique misses or adds.
#[derive(Debug)]
pub struct Difference {
    /// The name of the technique.
    pub technique: String,
    /// The pair.
    pub pair: Numbers,
    /// Whether the technique adds the pair; otherwise it misses it.
    pub adds: bool,
    /// Why.
    pub reason: String,
}

impl Example {
    /// What `technique` should report.
    pub fn expected(&self, technique: &str) -> BTreeSet<Numbers> {
        let mut expected = self.races.clone();
        for difference in self.differences.iter().filter(|difference| difference.technique == technique) {
            let changed = if difference.adds {
                expected.insert(difference.pair)
            } else {
                expected.remove(&difference.pair)
            };
            assert!(changed, "{}: {difference:?} changes nothing", self.name);
        }
        expected
    }

    /// The header lines of `technique` that make `reported` its expected answer, without reasons.
    pub fn lines_for(&self, technique: &str, reported: &BTreeSet<Numbers>) -> String {
        let missed = self.races.difference(reported).map(|pair| ("misses", pair));
        let added = reported.difference(&self.races).map(|pair| ("adds", pair));
        missed.chain(added).map(|(what, (a, b))| format!("#! {what} {technique} {a}-{b}: WHY\n")).collect()
    }
}

/// All examples of the corpus, by name.
///
/// # Panics
/// If the corpus cannot be read or a header line makes no sense.
pub fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "std"));
    paths.sort();
    paths.iter().map(|path| example(path)).collect()
}

fn example(path: &Path) -> Example {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let header: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#! ")).collect();
    let value = |key: &str| header.iter().find_map(|line| line.strip_prefix(key)).map(str::trim);
    assert!(value("about:").is_some_and(|about| !about.is_empty()), "{name}: what is it about?");
    let races = value("races:").unwrap_or_else(|| panic!("{name}: which races has it?"));
    let pairs = |list: &str| list.split_whitespace().map(|pair| numbers(&name, pair)).collect();
    let (races, undecided) = (pairs(races), pairs(value("undecided:").unwrap_or_default()));
    let stuck = |events: &str| {
        let parsed: Option<Vec<u32>> = events.split('-').map(|event| event.parse().ok()).collect();
        parsed.unwrap_or_else(|| panic!("{name}: `{events}` are no events"))
    };
    let deadlocks = value("deadlocks:").unwrap_or_default().split_whitespace().map(stuck).collect();
    let differences = header.iter().filter_map(|line| difference(&name, line)).collect();
    Example { name, races, deadlocks, undecided, differences, text }
}

fn difference(name: &str, line: &str) -> Option<Difference> {
    let (adds, rest) = match (line.strip_prefix("adds "), line.strip_prefix("misses ")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return None,
    };
    let (what, reason) = rest.split_once(':').unwrap_or_else(|| panic!("{name}: no reason in `{line}`"));
    let (technique, pair) = what.split_once(' ').unwrap_or_else(|| panic!("{name}: no pair in `{line}`"));
    assert!(!reason.trim().is_empty() && reason.trim() != "WHY", "{name}: no reason in `{line}`");
    let (technique, reason) = (technique.to_string(), reason.trim().to_string());
    Some(Difference { technique, pair: numbers(name, pair.trim()), adds, reason })
}

fn numbers(name: &str, pair: &str) -> Numbers {
    let parsed = pair.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parsed.unwrap_or_else(|| panic!("{name}: `{pair}` is no pair of events"))
}
