//! Certificates as they are written down, in either form.

use foretell_trace::Model;

use super::assemble::CertificateStep;
use super::axiom::{Axiom, Exclusion, Literal, number};
use super::binary::Binary;
use super::text::Text;
use crate::closure::ENTRY;
use crate::window::Window;

/// A proof that no schedule reaches a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    model: Model,
    /// How many events the trace has.
    events: u32,
    /// What comes next in the end, and what has run then: by its indices in the trace.
    next: Box<[u32]>,
    ran: Box<[u32]>,
    /// Whether that are two accesses; otherwise threads wait there.
    is_race: bool,
    steps: Vec<CertificateStep>,
}

impl Certificate {
    /// The certificate of these steps, about a window that is the whole trace.
    pub(super) fn new(window: &Window<'_>, steps: Vec<CertificateStep>) -> Certificate {
        Certificate {
            model: window.model,
            events: window.len(),
            next: window.next.clone(),
            ran: window.ran.clone(),
            is_race: window.next.iter().all(|&event| window.op(event).access().is_some()),
            steps,
        }
    }

    /// As lines of words.
    pub fn text(&self) -> String {
        let mut text = Text::default();
        self.write(&mut text);
        text.into_text()
    }

    /// As records of bytes; a file of them begins with [`Certificate::MAGIC`].
    pub fn binary(&self) -> Vec<u8> {
        let mut binary = Binary::default();
        self.write(&mut binary);
        binary.into_records()
    }

    /// How a file of certificates in the binary form begins.
    pub const MAGIC: &[u8] = b"\x89proof1\n";

    /// Steps that are not needed any more are dropped after their last use.
    fn write(&self, form: &mut impl Form) {
        let numbers = |events: &[u32]| events.iter().map(|&event| number(event)).collect::<Vec<_>>();
        form.question(&QuestionWords {
            model: self.model,
            events: self.events,
            is_race: self.is_race,
            next: &numbers(&self.next),
            ended: self.ran.first().map(|&event| number(event)),
        });
        let steps = self.up_to_contradiction();
        let mut last_use = vec![None; steps.len()];
        for (index, step) in steps.iter().enumerate() {
            if let CertificateStep::Clause(_, hints) = step {
                hints.iter().for_each(|&hint| last_use[hint as usize] = Some(index));
            }
        }
        for ((index, step), present) in steps.iter().enumerate().zip(1u32..) {
            match step {
                CertificateStep::Axiom(axiom) => write_axiom(form, axiom),
                CertificateStep::Cycle(pairs) => {
                    form.begin(Kind::Cycle);
                    pairs.iter().for_each(|&(a, b)| events(form, &[a, b]));
                }
                CertificateStep::Clause(literals, hints) => {
                    form.begin(Kind::Clause);
                    literals.iter().for_each(|&literal| form.literal(literal));
                    form.list_ends("by");
                    hints.iter().for_each(|&hint| form.step(hint + 1, present));
                }
            }
            form.end();
            let CertificateStep::Clause(_, hints) = step else { continue };
            let done: Vec<u32> =
                hints.iter().copied().filter(|&hint| last_use[hint as usize] == Some(index)).collect();
            if index + 1 < steps.len() && !done.is_empty() {
                form.begin(Kind::Drop);
                done.iter().for_each(|&hint| form.step(hint + 1, present + 1));
                form.end();
            }
        }
    }

    /// A certificate ends with its first contradiction.
    fn up_to_contradiction(&self) -> &[CertificateStep] {
        let is_contradiction = |step: &CertificateStep| matches!(step, CertificateStep::Clause(literals, _) if literals.is_empty());
        let end = self.steps.iter().position(is_contradiction).map_or(self.steps.len(), |at| at + 1);
        &self.steps[..end]
    }
}

/// What a certificate is about, in numbers.
pub(super) struct QuestionWords<'c> {
    pub(super) model: Model,
    pub(super) events: u32,
    pub(super) is_race: bool,
    pub(super) next: &'c [u32],
    pub(super) ended: Option<u32>,
}

/// What a line says. In this order, the codes of the binary form, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Clause = 1,
    Drop,
    Cycle,
    Need,
    Prefix,
    Absent,
    Reached,
    Unexplained,
    Pin,
    Pinned,
    Choice,
    Sees,
    Source,
    Between,
    Concrete,
    Exclusion,
    Attempt,
    Begun,
    Open,
    Free,
    Permits,
    Notified,
    Wakeups,
    AfterWait,
    BeforeReturn,
    Waker,
    Arrivals,
}

/// How writes are excluded from a choice. In this order, the codes of the binary form, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExclusionKind {
    Later = 1,
    Absent,
    Overwritten,
    Initial,
}

/// A form in which a certificate is written down, part by part.
pub(super) trait Form {
    fn question(&mut self, question: &QuestionWords<'_>);
    fn begin(&mut self, kind: Kind);
    /// The number of an event; 0 for what was there at first.
    fn event(&mut self, number: u32);
    fn literal(&mut self, literal: Literal);
    fn exclusion(&mut self, kind: ExclusionKind);
    /// A list of any length ends here that is not the last on the line.
    fn list_ends(&mut self, word: &'static str);
    /// The number of a step; `present` is that of the next clause.
    fn step(&mut self, step: u32, present: u32);
    fn end(&mut self);
}

fn events(form: &mut impl Form, events: &[u32]) {
    events.iter().for_each(|&event| form.event(number(event)));
}

/// The number of a write, or 0 for what was there at first.
pub(super) fn source(write: u32) -> u32 {
    if write == ENTRY { 0 } else { number(write) }
}

fn write_axiom(form: &mut impl Form, axiom: &Axiom) {
    let mut plain = |kind: Kind, named: &[u32]| {
        form.begin(kind);
        events(form, named);
    };
    match *axiom {
        Axiom::Need(from, to) => plain(Kind::Need, &[from, to]),
        Axiom::Prefix(from, to) => plain(Kind::Prefix, &[from, to]),
        Axiom::Absent(event) => plain(Kind::Absent, &[event]),
        Axiom::Reached(event) => plain(Kind::Reached, &[event]),
        Axiom::Unexplained => plain(Kind::Unexplained, &[]),
        Axiom::Pin { event, read } => plain(Kind::Pin, &[event, read]),
        Axiom::Pinned(read) => plain(Kind::Pinned, &[read]),
        Axiom::Choice { read, ref exclusions } => {
            plain(Kind::Choice, &[read]);
            exclusions.iter().for_each(|&exclusion| exclude(form, exclusion));
        }
        Axiom::Sees { read, write } => seen(form, Kind::Sees, read, write, None),
        Axiom::SourceRuns { read, write } => seen(form, Kind::Source, read, write, None),
        Axiom::Between { read, write, other } => seen(form, Kind::Between, read, write, Some(other)),
        Axiom::Concrete { read, write, other } => seen(form, Kind::Concrete, read, write, Some(other)),
        Axiom::Exclusion(one, other) => plain(Kind::Exclusion, &[one, other]),
        Axiom::Attempt(attempt) => plain(Kind::Attempt, &[attempt]),
        Axiom::HasBegun { attempt, begin } => plain(Kind::Begun, &[attempt, begin]),
        Axiom::IsOpen { attempt, begin } => plain(Kind::Open, &[attempt, begin]),
        Axiom::Free { access, free } => plain(Kind::Free, &[access, free]),
        Axiom::Permits { wait, ref waits, ref posts } => {
            plain(Kind::Permits, &[wait]);
            lists(form, waits, "posts", posts);
        }
        Axiom::Notified(woken) => plain(Kind::Notified, &[woken]),
        Axiom::Wakeups { ref back, ref shared } => {
            plain(Kind::Wakeups, &[]);
            lists(form, back, "by", shared);
        }
        Axiom::AfterWait { notification, woken } => plain(Kind::AfterWait, &[notification, woken]),
        Axiom::BeforeReturn { notification, woken } => plain(Kind::BeforeReturn, &[notification, woken]),
        Axiom::WakerRuns { notification, woken } => plain(Kind::Waker, &[notification, woken]),
        Axiom::Arrivals { depart, ref earlier, ref came } => {
            plain(Kind::Arrivals, &[depart]);
            lists(form, earlier, "of", came);
        }
    }
}

fn seen(form: &mut impl Form, kind: Kind, read: u32, write: u32, other: Option<u32>) {
    form.begin(kind);
    form.event(number(read));
    form.event(source(write));
    other.into_iter().for_each(|other| form.event(number(other)));
}

fn lists(form: &mut impl Form, some: &[u32], word: &'static str, others: &[u32]) {
    events(form, some);
    form.list_ends(word);
    events(form, others);
}

fn exclude(form: &mut impl Form, exclusion: Exclusion) {
    let (kind, named) = match exclusion {
        Exclusion::Later(event) => (ExclusionKind::Later, &[event][..]),
        Exclusion::Absent(event) => (ExclusionKind::Absent, &[event][..]),
        Exclusion::Overwritten(event, other) => (ExclusionKind::Overwritten, &[event, other][..]),
        Exclusion::NotInitial(other) => (ExclusionKind::Initial, &[other][..]),
    };
    form.exclusion(kind);
    events(form, named);
}
