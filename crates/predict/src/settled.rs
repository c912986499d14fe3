//! Reads that find the same value in every schedule, whichever write they see.
//!
//! A technique that pins reads to writes asks too much of such a read: it cannot deviate, so it matters to nothing. One
//! is found by looking at all writes that it could see: those that no schedule lets come after it, and that none has
//! overwritten by then. All of them must write what the read has seen, and go on doing so in every schedule: what they
//! write must be made of reads that are settled themselves. So one begins with what is made of no read at all and goes
//! on from there, for a few rounds.
//!
//! This need not be trusted: the referee compares values, and would see a read that deviates.

use foretell_trace::dependence::{Dependence, Part, Reads};
use foretell_trace::{EventId, Value, VarId};

use crate::causal::Causal;
use crate::index::Index;

/// After so many rounds, what has not been found yet is not looked for any more.
const MOST_ROUNDS: usize = 8;

/// For each event whether it is a read that finds the same value in every schedule.
pub(crate) fn settled_reads(index: &Index<'_>, dependence: &Dependence) -> Vec<bool> {
    let events = index.trace.events().len();
    let mut rounds = Rounds {
        index,
        certain: Causal::certain(index),
        dependence,
        settled: vec![false; events],
        fixed: Vec::new(),
        alike: vec![0; events],
    };
    for _ in 0..MOST_ROUNDS {
        if !rounds.go_on() {
            break;
        }
    }
    rounds.settled
}

/// What is known after some rounds.
struct Rounds<'i> {
    index: &'i Index<'i>,
    /// What every schedule keeps.
    certain: Causal,
    dependence: &'i Dependence,
    settled: Vec<bool>,
    /// For each set of two, whether all its reads are settled.
    fixed: Vec<bool>,
    /// For each write, how many writes of its thread to its variable, from itself on, write the same value in every
    /// schedule.
    alike: Vec<u32>,
}

impl Rounds<'_> {
    /// Finds what follows from what is known; says whether that is anything new.
    fn go_on(&mut self) -> bool {
        self.look_at_sets();
        self.compare_writes();
        let found: Vec<u32> = (0..self.index.len()).filter(|&event| self.is_news(event)).collect();
        for &read in &found {
            self.settled[read as usize] = true;
        }
        !found.is_empty()
    }

    /// Looks through the sets, each of which is made of earlier ones.
    fn look_at_sets(&mut self) {
        self.fixed.clear();
        for sets in self.dependence.unions() {
            let both = sets.iter().all(|&set| self.is_fixed(set));
            self.fixed.push(both);
        }
    }

    /// Whether all reads of the set are settled.
    fn is_fixed(&self, set: Reads) -> bool {
        match self.dependence.part(set) {
            Part::Nothing => true,
            Part::Everything => false,
            Part::Read(read) => self.settled[read.index()],
            Part::Both(union, ..) => self.fixed.get(union).copied().unwrap_or(false),
        }
    }

    /// What the event writes in every schedule, if that is known.
    fn always_written(&self, write: u32) -> Option<Value> {
        let value = self.dependence.value_of(EventId::from_index(write as usize)?);
        let is_known = !self.index.event(write).unexplained && self.is_fixed(value);
        self.index.value_after(write).filter(|_| is_known)
    }

    fn compare_writes(&mut self) {
        for writes in self.index.write_lists() {
            let mut next: Option<(Value, u32)> = None;
            for &write in writes.iter().rev() {
                next = self.always_written(write).map(|value| match next {
                    Some((same, count)) if same == value => (value, count + 1),
                    _ => (value, 1),
                });
                self.alike[write as usize] = next.map_or(0, |(_, count)| count);
            }
        }
    }

    fn is_news(&self, event: u32) -> bool {
        let step = self.index.event(event);
        let Some(access) = step.op.access().filter(|access| access.kind.reads()) else { return false };
        let is_open = !self.settled[event as usize] && !step.unexplained;
        is_open && step.op.value_read().is_some_and(|value| self.sees_only(value, event, access.var))
    }

    /// Whether all that the read could see is this value.
    fn sees_only(&self, value: Value, read: u32, var: VarId) -> bool {
        let (thread, place) = (self.index.event(read).thread.index(), self.index.place[read as usize]);
        let place_of = |write: u32| self.index.place[write as usize];
        let mut last = Vec::new();
        for (writer, writes) in self.index.writes_of(var) {
            let is_own = *writer == thread;
            let known = if is_own { place } else { self.certain.before(read, *writer) };
            let before = writes.partition_point(|&write| place_of(write) < known);
            last.extend(writes[..before].last());
            let comes_later = |&write: &u32| self.certain.before(write, thread) > place;
            let until = writes.partition_point(|write| !comes_later(write));
            let until = if is_own { before } else { until };
            if before < until && !self.all_write(value, &writes[before..until]) {
                return false;
            }
        }
        if last.is_empty() {
            return self.index.is_initial(var, value);
        }
        let seen = |&&write: &&u32| !self.certain.is_overwritten(self.index, write, &last);
        last.iter().filter(seen).all(|&write| self.all_write(value, &[write]))
    }

    /// Whether these writes of one thread, which follow each other, write the value in every schedule.
    fn all_write(&self, value: Value, writes: &[u32]) -> bool {
        let Some(&first) = writes.first() else { return true };
        self.index.value_after(first) == Some(value) && self.alike[first as usize] as usize >= writes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the reads of a trace in text that are settled.
    fn settled(text: &str) -> Vec<usize> {
        let trace = foretell_testkit::trace(text);
        let index = Index::new(&trace, crate::index::Unknown::AsRecorded);
        let found = settled_reads(&index, trace.dependence().expect("the text tells"));
        (1..).zip(found).filter_map(|(number, is_settled)| is_settled.then_some(number)).collect()
    }

    #[test]
    fn who_sees_one_value_only_is_settled_whoever_wrote_it() {
        let text = "A|w(x,1)|1\nB|r(x,1)|2\nC|w(x,1)|3\nB|r(x,1)|4\n#dependence\n#value 1 -\n#value 3 -\n";
        assert_eq!(settled(text), [0; 0], "B could come first and find the 0 of the beginning");
        assert_eq!(
            settled(
                &format!("M|r(x,1)|0\n{text}")
                    .replace("#value 1", "#value 2")
                    .replace("#value 3", "#value 4")
            ),
            [1, 3, 5]
        );
        let other = text.replace("C|w(x,1)", "C|w(x,2)").replace("B|r(x,1)|4", "B|r(x,2)|4");
        assert_eq!(settled(&other), [0; 0]);
    }

    #[test]
    fn the_own_thread_and_forks_tell_what_cannot_be_seen() {
        let text = "A|w(x,1)|1\nA|w(x,2)|2\nA|fork(B)|3\nB|r(x,2)|4\nB|w(x,3)|5\nB|r(x,3)|6\nA|w(y,1)|7\nA|join(B)|8\nA|w(x,4)|9\n";
        let told = "#dependence\n#value 1 -\n#value 2 -\n#value 5 -\n#value 9 -\n";
        assert_eq!(settled(&format!("{text}{told}")), [4, 6]);
        let early = text.replace("A|w(y,1)", "A|w(x,1)");
        assert_eq!(settled(&format!("{early}{told}#value 7 -\n")), [0; 0], "it may come at any time");
        let later = text.replace("A|join(B)", "A|branch");
        assert_eq!(settled(&format!("{later}{told}")), [0; 0]);
    }

    #[test]
    fn what_is_written_must_be_made_of_what_is_settled() {
        let text = "A|w(x,1)|1\nA|fork(B)|2\nB|r(x,1)|3\nB|w(y,2)|4\nB|r(y,2)|5\n#dependence\n#value 1 -\n";
        assert_eq!(settled(&format!("{text}#value 4 3\n")), [3, 5]);
        assert_eq!(settled(text), [3], "it may be made of anything");
        let (deviated, two) = ("B|r(z,0)|2\nC|w(z,1)|2\n", "#union 3 5\n#value 6 s0\n");
        let text = text.replace("B|r(x,1)|3\n", &format!("{deviated}B|r(x,1)|3\n"));
        assert_eq!(settled(&format!("{text}{two}")), [5]);
        assert_eq!(settled(&format!("{text}#value 6 5\n")), [5, 7]);
    }

    #[test]
    fn nothing_is_known_where_values_are_not_or_come_from_outside() {
        let hidden = "A|w(x)|1\nA|fork(B)|2\nB|r(x)|3\n#dependence\n#value 1 -\n";
        assert_eq!(settled(hidden), [0; 0]);
        let outside = "A|w(x,1)|1\nA|fork(B)|2\nB|r(x,5)|3\nA|r(x,5)|4\n#dependence\n#value 1 -\n";
        assert_eq!(settled(outside), [0; 0], "nobody has written that");
    }
}
