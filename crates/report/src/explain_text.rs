//! One race, or one refuted pair, in detail: for readers who have never seen such a report.

use crate::confirmation_text;
use crate::context::{HeldLock, HeldMode};
use crate::decision::{Answer, Decision};
use crate::observed::Observed;
use crate::page::{Ink, Page, Text};
use crate::race_text;
use crate::reads_text;
use crate::report::{Candidate, Proof, Race, RacingAccess, Report, TraceInfo};
use crate::story_text;
use crate::text::{Detail, answer, count, note, write_contradiction, write_trace};
use crate::visible::{place, visible};

/// How far paragraphs are indented.
const INDENT: usize = 2;

/// Whether the proof was checked once more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Checked {
    /// It was, against this trace, and it holds.
    Again(String),
    /// It was, against this trace, and it does not hold: this is why.
    Rejected(String, String),
    /// It was not, for this reason.
    Not(String),
}

/// What is shown beside the race or pair itself.
#[derive(Clone, Debug)]
pub struct Beside {
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// Commands with which one sees it again, each with what it does.
    pub commands: Vec<(String, String)>,
}

/// The race with this number at length.
pub fn race(
    report: &Report,
    number: usize,
    race: &Race,
    checked: &Checked,
    beside: &Beside,
    detail: Detail,
) -> String {
    let mut page = Page::new(detail);
    race_text::write_title(&mut page, number, race);
    write_about(&mut page, &report.trace, &report.technique, beside);
    write_race(&mut page, race, report.driven, checked, detail);
    write_commands(&mut page, beside);
    page.finish()
}

/// The candidate with this number at length.
pub fn candidate(
    report: &Report,
    number: usize,
    candidate: &Candidate,
    beside: &Beside,
    detail: Detail,
) -> String {
    let mut page = Page::new(detail);
    let target = format!("candidate {number}: {}", visible(&candidate.first.target));
    let words = format!(": {}", race_text::together(&candidate.first, &candidate.second));
    page.wrapped(0, INDENT, Text::new().ink(Ink::Doubt, target).add(" · not proven").add(words));
    write_about(&mut page, &report.trace, &report.technique, beside);
    write_accesses(&mut page, &candidate.first, &candidate.second);
    title(&mut page, "Why it is not proven");
    let advice = Advice::of(&candidate.reason);
    paragraph(&mut page, format!("{}: {}", visible(&candidate.reason), advice.meaning));
    paragraph(&mut page, "It may or may not be a race: foretell never calls an unproven pair a race.");
    for open in what_is_open(report) {
        paragraph(&mut page, open);
    }
    title(&mut page, "What would decide it");
    paragraph(&mut page, advice.remedy);
    write_commands(&mut page, beside);
    page.finish()
}

/// The word on one pair at length. `observed` is what kept the two of a race apart in the recorded run.
pub fn decision(decision: &Decision, observed: Option<Observed>, beside: &Beside, detail: Detail) -> String {
    let mut page = Page::new(detail);
    let pair = format!("events {} and {}", decision.first.event, decision.second.event);
    let target = format!("{pair}, {}", visible(&decision.first.target));
    page.wrapped(0, INDENT, Text::new().ink(Ink::Heading, target).add(": ").append(answer(decision)));
    write_about(&mut page, &decision.trace, &decision.technique, beside);
    match decision.verdict {
        Answer::Race => {
            let checked = Checked::Again(decision.trace.file.clone());
            write_race(&mut page, &found(decision, observed), None, &checked, detail);
        }
        Answer::NoRace => {
            write_accesses(&mut page, &decision.first, &decision.second);
            write_refutation(&mut page, decision);
        }
        Answer::NotInWindow | Answer::Undecided => {
            write_accesses(&mut page, &decision.first, &decision.second);
            let reason = decision.reason.as_deref().unwrap_or("no race within one window");
            let advice = Advice::of(reason);
            title(&mut page, "Why it is not decided");
            paragraph(&mut page, format!("{}: {}", visible(reason), advice.meaning));
            title(&mut page, "What would decide it");
            paragraph(&mut page, advice.remedy);
        }
    }
    write_commands(&mut page, beside);
    page.finish()
}

/// The race that a pair turned out to be.
fn found(decision: &Decision, observed: Option<Observed>) -> Race {
    Race {
        first: decision.first.clone(),
        second: decision.second.clone(),
        proof: Proof::Adjacent,
        model: None,
        witness_length: decision.witness.as_ref().map(Vec::len),
        witness_tail: None,
        witness: decision.witness.clone(),
        story: decision.story.clone(),
        observed,
        reads: decision.reads.clone(),
        path: None,
        values: Vec::new(),
        schedule: None,
        confirmation: None,
        picture: None,
        processes: None,
        hunted: None,
        repeated: false,
        fingerprint: None,
    }
}

fn title(page: &mut Page, text: &str) {
    page.blank();
    page.line(Text::new().ink(Ink::Heading, text));
}

fn paragraph(page: &mut Page, text: impl Into<Text>) {
    page.wrapped(INDENT, INDENT, text);
}

fn item(page: &mut Page, text: impl Into<Text>) {
    page.wrapped(INDENT, INDENT + 2, Text::from("- ").append(text.into()));
}

/// What all of this is about, and what is to be known about that.
fn write_about(page: &mut Page, trace: &TraceInfo, technique: &str, beside: &Beside) {
    write_trace(page, trace, technique);
    beside.notes.iter().for_each(|text| note(page, text));
}

fn write_race(page: &mut Page, race: &Race, driven: Option<usize>, checked: &Checked, detail: Detail) {
    title(page, "What a data race is");
    paragraph(
        page,
        "Two threads access the same memory at the same time, at least one of them writes, and nothing makes \
         either wait for the other. Values may be lost, torn or out of date; in C, C++ and Rust the behaviour is \
         undefined.",
    );
    write_accesses(page, &race.first, &race.second);
    race_text::write_origin_of_memory(page, race);
    title(page, "Why no lock helps");
    paragraph(page, locks(&race.first, &race.second));
    write_schedule(page, race, detail);
    write_reads(page, race);
    title(page, "Why the recorded run did not show it");
    paragraph(page, observed(race));
    title(page, "What the proof guarantees");
    write_proof(page, race, driven, checked);
    title(page, "How such races are usually fixed");
    paragraph(page, "These are suggestions: foretell does not know what the program is meant to do.");
    for suggestion in suggestions(race) {
        item(page, suggestion);
    }
}

/// Both accesses with all that is known of them.
fn write_accesses(page: &mut Page, first: &RacingAccess, second: &RacingAccess) {
    title(page, "The two accesses");
    race_text::write_access(page, first, usize::MAX, usize::MAX);
    page.blank();
    race_text::write_access(page, second, usize::MAX, usize::MAX);
}

fn write_schedule(page: &mut Page, race: &Race, detail: Detail) {
    match (race.proof, &race.story, &race.witness) {
        (Proof::Unordered, ..) => {}
        (_, None, None) => {
            let length = race.witness_length.map_or(String::new(), |length| format!(" of {length} steps"));
            title(page, "How it happens");
            paragraph(page, format!("The schedule{length} was too long to be kept; --witness all keeps it."));
        }
        (_, story, witness) => {
            match story {
                Some(story) => story_text::write(page, story, "How it happens", 0),
                None => {
                    title(page, "How it happens");
                    race_text::write_witness(page, None, witness.as_deref(), detail);
                }
            }
            page.blank();
            paragraph(
                page,
                "Read it from top to bottom. The two steps at the end can be taken in either order, or both at once: \
                 nothing makes one of them wait.",
            );
        }
    }
}

/// Which reads on the way matter, and what for.
fn write_reads(page: &mut Page, race: &Race) {
    let Some(needed) = &race.reads else { return };
    title(page, "Which reads matter");
    paragraph(page, reads_text::INTRODUCTION);
    for read in &needed.reads {
        item(page, reads_text::read(read));
    }
    if needed.more > 0 {
        paragraph(page, format!("… and {}.", count(needed.more, "more read")));
    }
}

/// Why the locks that are held do not keep the two apart.
fn locks(first: &RacingAccess, second: &RacingAccess) -> String {
    let (Some(one), Some(other)) = (&first.locks, &second.locks) else {
        return "The report has no information about held locks.".to_string();
    };
    let names = |locks: &[HeldLock]| {
        let names: Vec<String> = locks.iter().map(|held| visible(&held.lock)).collect();
        names.join(", ")
    };
    let (a, b) = (visible(&first.thread), visible(&second.thread));
    match (one.as_slice(), other.as_slice()) {
        ([], []) => "Neither thread holds a lock.".to_string(),
        (held, []) => format!(
            "{a} holds {}, but {b} holds no lock. A lock excludes only threads that acquire it.",
            names(held)
        ),
        ([], held) => format!(
            "{b} holds {}, but {a} holds no lock. A lock excludes only threads that acquire it.",
            names(held)
        ),
        (one, other) => match common(one, other) {
            Some((lock, true)) => {
                format!("Both hold {lock}, but only as readers, and readers do not exclude each other.")
            }
            Some((lock, false)) => {
                format!("Both held {lock} in the recorded run, but not in the same critical section.")
            }
            None => format!(
                "{a} holds {} and {b} holds {}: these are different locks, which do not exclude each other.",
                names(one),
                names(other)
            ),
        },
    }
}

/// A lock that both hold, if there is one, and whether both do so as readers.
fn common(one: &[HeldLock], other: &[HeldLock]) -> Option<(String, bool)> {
    one.iter().find_map(|held| {
        let same = other.iter().find(|also| also.lock == held.lock)?;
        Some((visible(&held.lock), held.mode == HeldMode::Shared && same.mode == HeldMode::Shared))
    })
}

/// What kept the two apart.
fn observed(race: &Race) -> Text {
    match &race.observed {
        None if race.path.is_some() => Text::from("It took the other side of a branch before the race."),
        Some(observed) => race_text::observed_text(observed),
        None => Text::from(
            "That is not certain: there is other synchronisation between the two, which may or may not \
             have ordered them in that run.",
        ),
    }
}

fn write_proof(page: &mut Page, race: &Race, driven: Option<usize>, checked: &Checked) {
    match race.proof {
        Proof::Adjacent if race.path.is_some() => paragraph(
            page,
            "The schedule takes an untaken branch: there one thread leaves the path of the recorded run and executes the \
             code of the program. foretell recomputed what each read sees and all values that depend on it; with these values every \
             branch goes as the schedule says. A referee that shares no code with the search has replayed the schedule step by step \
             and recomputed the values itself.",
        ),
        Proof::Adjacent if !race.values.is_empty() => paragraph(
            page,
            "The schedule consists of steps that the program took in the recorded run. Some reads see other values there. \
             foretell recomputed all values that depend on them: every path constraint holds, so each branch goes as in the recorded \
             run and each address stays the same. So the program can also run like this. A referee that shares no code with the \
             search has replayed the schedule step by step and recomputed the values itself.",
        ),
        Proof::Adjacent if race.reads.is_some() => paragraph(
            page,
            "The schedule consists of steps that the program took in the recorded run. Each thread takes its own steps in \
             their order, and every necessary read sees what it saw. So the program can also run like this. A referee that shares no code with the search has replayed the schedule step by \
             step: no lock has two owners, no thread runs before it is started, and the two accesses come last, adjacent to each \
             other.",
        ),
        Proof::Adjacent => paragraph(
            page,
            "The schedule consists of steps that the program took in the recorded run. Each thread takes its own steps in \
             their order, and every read that its next steps depend on sees what it saw. So any program that produced the \
             recorded run can also run like this. A referee that shares no code with the search has replayed the schedule step by \
             step: no lock has two owners, no thread runs before it is started, and the two accesses come last, adjacent to each \
             other.",
        ),
        Proof::Unordered => paragraph(
            page,
            "In the recorded run itself, the language's happens-before (locks, the start and end of threads, atomics, …) does \
             not order the two accesses: only timing did. A referee that shares no code with the search has checked that.",
        ),
    }
    match &race.confirmation {
        Some(confirmation) if !confirmation.confirmed || !confirmation.live.is_empty() => {
            paragraph(page, confirmation_text::words(confirmation));
        }
        None if driven.is_none() || race.witness.is_none() => {}
        _ => paragraph(page, "The program itself was also driven along the schedule, up to the race."),
    }
    match checked {
        Checked::Again(trace) => {
            let text =
                format!("Checked again just now: the referee accepts the proof on {}.", visible(trace));
            paragraph(page, Text::new().ink(Ink::Sure, text));
        }
        Checked::Rejected(trace, why) => {
            let text = format!(
                "Checked again just now, and REJECTED on {}: {}. Either this is another trace than that of the \
                 report, or the report was changed, or foretell has a bug.",
                visible(trace),
                visible(why)
            );
            paragraph(page, Text::new().ink(Ink::Race, text));
        }
        Checked::Not(why) => paragraph(page, format!("It was not checked again now: {}.", visible(why))),
    }
}

/// What people do about such races. What comes first fits best.
fn suggestions(race: &Race) -> Vec<Text> {
    let (first, second) = (&race.first, &race.second);
    let target = visible(&first.target);
    let mut texts = Vec::new();
    let is_atomic =
        |access: &&RacingAccess| ["aload", "astore", "rmw"].iter().any(|op| access.op.starts_with(op));
    let plain = [first, second].into_iter().find(|access| !is_atomic(access));
    if let (true, Some(plain)) = ([first, second].iter().any(is_atomic), plain) {
        texts.push(Text::from("make the other access atomic as well: the one at ").append(at(plain)));
    }
    if [first, second].iter().any(|access| access.op.starts_with("free")) {
        let text =
            "free the memory only when all threads are done with it: join them before, or count references";
        texts.push(Text::from(text));
    }
    let empty = Vec::new();
    let held = |access: &RacingAccess| access.locks.clone().unwrap_or(empty.clone());
    let (one, other) = (held(first), held(second));
    texts.push(match (one.first(), other.first()) {
        (Some(lock), None) => lock_there(lock, second),
        (None, Some(lock)) => lock_there(lock, first),
        (Some(_), Some(_)) if common(&one, &other).is_some() => {
            Text::from(format!("acquire the lock exclusively, not as a reader, to write {target}"))
        }
        (Some(_), Some(_)) => {
            Text::from(format!("decide on one lock for {target}, and hold it at both places"))
        }
        (None, None) => {
            Text::from(format!("hold one lock at both places, and wherever else {target} is used"))
        }
    });
    if !is_atomic(&first) && !is_atomic(&second) {
        let text = format!("if {target} is a flag or a counter of its own: make it atomic, at both places");
        texts.push(Text::from(text));
    }
    for (child, parent) in [(first, second), (second, first)] {
        if child.thread_started.as_ref().is_some_and(|start| start.thread == parent.thread) {
            let (child, parent_name) = (visible(&child.thread), visible(&parent.thread));
            texts.push(
                Text::from(format!("if {parent_name} needs what {child} has done: join {child} before "))
                    .append(at(parent)),
            );
        }
    }
    texts
}

fn lock_there(lock: &HeldLock, access: &RacingAccess) -> Text {
    Text::from(format!("take {} also at ", visible(&lock.lock))).append(at(access))
}

fn at(access: &RacingAccess) -> Text {
    Text::new().ink(Ink::Place, place(&access.location))
}

/// Why the two cannot come together.
fn write_refutation(page: &mut Page, decision: &Decision) {
    title(page, "Why it cannot race");
    if decision.steps.is_empty() {
        paragraph(
            page,
            "There is no short argument: the search covered all orders of the recorded steps, and none makes the two \
             accesses adjacent.",
        );
    } else {
        paragraph(page, "Suppose that the two were adjacent. Then:");
        write_contradiction(page, &decision.steps);
        paragraph(page, "That is a contradiction.");
    }
    title(page, "What this guarantees");
    paragraph(
        page,
        "It holds for all runs in which each thread does what it did in the recorded one. In another run the program \
         may take another path, on which the two lines race: record that run, too.",
    );
}

/// What else in the report is not decided, and why.
fn what_is_open(report: &Report) -> Vec<String> {
    let mut open = Vec::new();
    if report.interrupted {
        open.push("The analysis was interrupted, so there was less time than intended.".to_string());
    }
    open.extend(report.notes.iter().map(|note| format!("The report also says: {}.", visible(note))));
    if report.trace.unexplained_reads > 0 {
        let fences = count(report.trace.unexplained_reads, "fence");
        open.push(format!(
            "The trace has {fences}: calls of uninstrumented code, or reads of a value that no recorded write explains. \
             No schedule may move anything across a fence, so some races cannot be shown."
        ));
    }
    if report.trace.cut_short {
        open.push("The recording was cut short: later events are unknown.".to_string());
    }
    open
}

/// What a reason means, and what helps.
struct Advice {
    meaning: &'static str,
    remedy: &'static str,
}

impl Advice {
    /// The advice for a reason. Reasons are words for people; those that are not known here still have the general
    /// advice.
    fn of(reason: &str) -> Advice {
        const ADVICE: [(&str, Advice); 8] = [
            (
                "budget for one pair ran out",
                Advice {
                    meaning: "the search found neither a schedule nor a contradiction within the budget of the pair",
                    remedy: "More time: --budget 10m. Or a smaller question: --window 10000 analyses so many events at a time.",
                },
            ),
            (
                "analysis was stopped",
                Advice {
                    meaning: "Ctrl-C or the time limit came before the answer",
                    remedy: "More time: --time-limit none, and --budget for a single pair.",
                },
            ),
            (
                "too much memory",
                Advice {
                    meaning: "the part of the trace that has to be analysed at once is too large",
                    remedy: "More memory: --memory 16G. Or a smaller question: --window 100000 analyses so many events at a time.",
                },
            ),
            (
                "neither a schedule nor a contradiction",
                Advice {
                    meaning: "this technique does not decide all pairs",
                    remedy: "A technique that does: --technique rv.",
                },
            ),
            (
                "does not prove what it reports",
                Advice {
                    meaning: "this technique only lists candidates, and most of them do not race",
                    remedy: "A technique that proves or refutes: --technique rv, or auto.",
                },
            ),
            (
                "happens-before orders",
                Advice {
                    meaning: "the recorded run orders the two, and this technique analyses no other schedule",
                    remedy: "A technique that also analyses other schedules: --technique rv, or auto.",
                },
            ),
            (
                "within one window",
                Advice {
                    meaning: "no schedule that leaves the trace unchanged outside one window shows a race; others might",
                    remedy: "A larger window, or none: --window all.",
                },
            ),
            (
                "referee rejects",
                Advice {
                    meaning: "the technique claimed a schedule that does not hold, so nothing is claimed here",
                    remedy: "Another technique: --technique rv. Please report this as a bug of foretell.",
                },
            ),
        ];
        const OTHER: Advice = Advice {
            meaning: "neither a proof nor a refutation was found",
            remedy: "A technique that proves or refutes: --technique rv; more time: --budget 10m; the whole trace at once: --window all.",
        };
        ADVICE.into_iter().find(|(known, _)| reason.contains(known)).map_or(OTHER, |(_, advice)| advice)
    }
}

fn write_commands(page: &mut Page, beside: &Beside) {
    if beside.commands.is_empty() {
        return;
    }
    title(page, "To see more");
    for (command, purpose) in &beside.commands {
        paragraph(page, format!("{}:", visible(purpose)));
        page.line(Text::from("      ").ink(Ink::Heading, visible(command)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::DecisionStats;

    fn undecided(reason: &str) -> String {
        let access = |thread: &str, op: &str| RacingAccess {
            thread: thread.to_string(),
            op: op.to_string(),
            target: "x".to_string(),
            ..RacingAccess::default()
        };
        let asked = Decision {
            tool: "foretell".to_string(),
            technique: "rv".to_string(),
            trace: TraceInfo::default(),
            window: None,
            first: access("A", "w"),
            second: access("B", "r"),
            verdict: Answer::Undecided,
            witness: None,
            story: None,
            reads: None,
            steps: Vec::new(),
            reason: Some(reason.to_string()),
            stats: DecisionStats { seconds: 0.0 },
        };
        let beside = Beside { notes: Vec::new(), commands: Vec::new() };
        decision(&asked, None, &beside, Detail { width: 120, ..Detail::default() })
    }

    #[test]
    fn every_reason_comes_with_what_helps() {
        for (reason, option) in [
            ("the budget for one pair ran out", "--budget 10m"),
            ("the analysis was stopped", "--time-limit none"),
            ("deciding it would take too much memory", "--memory 16G"),
            ("the technique finds neither a schedule nor a contradiction", "--technique rv"),
            ("something new", "--technique rv"),
        ] {
            let text = undecided(reason);
            assert!(text.contains(&format!("undecided: {reason}")) && text.contains(option), "{text}");
        }
    }
}
