//! Schedules: in which order the threads of a program make their steps, up to two accesses that race, or up to where
//! threads wait for each other.
//!
//! A schedule is a text of lines, described in docs/schedule.md. A step is what [`Record::is_step`] says; threads are
//! named by descent, for their numbers depend on the order of creation: `main`, `main.1` for the first one that it
//! starts, `main.1.2`. (Those of CIMP programs are called so anyway.) What is read borrows from the text, so that to
//! read it allocates nothing: the program that follows a schedule allocates as it did when it was recorded.
//!
//! [`Record::is_step`]: crate::record::Record::is_step

mod stuck;

pub use stuck::{CircleDraft, ScheduledCircle, ScheduledWait, StuckOn, WaitDraft};

use std::fmt;

/// How every schedule begins; the number is the version of its form.
pub const HEADING: &str = "foretell schedule 1";

/// The name of the file with the schedule in the folder for logs; the first process takes it away and follows it.
pub const FILE: &str = "schedule";
/// The file that says how that went, see [`ReplayOutcome`].
pub const OUTCOME: &str = "outcome";
/// If there is a file of this name, the program goes on after that.
pub const GO_ON: &str = "go-on";
/// If there is a file of this name, the threads are held there for as long as it is there.
pub const HOLD: &str = "hold";
/// The file that tells who is held: the number of the process, and those of two of its threads.
pub const HELD: &str = "held";

/// What a fingerprint may be of.
const KINDS: [&str; 3] = ["race", "deadlock", "use-after-free"];

/// A thread goes on until it has made so many steps in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledTurn<'a> {
    /// The thread, by descent.
    pub thread: &'a str,
    /// How many steps it has made then.
    pub steps: u64,
    /// Where the last of them is.
    pub place: &'a str,
}

/// What one of the two threads does that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RacingAction {
    /// Reads memory.
    Read,
    /// Writes memory, and may read it.
    Write,
    /// Gives memory back. That is no step: it comes after the one with this number.
    Free,
}

impl RacingAction {
    const NAMES: [(RacingAction, &'static str); 3] =
        [(RacingAction::Read, "read"), (RacingAction::Write, "write"), (RacingAction::Free, "free")];

    /// What it is called.
    pub fn name(self) -> &'static str {
        RacingAction::NAMES.into_iter().find(|known| known.0 == self).map_or("", |known| known.1)
    }

    fn from_name(name: &str) -> Option<RacingAction> {
        RacingAction::NAMES.into_iter().find(|known| known.1 == name).map(|known| known.0)
    }
}

/// One of the two accesses that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledAccess<'a> {
    /// The thread, by descent.
    pub thread: &'a str,
    /// After how many steps it is held: before the operation whose part the access is.
    pub held: u64,
    /// Which of its steps the access is.
    pub step: u64,
    /// What it does.
    pub kind: RacingAction,
    /// Where it is.
    pub place: &'a str,
}

/// What a schedule leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending<'a> {
    /// Accesses that race, in the order in which they are made.
    Race([ScheduledAccess<'a>; 2]),
    /// Threads that wait for each other.
    Stuck(ScheduledCircle<'a>),
    /// Memory is given back, and used by another thread later.
    Used([ScheduledAccess<'a>; 2]),
}

/// A schedule, as its text tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule<'a> {
    /// What the program is called, not yet unescaped.
    pub program: &'a str,
    /// The lines of the arguments.
    arguments: &'a str,
    /// What the choices were drawn from in the run that was recorded.
    pub seed: u64,
    /// What it leads to is known by this.
    pub fingerprint: Option<&'a str>,
    /// The lines of the turns.
    turns: &'a str,
    /// What it leads to.
    pub ending: Ending<'a>,
}

/// A line that is not what it should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduleProblem {
    /// Its number, counted from 1.
    pub line: usize,
    /// What should stand there.
    pub expected: &'static str,
}

impl fmt::Display for ScheduleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected {}", self.line, self.expected)
    }
}

impl std::error::Error for ScheduleProblem {}

/// The lines that are left.
struct Lines<'a> {
    rest: &'a str,
    /// The number of the next one.
    number: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a str> {
        (!self.rest.is_empty()).then(|| self.rest.split('\n').next().unwrap_or_default())
    }

    fn pass(&mut self) {
        self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        self.number += 1;
    }

    fn problem(&self, expected: &'static str) -> ScheduleProblem {
        ScheduleProblem { line: self.number, expected }
    }

    /// What follows this word on the next line, if the line begins with it.
    fn after(&mut self, word: &str) -> Option<&'a str> {
        let rest = self.peek()?.strip_prefix(word)?;
        let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
        self.pass();
        Some(rest)
    }

    fn expect(&mut self, word: &str, expected: &'static str) -> Result<&'a str, ScheduleProblem> {
        let problem = self.problem(expected);
        self.after(word).ok_or(problem)
    }

    /// All lines that begin with the word, each of which must be good.
    fn all(
        &mut self,
        word: &str,
        is_good: impl Fn(&'a str) -> bool,
        expected: &'static str,
    ) -> Result<&'a str, ScheduleProblem> {
        let begin = self.rest;
        let mut problem = self.problem(expected);
        while let Some(rest) = self.after(word) {
            if !is_good(rest) {
                return Err(problem);
            }
            problem.line = self.number;
        }
        Ok(&begin[..begin.len() - self.rest.len()])
    }
}

impl<'a> Schedule<'a> {
    /// Reads a schedule.
    pub fn parse(text: &'a str) -> Result<Schedule<'a>, ScheduleProblem> {
        const TURN: &str = "`run`, a thread such as main.1, a number of steps, and a place";
        let mut lines = Lines { rest: text, number: 1 };
        let heading = lines.expect(HEADING, "`foretell schedule 1`, the heading of a schedule")?;
        if !heading.is_empty() {
            return Err(ScheduleProblem { line: 1, expected: "nothing after the version" });
        }
        let program = lines.expect("program", "`program` and its name")?;
        let arguments = lines.all("argument", |_| true, "`argument` and one argument")?;
        let seed = lines.problem("`seed` and a number");
        let seed = lines.after("seed").and_then(|seed| seed.parse().ok()).ok_or(seed)?;
        let known_by = KINDS.iter().find_map(|kind| lines.after(kind));
        let fingerprint = known_by.filter(|known_by| !known_by.is_empty());
        let turns = lines.all("run", |rest| turn(rest).is_some(), TURN)?;
        let ending = match ScheduledCircle::parse(&mut lines)? {
            Some(circle) => Ending::Stuck(circle),
            None if lines.peek().is_some_and(|line| line.starts_with("freed ")) => {
                Ending::Used([access(&mut lines, "freed")?, access(&mut lines, "used")?])
            }
            None => Ending::Race([access(&mut lines, "first")?, access(&mut lines, "second")?]),
        };
        if !lines.rest.is_empty() {
            return Err(lines.problem("nothing after the ending"));
        }
        Ok(Schedule { program, arguments, seed, fingerprint, turns, ending })
    }

    /// What the program was given, as [`unescape`] takes it.
    pub fn arguments(&self) -> impl Iterator<Item = &'a str> {
        self.arguments.lines().map(|line| line.strip_prefix("argument ").unwrap_or_default())
    }

    /// Whose turn it is, one after the other.
    pub fn turns(&self) -> Turns<'a> {
        Turns { rest: self.turns }
    }
}

/// The turns of a schedule that are left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turns<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Turns<'a> {
    type Item = ScheduledTurn<'a>;

    fn next(&mut self) -> Option<ScheduledTurn<'a>> {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        turn(line.strip_prefix("run ")?)
    }
}

fn turn(line: &str) -> Option<ScheduledTurn<'_>> {
    let (thread, rest) = line.split_once(' ')?;
    let (steps, place) = rest.split_once(' ')?;
    Some(ScheduledTurn { thread: name(thread)?, steps: steps.parse().ok()?, place })
}

fn access<'a>(lines: &mut Lines<'a>, word: &str) -> Result<ScheduledAccess<'a>, ScheduleProblem> {
    const EXPECTED: &str = "`first`, and then `second` (or `freed` and `used`), each with a thread, after how many steps it is held, the number of its step, \
         `read`, `write` or `free`, and a place";
    let problem = lines.problem(EXPECTED);
    let parse = |line: &'a str| {
        let mut words = line.splitn(5, ' ');
        let mut next = || words.next();
        let (thread, held, step) = (name(next()?)?, next()?.parse().ok()?, next()?.parse().ok()?);
        Some(ScheduledAccess { thread, held, step, kind: RacingAction::from_name(next()?)?, place: next()? })
    };
    lines.after(word).and_then(parse).filter(|access| access.held <= access.step).ok_or(problem)
}

/// The name of a thread, if it is one. What the first threads of a program are called depends on its language.
fn name(thread: &str) -> Option<&str> {
    let mut parts = thread.split('.');
    let begins = parts.next().is_some_and(|first| !first.is_empty());
    (begins && parts.all(|part| part.parse::<u32>().is_ok_and(|number| number > 0))).then_some(thread)
}

/// How following a schedule went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayOutcome {
    /// Both threads were held at their accesses, and made them one after the other.
    Raced,
    /// Each thread of the circle waits for what it should wait for.
    Stuck,
    /// The memory was given back, and used later.
    Used,
    /// One of the two (0 or 1) went past its access, as that is a part of an operation that began after so many
    /// steps.
    Passed(usize, u64),
    /// This thread did not come to where it should have; why, in words.
    Diverged(String, String),
}

impl ReplayOutcome {
    /// The outcome that a text tells.
    pub fn parse(text: &str) -> Option<ReplayOutcome> {
        let (word, rest) = text.trim_end().split_once(' ').unwrap_or((text.trim_end(), ""));
        match word {
            "raced" => Some(ReplayOutcome::Raced),
            "stuck" => Some(ReplayOutcome::Stuck),
            "used" => Some(ReplayOutcome::Used),
            "diverged" => {
                let (thread, why) = rest.split_once(' ')?;
                Some(ReplayOutcome::Diverged(thread.to_string(), why.to_string()))
            }
            "passed" => {
                let (which, steps) = rest.split_once(' ')?;
                Some(ReplayOutcome::Passed(
                    which.parse().ok().filter(|&which| which < 2)?,
                    steps.parse().ok()?,
                ))
            }
            _ => None,
        }
    }
}

impl fmt::Display for ReplayOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayOutcome::Raced => f.write_str("raced"),
            ReplayOutcome::Stuck => f.write_str("stuck"),
            ReplayOutcome::Used => f.write_str("used"),
            ReplayOutcome::Passed(which, steps) => write!(f, "passed {which} {steps}"),
            ReplayOutcome::Diverged(thread, why) => write!(f, "diverged {thread} {why}"),
        }
    }
}

/// A text as it stands on one line.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

/// The text that stands on a line.
pub fn unescape(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    out
}

/// A schedule that is being written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleDraft {
    /// What the program is called.
    pub program: String,
    /// What it was given.
    pub arguments: Vec<String>,
    /// What the choices were drawn from in the run that was recorded.
    pub seed: u64,
    /// What it leads to is known by this.
    pub fingerprint: Option<String>,
    /// Thread, steps and place of each turn.
    pub turns: Vec<(String, u64, String)>,
    /// What it leads to.
    pub ending: EndingDraft,
}

/// Thread, after how many steps it is held, step, kind and place of an access.
pub type AccessDraft = (String, u64, u64, RacingAction, String);

/// What a schedule that is being written leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndingDraft {
    /// Accesses that race, in the order in which they are made.
    Race([AccessDraft; 2]),
    /// Threads that wait for each other.
    Stuck(CircleDraft),
    /// Memory is given back, and used by another thread later.
    Used([AccessDraft; 2]),
}

impl EndingDraft {
    /// The threads that it speaks of.
    pub fn threads(&self) -> Vec<&str> {
        match self {
            EndingDraft::Race(accesses) | EndingDraft::Used(accesses) => {
                accesses.iter().map(|access| &*access.0).collect()
            }
            EndingDraft::Stuck(circle) => circle.waits.iter().map(|wait| &*wait.thread).collect(),
        }
    }
}

impl From<Schedule<'_>> for ScheduleDraft {
    fn from(schedule: Schedule<'_>) -> ScheduleDraft {
        let turn = |turn: ScheduledTurn<'_>| (turn.thread.to_string(), turn.steps, unescape(turn.place));
        let access = |access: ScheduledAccess<'_>| {
            (access.thread.to_string(), access.held, access.step, access.kind, unescape(access.place))
        };
        ScheduleDraft {
            program: unescape(schedule.program),
            arguments: schedule.arguments().map(unescape).collect(),
            seed: schedule.seed,
            fingerprint: schedule.fingerprint.map(unescape),
            turns: schedule.turns().map(turn).collect(),
            ending: match schedule.ending {
                Ending::Race(accesses) => EndingDraft::Race(accesses.map(access)),
                Ending::Stuck(circle) => EndingDraft::Stuck(circle.into()),
                Ending::Used(accesses) => EndingDraft::Used(accesses.map(access)),
            },
        }
    }
}

impl fmt::Display for ScheduleDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADING}\nprogram {}", escape(&self.program))?;
        for argument in &self.arguments {
            writeln!(f, "argument {}", escape(argument))?;
        }
        writeln!(f, "seed {}", self.seed)?;
        if let Some(fingerprint) = &self.fingerprint {
            let kind = match self.ending {
                EndingDraft::Race(_) => KINDS[0],
                EndingDraft::Stuck(_) => KINDS[1],
                EndingDraft::Used(_) => KINDS[2],
            };
            writeln!(f, "{kind} {}", escape(fingerprint))?;
        }
        for (thread, steps, place) in &self.turns {
            writeln!(f, "run {thread} {steps} {}", escape(place))?;
        }
        let (words, accesses) = match &self.ending {
            EndingDraft::Race(accesses) => (["first", "second"], accesses),
            EndingDraft::Used(accesses) => (["freed", "used"], accesses),
            EndingDraft::Stuck(circle) => return write!(f, "{circle}"),
        };
        for (word, (thread, held, step, kind, place)) in words.iter().zip(accesses) {
            writeln!(f, "{word} {thread} {held} {step} {} {}", kind.name(), escape(place))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> ScheduleDraft {
        let access =
            |thread: &str, step, kind| (thread.to_string(), step - 1, step, kind, "a file.c:7".to_string());
        ScheduleDraft {
            program: "./prog".to_string(),
            arguments: vec!["-x".to_string(), String::new(), "two\nlines \\ and".to_string()],
            seed: 7,
            fingerprint: Some("R-1".to_string()),
            turns: vec![
                ("main".to_string(), 5, "a.c:3".to_string()),
                ("main.1.2".to_string(), 1, String::new()),
            ],
            ending: EndingDraft::Race([
                access("main.1", 4, RacingAction::Write),
                access("main", 6, RacingAction::Read),
            ]),
        }
    }

    fn stuck() -> ScheduleDraft {
        let wait = |thread: &str, end_of: Option<&str>| WaitDraft {
            thread: thread.to_string(),
            held: 4,
            end_of: end_of.map(str::to_string),
            place: "a file.c:7".to_string(),
        };
        let waits = vec![wait("main.1", None), wait("main", Some("main.1.2"))];
        let circle = CircleDraft { ended: Some(("main.1.2".to_string(), 7)), waits };
        ScheduleDraft { ending: EndingDraft::Stuck(circle), ..draft() }
    }

    fn used() -> ScheduleDraft {
        let EndingDraft::Race(accesses) = draft().ending else { unreachable!("it is a race") };
        ScheduleDraft { ending: EndingDraft::Used(accesses), ..draft() }
    }

    #[test]
    fn what_is_written_is_read() {
        for draft in [draft(), stuck(), used()] {
            let text = draft.to_string();
            let read = Schedule::parse(&text).unwrap();
            assert_eq!(ScheduleDraft::from(read), draft);
            assert_eq!(ScheduleDraft::from(read).to_string(), text);
            let turn = ScheduledTurn { thread: "main", steps: 5, place: "a.c:3" };
            assert_eq!(read.turns().next(), Some(turn));
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let good = draft().to_string();
        let wrong = |from: &str, to: &str| {
            let problem = Schedule::parse(&good.replace(from, to)).expect_err("it is wrong");
            (problem.line, problem.expected.split_once(',').map_or(problem.expected, |parts| parts.0))
        };
        assert_eq!(wrong("schedule 1", "schedule 2"), (1, "`foretell schedule 1`"));
        assert_eq!(wrong("seed 7", "seed x"), (6, "`seed` and a number"));
        assert_eq!(wrong("run main.1.2 1", "run main.0 1"), (9, "`run`"));
        assert_eq!(wrong("run main 5", "run main -5"), (8, "`run`"));
        assert_eq!(wrong("first main.1 3 4", "first main.1 5 4"), (10, "`first`"));
        assert_eq!(wrong("second", "third"), (11, "`first`"));
        assert_eq!(Schedule::parse(&format!("{good}more")).unwrap_err().line, 12);
        assert_eq!(Schedule::parse("").unwrap_err().line, 1);
        let good = stuck().to_string();
        let wrong = |from: &str, to: &str| Schedule::parse(&good.replace(from, to)).unwrap_err().line;
        assert_eq!(wrong("ended main.1.2 7", "ended main.1.2 x"), 10);
        assert_eq!(wrong("wait main.1 4 lock", "wait main.1 4 key"), 11);
        assert_eq!(wrong("wait main 4 end main.1.2", "wait main 4 end main.0"), 12);
        assert_eq!(wrong("wait", "what"), 11);
    }

    #[test]
    fn outcomes_come_back() {
        let diverged = ReplayOutcome::Diverged("main.1".to_string(), "has ended".to_string());
        let reached = [ReplayOutcome::Raced, ReplayOutcome::Stuck, ReplayOutcome::Used];
        for outcome in reached.into_iter().chain([ReplayOutcome::Passed(1, 9), diverged]) {
            assert_eq!(ReplayOutcome::parse(&format!("{outcome}\n")), Some(outcome));
        }
        assert_eq!(["", "passed 2 1", "passed x", "what"].map(ReplayOutcome::parse), [const { None }; 4]);
    }

    #[test]
    fn any_text_is_read_or_refused() {
        for text in [draft().to_string(), stuck().to_string(), used().to_string()] {
            break_at_each_byte(&text);
        }
    }

    fn break_at_each_byte(text: &str) {
        for at in 0..text.len() {
            let _ = Schedule::parse(&text[..at]);
            let mut bytes = text.to_string().into_bytes();
            bytes[at] ^= 3;
            if let Ok(text) = String::from_utf8(bytes)
                && let Ok(read) = Schedule::parse(&text)
            {
                assert_eq!(
                    Schedule::parse(&ScheduleDraft::from(read).to_string()).map(ScheduleDraft::from),
                    Ok(ScheduleDraft::from(read))
                );
            }
        }
    }
}
