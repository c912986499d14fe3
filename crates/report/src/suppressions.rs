//! Suppresses known races, in the format of ThreadSanitizer's suppression files.
//!
//! One rule a line, `TYPE:PATTERN`; empty lines and lines that begin with `#` are skipped. A pattern is found
//! anywhere in a name; `*` stands for any text, `^` and `$` for the beginning and the end. `race:` looks at the
//! functions and files of both stacks and at the variable, `race_top:` only at the innermost function and its file.
//! `deadlock:` looks at the functions and files of all threads of a deadlock, where they wait and where they took what
//! they hold, and at the names of the locks. The other types that ThreadSanitizer knows have no effect here.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::context::{Frame, HeldLock, SourceLocation};
use crate::predicted_deadlock::PredictedDeadlock;
use crate::predicted_violation::PredictedViolation;
use crate::report::{RacingAccess, Report};

/// The rules of one file.
#[derive(Clone, Debug)]
pub struct Suppressions {
    file: String,
    rules: Vec<Rule>,
    ignored: Vec<String>,
}

/// One rule, and what it was good for.
#[derive(Clone, Debug)]
struct Rule {
    /// As it is written.
    text: String,
    line: usize,
    reach: Reach,
    pattern: Pattern,
    used: u64,
}

/// What a rule looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reach {
    /// Both stacks, and the variable.
    All,
    /// The two accesses themselves.
    Top,
    /// Deadlocks.
    Deadlock,
}

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRule {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

impl fmt::Display for BadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.why)
    }
}

/// What was suppressed in a report.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Suppressed {
    /// The file with the rules.
    pub file: String,
    /// How many races, candidates, deadlocks and violations were suppressed.
    pub count: usize,
    /// Each pair.
    pub pairs: Vec<SuppressedPair>,
    /// Each deadlock; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<SuppressedDeadlock>,
    /// Each violation; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<SuppressedViolation>,
}

/// A violation that is not shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuppressedViolation {
    /// The violation.
    pub violation: PredictedViolation,
    /// The rule, as it is written.
    pub rule: String,
}

/// A deadlock that is not shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuppressedDeadlock {
    /// The deadlock.
    pub deadlock: PredictedDeadlock,
    /// The rule, as it is written.
    pub rule: String,
}

/// A pair that is not shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SuppressedPair {
    /// The access that stands first in the trace.
    pub first: RacingAccess,
    /// The other one.
    pub second: RacingAccess,
    /// Whether it is a proven race; otherwise it is a candidate.
    pub proven: bool,
    /// The rule, as it is written.
    pub rule: String,
    /// What it is known by from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// Types that are known but mean nothing here.
const IGNORED: [&str; 5] = ["thread", "mutex", "signal", "called_from_lib", "fiber"];

impl Suppressions {
    /// Reads the rules; `file` is what they are called.
    pub fn parse(text: &str, file: &str) -> Result<Suppressions, BadRule> {
        let mut suppressions =
            Suppressions { file: file.to_string(), rules: Vec::new(), ignored: Vec::new() };
        for (index, line) in text.lines().enumerate() {
            let (line, number) = (line.trim(), index + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = |why: String| BadRule { line: number, why };
            let (kind, pattern) = line
                .split_once(':')
                .ok_or_else(|| bad("expected TYPE:PATTERN, such as race:deposit".into()))?;
            let reach = match kind {
                "race" => Reach::All,
                "race_top" => Reach::Top,
                "deadlock" => Reach::Deadlock,
                kind if IGNORED.contains(&kind) => {
                    suppressions.ignored.push(line.to_string());
                    continue;
                }
                kind => {
                    return Err(bad(format!(
                        "unknown type of rule `{kind}`; expected race, race_top or deadlock"
                    )));
                }
            };
            let pattern = Pattern::parse(pattern).ok_or_else(|| bad("the pattern is empty".into()))?;
            suppressions.rules.push(Rule { text: line.to_string(), line: number, reach, pattern, used: 0 });
        }
        Ok(suppressions)
    }

    /// What the file is called.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The rules that have no effect here.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The rules that have suppressed nothing so far, with their lines.
    pub fn unused(&self) -> impl Iterator<Item = (usize, &str)> {
        self.rules.iter().filter(|rule| rule.used == 0).map(|rule| (rule.line, rule.text.as_str()))
    }

    /// Takes what is suppressed out of the report, and counts it there.
    pub fn apply(&mut self, report: &mut Report) {
        let mut violations = Vec::new();
        report.violations.retain(|violation| {
            let Some(rule) = self.use_rule_about(&violation.first, &violation.second) else { return true };
            violations.push(SuppressedViolation { violation: violation.clone(), rule });
            false
        });
        let mut pairs = Vec::new();
        let mut keep = |first: &RacingAccess, second: &RacingAccess, proven, fingerprint: &Option<String>| {
            let Some(rule) = self.use_rule_about(first, second) else { return true };
            let (first, second, fingerprint) = (first.clone(), second.clone(), fingerprint.clone());
            pairs.push(SuppressedPair { first, second, proven, rule, fingerprint });
            false
        };
        report.races.retain(|race| keep(&race.first, &race.second, true, &race.fingerprint));
        report.undecided.retain(|open| keep(&open.first, &open.second, false, &open.fingerprint));
        let mut deadlocks = Vec::new();
        report.deadlocks.retain(|deadlock| {
            let rule = self.rules.iter_mut().find(|rule| rule.is_about_deadlock(deadlock));
            let Some(rule) = rule else { return true };
            rule.used += 1;
            deadlocks.push(SuppressedDeadlock { deadlock: deadlock.clone(), rule: rule.text.clone() });
            false
        });
        let count = pairs.len() + deadlocks.len() + violations.len();
        let file = self.file.clone();
        report.suppressed = Some(Suppressed { file, count, pairs, deadlocks, violations });
    }

    /// The first rule that two accesses fall under, as it is written; that it was good for something is noted.
    fn use_rule_about(&mut self, first: &RacingAccess, second: &RacingAccess) -> Option<String> {
        let rule = self.rules.iter_mut().find(|rule| rule.is_about(first) || rule.is_about(second))?;
        rule.used += 1;
        Some(rule.text.clone())
    }
}

impl Rule {
    fn is_about_deadlock(&self, deadlock: &PredictedDeadlock) -> bool {
        let place = |location: &str, stack: &[Frame]| {
            self.is_in_file(location)
                || stack.iter().any(|frame| {
                    self.pattern.is_found_in(&frame.function) || self.is_in_file(&frame.location)
                })
        };
        let held =
            |held: &HeldLock| self.pattern.is_found_in(&held.lock) || place(&held.location, &held.stack);
        let ended = deadlock.ended.iter().flat_map(|ended| &ended.locks);
        self.reach == Reach::Deadlock
            && (ended.into_iter().any(held)
                || deadlock.waiting.iter().any(|waiting| {
                    place(&waiting.location, &waiting.stack) || waiting.locks.iter().any(held)
                }))
    }

    fn is_in_file(&self, location: &str) -> bool {
        self.pattern.is_found_in(SourceLocation::parse(location).map_or(location, |place| place.file))
    }

    fn is_about(&self, access: &RacingAccess) -> bool {
        let frame =
            |frame: &Frame| self.pattern.is_found_in(&frame.function) || self.is_in_file(&frame.location);
        let at_top = access.stack.first().is_some_and(frame) || self.is_in_file(&access.location);
        match self.reach {
            Reach::Deadlock => false,
            Reach::Top => at_top,
            Reach::All => {
                at_top || access.stack.iter().any(frame) || self.pattern.is_found_in(&access.target)
            }
        }
    }
}

/// A pattern as ThreadSanitizer has them.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pattern {
    at_start: bool,
    at_end: bool,
    /// The texts between the stars.
    parts: Vec<String>,
}

impl Pattern {
    fn parse(text: &str) -> Option<Pattern> {
        let (at_start, text) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        let (at_end, text) = text.strip_suffix('$').map_or((false, text), |rest| (true, rest));
        if text.is_empty() {
            return None;
        }
        Some(Pattern { at_start, at_end, parts: text.split('*').map(String::from).collect() })
    }

    fn is_found_in(&self, name: &str) -> bool {
        let Some((last, front)) = self.parts.split_last() else { return false };
        let mut rest = name;
        for (index, part) in front.iter().enumerate() {
            let found = match self.at_start && index == 0 {
                true => rest.strip_prefix(part.as_str()),
                false => rest.split_once(part.as_str()).map(|(_, rest)| rest),
            };
            match found {
                Some(after) => rest = after,
                None => return false,
            }
        }
        let is_whole = front.is_empty() && self.at_start;
        match (is_whole, self.at_end) {
            (true, true) => rest == last,
            (true, false) => rest.starts_with(last.as_str()),
            (false, true) => rest.ends_with(last.as_str()),
            (false, false) => rest.contains(last.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::Candidate;

    #[test]
    fn patterns_are_those_of_thread_sanitizer() {
        for (pattern, name, expected) in [
            ("deposit", "bank::deposit(int)", true),
            ("deposit", "withdraw", false),
            ("^deposit", "bank::deposit", false),
            ("^bank", "bank::deposit", true),
            ("deposit$", "bank::deposit", true),
            ("bank$", "bank::deposit", false),
            ("^deposit$", "deposit", true),
            ("^deposit$", "deposit2", false),
            ("b*k*sit", "the bank::deposit()", true),
            ("k*b", "bank", false),
            ("^b*sit$", "bank::deposit", true),
            ("^b*sit$", "bank::deposited", false),
            ("a*a", "a", false),
            ("*", "anything", true),
            ("^*.c$", "bank.c", true),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap().is_found_in(name), expected, "{pattern} in {name}");
        }
    }

    /// The same by trying everything; `*` alone is left.
    fn matches(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some((b'*', rest)), after) => {
                matches(rest, name) || after.is_some_and(|(_, after)| matches(pattern, after))
            }
            (Some((letter, rest)), Some((first, after))) => letter == first && matches(rest, after),
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn patterns_find_what_trying_everything_finds(
            start in any::<bool>(), text in "[ab*]{1,5}", end in any::<bool>(), name in "[ab]{0,7}"
        ) {
            let written = format!("{}{text}{}", if start { "^" } else { "" }, if end { "$" } else { "" });
            let stars = format!("{}{text}{}", if start { "" } else { "*" }, if end { "" } else { "*" });
            let found = Pattern::parse(&written).is_some_and(|pattern| pattern.is_found_in(&name));
            prop_assert_eq!(found, matches(stars.as_bytes(), name.as_bytes()), "{} in {}", written, name);
        }
    }

    fn rules(text: &str) -> Suppressions {
        Suppressions::parse(text, "tsan.supp").unwrap()
    }

    fn access() -> RacingAccess {
        let frame = |function: &str, location: &str| Frame {
            function: function.to_string(),
            location: location.to_string(),
        };
        RacingAccess {
            target: "balance+4".to_string(),
            location: "src/bank.c:12:3".to_string(),
            stack: vec![frame("deposit", "src/bank.c:12:3"), frame("teller", "src/main.c:3:1")],
            ..RacingAccess::default()
        }
    }

    #[test]
    fn functions_files_and_variables_are_looked_at() {
        let other =
            RacingAccess { target: "z".to_string(), location: "z".to_string(), ..RacingAccess::default() };
        for (rule, expected) in [
            ("race:deposit", true),
            ("race:teller", true),
            ("race:^src/main.c$", true),
            ("race:bank.c", true),
            ("race:^balance", true),
            ("race_top:deposit", true),
            ("race_top:src/bank.c", true),
            ("race_top:teller", false),
            ("race_top:balance", false),
            ("race:withdraw", false),
        ] {
            let mut report = Report::new("auto");
            let (first, second) = (other.clone(), access());
            let open = Candidate { first, second, reason: String::new(), more: 0, fingerprint: None };
            report.undecided.push(open);
            let mut rules = rules(rule);
            rules.apply(&mut report);
            let suppressed = report.suppressed.unwrap();
            assert_eq!(
                (suppressed.count, report.undecided.len()),
                if expected { (1, 0) } else { (0, 1) },
                "{rule}"
            );
            assert_eq!(rules.unused().count(), usize::from(!expected));
        }
    }

    #[test]
    fn bad_lines_are_told_with_their_numbers() {
        let bad = |text| Suppressions::parse(text, "f").unwrap_err();
        assert_eq!(bad("# fine\n\nrace deposit\n").line, 3);
        assert_eq!(bad("race:a\nraces:b\n").line, 2);
        assert_eq!(bad("race:").line, 1);
        let rules = rules("thread:pool\n  race:deposit  \ncalled_from_lib:libz.so\n");
        assert_eq!(rules.ignored(), ["thread:pool", "called_from_lib:libz.so"]);
        assert_eq!(rules.unused().collect::<Vec<_>>(), [(2, "race:deposit")]);
    }
}
