//! No axiom that the checker accepts is false: each holds in all schedules that random walks come by, whoever states it
//! and whatever for. So no certificate at all refutes what one of these schedules reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foretell_testkit::random::Random;
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_testkit::{corpus, depending, spinning};
use foretell_trace::dependence::Part;
use foretell_trace::{EventId, Model, Op, ThreadId, Trace, Value};

use super::facts::TraceFacts;
use super::goal::{Goal, Question};
use super::literal::{Atom, INITIAL, Literal};
use super::step::{self, Kind, Step};
use super::text::Words;
use crate::machine::Machine;
use crate::observed::{NONE, Observed, id};
use crate::referee::conflict;

/// What a variable holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Known(Value),
    Hidden,
    /// Equal to nothing observed.
    Foreign,
}

/// A schedule, and what its reads see, by the description of the trace format.
struct Run<'t> {
    facts: &'t TraceFacts<'t>,
    /// For each event, its place: those that do not run come last.
    place: Vec<usize>,
    length: usize,
    /// For each read that is consistent, what it sees.
    seen: BTreeMap<u32, u32>,
}

impl<'t> Run<'t> {
    fn new(facts: &'t TraceFacts<'t>, model: Model, schedule: &[u32]) -> Run<'t> {
        let events = facts.trace().events().len();
        let mut place: Vec<usize> = (0..events).map(|event| schedule.len() + event).collect();
        schedule.iter().enumerate().for_each(|(at, &event)| place[event as usize] = at);
        let mut run = Run { facts, place, length: schedule.len(), seen: BTreeMap::new() };
        run.see(model, schedule);
        run
    }

    fn see(&mut self, model: Model, schedule: &[u32]) {
        let facts = self.facts;
        let initial = |var: usize| facts.observed.initial[var].value.map_or(Content::Hidden, Content::Known);
        let mut memory: Vec<(u32, Content)> =
            (0..facts.trace().names().vars.len()).map(|var| (INITIAL, initial(var))).collect();
        let (mut deviated, mut deviating) = (BTreeSet::new(), BTreeSet::new());
        for &event in schedule {
            let (step, op) = (facts.event(event), facts.op(event));
            let Some(access) = op.access() else { continue };
            let var = access.var.index();
            if step.unexplained {
                memory[var] = (event, op.value_read().map_or(Content::Hidden, Content::Known));
            } else if access.kind.reads() {
                let link = facts.observed.link(event);
                let source = if link.source == NONE { INITIAL } else { link.source };
                let (write, content) = memory[var];
                let is_consistent = match link.by_value && model != Model::SameWrite {
                    true => op.value_read().is_some_and(|value| content == Content::Known(value)),
                    false => write == source && content != Content::Foreign,
                };
                if is_consistent {
                    self.seen.insert(event, write);
                } else {
                    deviated.insert(step.thread);
                    deviating.insert(event);
                }
            }
            if access.kind.writes() && !matches!(op, Op::Free(_)) {
                let is_foreign = match model {
                    Model::Necessary => self.depends(event, &deviating),
                    _ => deviated.contains(&step.thread),
                };
                let value = op.value_written().map_or(Content::Hidden, Content::Known);
                memory[var] = (event, if is_foreign { Content::Foreign } else { value });
            }
        }
    }

    /// Whether what is written depends on one of these reads of its thread.
    fn depends(&self, write: u32, reads: &BTreeSet<u32>) -> bool {
        let own: Vec<u32> = reads.iter().copied().filter(|&read| self.facts.is_up_to(read, write)).collect();
        let Some(dependence) = self.facts.trace().dependence() else { return !own.is_empty() };
        let mut open = vec![dependence.value_of(id(write))];
        while let Some(set) = open.pop() {
            match dependence.part(set) {
                Part::Everything if !own.is_empty() => return true,
                Part::Read(read) if own.iter().any(|&own| id(own) == read) => return true,
                Part::Both(_, one, other) => open.extend([one, other]),
                Part::Everything | Part::Nothing | Part::Read(_) => {}
            }
        }
        false
    }

    fn ran(&self, event: u32) -> bool {
        self.place[event as usize] < self.length
    }

    fn is_before(&self, from: u32, to: u32) -> bool {
        self.place[from as usize] < self.place[to as usize]
    }

    fn holds(&self, literal: Literal) -> bool {
        let holds = match literal.atom {
            Atom::Runs(event) => self.ran(event),
            Atom::Before(from, to) => self.is_before(from, to),
            Atom::Consistent(read) => {
                self.ran(read) && (self.facts.event(read).unexplained || self.seen.contains_key(&read))
            }
            Atom::Sees(read, write) => self.seen.get(&read) == Some(&write),
            Atom::Finds(attempt, begin) => {
                let is_open = self.facts.section_end(begin).is_none_or(|end| self.is_before(attempt, end));
                self.ran(attempt) && self.is_before(begin, attempt) && is_open
            }
            Atom::Wakes(notification, woken) => {
                let wait = self.facts.previous(woken);
                self.ran(notification)
                    && self.is_before(notification, woken)
                    && wait.is_some_and(|wait| self.is_before(wait, notification))
            }
        };
        holds == literal.positive
    }
}

/// The clause of the line, if the checker accepts it for this question.
fn clause(facts: &TraceFacts<'_>, question: &Question, line: &str) -> Option<Vec<Literal>> {
    let mut words = Words::new(line, facts);
    let kind = Kind::of_name(words.word().ok()?)?;
    match step::read(kind, &mut words, facts, question, 1) {
        Ok(Step::Holds(clause)) => Some(clause),
        _ => None,
    }
}

/// Some of the events of each list, as words.
fn some(events: &[u32], random: &mut Random) -> String {
    let chosen = events.iter().filter(|_| random.once_in(2));
    chosen.map(|event| format!(" {}", event + 1)).collect()
}

/// All axioms of one to three events that are no matter of the question, and some with lists.
fn axioms(facts: &TraceFacts<'_>, random: &mut Random) -> Vec<String> {
    let count = u32::try_from(facts.trace().events().len()).expect("a tiny trace");
    let (all, mut lines): (Vec<u32>, Vec<String>) = ((0..count).collect(), Vec::new());
    for a in 1..=count {
        lines.push(format!("attempt {a}"));
        lines.push(format!("notified {a}"));
        lines.push(format!("choice {a}"));
        for b in 1..=count {
            let two = "need prefix pin sees source exclusion begun open free after-wait before-return waker";
            lines.extend(two.split(' ').map(|axiom| format!("{axiom} {a} {b}")));
            for exclusion in ["later", "absent", "initial"] {
                lines.push(format!("choice {a} {exclusion} {b}"));
            }
            if facts.read(a - 1).is_none() {
                continue;
            }
            for c in 0..=count {
                lines.push(format!("choice {a} overwritten {b} {c}"));
                lines.push(format!("between {a} {c} {b}"));
                lines.push(format!("concrete {a} {c} {b}"));
            }
        }
    }
    let of =
        |is: fn(Op) -> bool| all.iter().copied().filter(|&event| is(facts.op(event))).collect::<Vec<_>>();
    let (waits, posts) = (of(|op| matches!(op, Op::SemWait(_))), of(|op| matches!(op, Op::SemPost(_))));
    let (back, notify) = (of(|op| matches!(op, Op::Woken { .. })), of(|op| matches!(op, Op::Notify(_))));
    let (departs, arrives) = (of(|op| matches!(op, Op::Depart(_))), of(|op| matches!(op, Op::Arrive(_))));
    for _ in 0..200 {
        for wait in &waits {
            let (taken, given) = (some(&waits, random), some(&posts, random));
            lines.push(format!("permits {}{taken} posts{given}", wait + 1));
        }
        if !back.is_empty() {
            lines.push(format!("wakeups{} by{}", some(&back, random), some(&notify, random)));
        }
        for depart in &departs {
            let (earlier, came) = (some(&arrives, random), some(&arrives, random));
            lines.push(format!("arrivals {}{earlier} of{came}", depart + 1));
        }
        let around: String = (0..2 * (1 + random.below(3)))
            .map(|_| format!(" {}", 1 + random.below(count as usize)))
            .collect();
        lines.push(format!("cycle{around}"));
    }
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// What the state after the schedule is an example of: each two accesses that are next, and all that wait.
fn questions(facts: &TraceFacts<'_>, machine: &Machine<'_>, model: Model) -> Vec<Question> {
    let trace = facts.trace();
    let ready = |is: &dyn Fn(ThreadId) -> bool| -> Vec<u32> {
        let threads = trace.threads().filter(|&thread| is(thread));
        threads.filter_map(|thread| machine.next(thread)).map(|event| event.number() - 1).collect()
    };
    let mut questions = Vec::new();
    let accesses = ready(&|thread| machine.could_race(thread).is_ok());
    for &a in &accesses {
        for &b in accesses.iter().filter(|&&b| a < b && conflict(facts.event(a), facts.event(b))) {
            questions.extend(Question::new(facts, model, Goal::Race, vec![a, b], None));
        }
    }
    let waiting = ready(&|thread| machine.could_wait(thread).is_ok());
    let ended = trace.iter().find(|&(end, event)| event.op == Op::End && machine.has_run(end));
    questions.extend(Question::new(
        facts,
        model,
        Goal::Deadlock,
        waiting,
        ended.map(|(end, _)| end.number() - 1),
    ));
    questions
}

/// How often axioms were looked at, by their words.
type Tally = BTreeMap<String, usize>;

fn check_trace(trace: &Trace, walks: usize, random: &mut Random, tally: &mut Tally) {
    let facts = TraceFacts::new(trace);
    let observed = Arc::new(Observed::new(trace));
    let lines = axioms(&facts, random);
    for model in [Model::SameWrite, Model::SameValue, Model::ControlFlow, Model::Necessary] {
        let any = Question {
            model: crate::model::supported(model, trace),
            goal: Goal::Race,
            next: Vec::new(),
            ended: None,
        };
        let clauses: Vec<(&String, Vec<Literal>)> =
            lines.iter().filter_map(|line| Some((line, clause(&facts, &any, line)?))).collect();
        for _ in 0..walks {
            let mut machine = Machine::new(Arc::clone(&observed), model);
            let mut schedule: Vec<u32> = Vec::new();
            loop {
                let run = Run::new(&facts, any.model, &schedule);
                for (line, clause) in &clauses {
                    *tally.entry(line.split(' ').next().unwrap_or_default().to_string()).or_default() += 1;
                    assert!(
                        clause.iter().any(|&literal| run.holds(literal)),
                        "{model:?} {schedule:?}: {line} is false"
                    );
                }
                for question in questions(&facts, &machine, model) {
                    for event in 1..=trace.events().len() {
                        for word in ["absent", "reached", "pinned", "unexplained"] {
                            let line = if word == "unexplained" {
                                word.to_string()
                            } else {
                                format!("{word} {event}")
                            };
                            let Some(clause) = clause(&facts, &question, &line) else { continue };
                            *tally.entry(format!("{word} {:?}", question.goal)).or_default() += 1;
                            let holds = clause.iter().any(|&literal| run.holds(literal));
                            assert!(holds, "{question:?} {schedule:?}: {line} is false");
                        }
                    }
                }
                let able: Vec<ThreadId> =
                    trace.threads().filter(|&thread| machine.enabled(thread).is_ok()).collect();
                if able.is_empty() {
                    break;
                }
                let thread = *random.pick(&able);
                schedule.extend(machine.next(thread).map(|event: EventId| event.number() - 1));
                machine.step(thread).expect("it is able to");
            }
        }
    }
}

#[test]
fn no_axiom_is_false() {
    let mut tally = Tally::new();
    let shape = |seed: u64| {
        let values = Features { values: true, branches: true, ..Features::MUTEXES };
        let features = match seed % 4 {
            0 => Features { values: seed.is_multiple_of(8), ..Features::SEQUENTIAL },
            1 => Features { crowds: true, semaphores: true, waiting: true, ..values },
            2 => Features { atomics: true, failed_attempts: true, shared_locks: true, heap: true, ..values },
            _ => Features { values: true, branches: true, unexplained: seed % 8 == 7, ..Features::ALL },
        };
        Shape { decisive: seed % 16 < 8, ..Shape::new(features, 11) }
    };
    let complete = |seed: u64, trace: Trace| match seed % 5 {
        0 => {
            foretell_testkit::trace(&spinning::trace(seed, 2 + usize::try_from(seed % 3).expect("small"), 9))
        }
        _ if (seed / 4).is_multiple_of(2) => depending::at_random(seed, trace),
        _ => trace,
    };
    tiny::for_each_completed(250, shape, complete, |seed, trace| {
        check_trace(trace, 6, &mut Random::new(seed), &mut tally);
    });
    let words = "need prefix pin sees source exclusion attempt begun open free after-wait before-return waker choice \
                 between concrete permits wakeups cycle";
    let missing: Vec<&str> = words.split_whitespace().filter(|&word| !tally.contains_key(word)).collect();
    assert!(missing.is_empty(), "never looked at: {missing:?}; {tally:?}");
}

#[test]
fn no_axiom_is_false_in_the_corpus() {
    let mut tally = Tally::new();
    for example in corpus::examples() {
        let trace = foretell_testkit::trace(&example.text);
        if trace.events().len() <= 24 {
            check_trace(&trace, 3, &mut Random::new(1), &mut tally);
        }
    }
    assert!(tally.get("reached Race").is_some_and(|&count| count > 100), "{tally:?}");
}
