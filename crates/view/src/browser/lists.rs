//! Choosing threads and races.

use foretell_report::visible::visible;
use foretell_trace::EventId;

use super::keys::moved;
use super::{Browser, Course, Flow, Key, Mode};
use crate::order::Order;
use crate::races::summary;
use crate::seek::Direction;

impl Browser<'_> {
    pub(super) fn choose_threads(&mut self, at: usize, key: Key) -> Flow {
        let mut hidden = self.hidden.clone();
        match key {
            Key::Char(' ' | 'x') => hidden.iter_mut().skip(at).take(1).for_each(|hidden| *hidden = !*hidden),
            Key::Char('a') => hidden.fill(false),
            Key::Char('i') => hidden.iter_mut().for_each(|hidden| *hidden = !*hidden),
            key => match moved(at, hidden.len(), self.height, key) {
                Some(at) => self.mode = Mode::Threads(at),
                None => self.mode = Mode::Browse,
            },
        }
        self.hide(hidden);
        Flow::Continue
    }

    pub(super) fn hide_current(&mut self) {
        let Some(thread) = self.current().map(|id| self.event(id).thread) else { return };
        let mut hidden = self.hidden.clone();
        hidden.iter_mut().skip(thread.index()).take(1).for_each(|hidden| *hidden = true);
        self.hide(hidden);
        self.message =
            format!("{} is hidden: X shows all threads", visible(self.trace.names().threads.name(thread)));
    }

    pub(super) fn show_all_threads(&mut self) {
        self.hide(vec![false; self.hidden.len()]);
    }

    fn hide(&mut self, hidden: Vec<bool>) {
        if hidden != self.hidden {
            let position = self.pending.or(self.position());
            self.hidden = hidden;
            self.choose_rows(position);
        }
    }

    pub(super) fn choose_race(&mut self, at: usize, key: Key) -> Flow {
        match (key, moved(at, self.races.all.len(), self.height, key)) {
            (Key::Enter, _) => {
                self.mode = Mode::Browse;
                self.go_to_race(at);
            }
            (_, Some(at)) => self.mode = Mode::Races(at),
            (_, None) => self.mode = Mode::Browse,
        }
        Flow::Continue
    }

    pub(super) fn list_races(&mut self) {
        if self.has_races() {
            self.mode = Mode::Races(self.races.current.unwrap_or(0));
        }
    }

    /// Goes to the next race, in the order of the list.
    pub(super) fn next_race(&mut self, direction: Direction) {
        if !self.has_races() {
            return;
        }
        let count = self.races.all.len();
        let next = match (self.races.current, direction) {
            (None, Direction::Forward) => 0,
            (None, Direction::Backward) => count - 1,
            (Some(race), Direction::Forward) => (race + 1) % count,
            (Some(race), Direction::Backward) => (race + count - 1) % count,
        };
        self.go_to_race(next);
    }

    fn go_to_race(&mut self, index: usize) {
        let Some(race) = self.races.all.get(index) else { return };
        let first = race.first;
        self.races.current = Some(index);
        if self.witness.is_some() {
            self.show_witness(index);
        }
        self.jump(first);
        let all = self.races.all.len();
        self.message = format!("race {} of {all}  (Tab: the other access, o: its witness)", index + 1);
    }

    /// Goes from one access of a race to the other.
    pub(super) fn other_access(&mut self) {
        let Some(here) = self.current() else { return };
        let current = self.races.current.filter(|_| self.is_in_current_race(here));
        let Some(index) = current.or(self.races.of_event.get(&here).copied()) else {
            self.message = "this event is not part of a race".to_string();
            return;
        };
        let Some(race) = self.races.all.get(index) else { return };
        let other = if race.first == here { race.second } else { race.first };
        self.races.current = Some(index);
        self.jump(other);
    }

    /// Shows the events of the current race's witness in their order, or all events as they were recorded.
    pub(super) fn toggle_witness(&mut self) {
        if self.witness.is_some() {
            let here = self.current();
            self.witness = None;
            self.choose_rows(here.map(EventId::index));
        } else if self.has_races() {
            let here = self.current().and_then(|here| self.races.of_event.get(&here).copied());
            self.show_witness(self.races.current.or(here).unwrap_or(0));
        }
    }

    fn show_witness(&mut self, index: usize) {
        let Some(race) = self.races.all.get(index) else { return };
        if race.witness.is_empty() {
            self.message = format!("the report has no witness of race {}", index + 1);
            return;
        }
        let order = Order::Witness(race.witness.clone());
        let position = self.current_in(&order).unwrap_or(order.len() - 1);
        self.races.current = Some(index);
        self.witness = Some(Course::new(order));
        self.choose_rows(Some(position));
    }

    /// Where the current event is in another order.
    fn current_in(&self, order: &Order) -> Option<usize> {
        self.current().and_then(|here| order.position(here))
    }

    fn has_races(&mut self) -> bool {
        if !self.races.reported {
            self.message =
                "no report: `foretell predict --format json -o report.json`, then view with --report"
                    .to_string();
        } else if self.races.all.is_empty() {
            self.message = "the report has no race of this trace".to_string();
        }
        !self.races.all.is_empty()
    }

    /// The message about the race that an event is part of.
    pub(super) fn race_in_words(&self, here: EventId) -> Option<String> {
        let current = self.races.current.filter(|_| self.is_in_current_race(here));
        let index = current.or(self.races.of_event.get(&here).copied())?;
        let race = self.races.all.get(index)?;
        Some(format!("race {}: {}", index + 1, visible(&summary(race, self.trace))))
    }
}
