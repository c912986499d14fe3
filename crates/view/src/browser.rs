//! The terminal browser without a terminal: what it knows, and what each key does to it.
//!
//! Whatever takes long is done by [`Browser::work`] in small pieces between two keys: a search, the choice of the rows,
//! and the checkpoints from which it is known what threads hold.

mod jumps;
mod keys;
mod layout;
mod lists;
mod searches;
mod window;

use std::collections::HashMap;

use foretell_trace::{Event, EventId, ThreadId, Trace};

use crate::checkpoints::Checkpoints;
use crate::details::Details;
use crate::order::{Order, Rows};
use crate::query::Query;
use crate::races::Race;
use crate::seek::{Progress, Seek};

pub(crate) use keys::help_lines;
pub use keys::{Chapter, HELP, Key};
pub(crate) use layout::GAP;
pub use layout::Layout;
pub use window::{Bar, Row};

/// How many events are looked at between two looks at the keyboard.
const SLICE: usize = 1 << 15;
/// How many jumps can be taken back.
const HISTORY: usize = 1000;

/// Whether to continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Show what has changed, and wait for the next key.
    Continue,
    /// The user has seen enough.
    Quit,
}

/// What the keys are meant for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Moving about.
    Browse,
    /// Typing an answer.
    Prompt(Ask, String),
    /// Reading what the keys do, from this line on.
    Help(usize),
    /// Choosing threads; this one is marked.
    Threads(usize),
    /// Choosing a race; this one is marked.
    Races(usize),
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// What to look for.
    Search,
    /// The number of an event.
    Event,
}

/// An order of events, and what is known along it.
#[derive(Debug)]
struct Course {
    order: Order,
    checkpoints: Checkpoints,
}

impl Course {
    fn new(order: Order) -> Course {
        Course { order, checkpoints: Checkpoints::default() }
    }
}

/// The races of a report.
#[derive(Debug, Default)]
struct Races {
    /// Whether there is a report at all.
    reported: bool,
    all: Vec<Race>,
    /// The first race of each event that has one.
    of_event: HashMap<EventId, usize>,
    /// The race that was jumped to last.
    current: Option<usize>,
}

/// Lines of source files, by location.
pub type SourceLines<'a> = Box<dyn FnMut(&str) -> Option<String> + 'a>;

/// The browser.
pub struct Browser<'a> {
    trace: &'a Trace,
    name: String,
    source_lines: SourceLines<'a>,
    recorded: Course,
    /// The witness that is shown instead of the recorded order.
    witness: Option<Course>,
    rows: Rows,
    /// The row of the current event.
    cursor: usize,
    /// The first row on the screen.
    top: usize,
    /// Where the cursor goes as soon as the rows reach that position.
    pending: Option<usize>,
    /// By thread.
    hidden: Vec<bool>,
    /// The first lane on the screen, among those that are not hidden.
    lane: usize,
    query: Option<std::rc::Rc<Query>>,
    /// Whether only events that the query finds are shown.
    only_found: bool,
    seek: Option<Seek<'a>>,
    /// Whether operations are shown as the text format spells them, and not in words.
    brief: bool,
    races: Races,
    mode: Mode,
    message: String,
    /// Events from where jumps were made.
    history: Vec<EventId>,
    details: Option<Details>,
    width: usize,
    height: usize,
}

impl<'a> Browser<'a> {
    /// Begins with the first event of a trace.
    pub fn new(trace: &'a Trace, name: impl Into<String>, source_lines: SourceLines<'a>) -> Browser<'a> {
        let events = trace.events().len();
        let mut browser = Browser {
            trace,
            name: name.into(),
            source_lines,
            recorded: Course::new(Order::Recorded(events)),
            witness: None,
            rows: Rows::All(events),
            cursor: 0,
            top: 0,
            pending: None,
            hidden: vec![false; trace.thread_count()],
            lane: 0,
            query: None,
            only_found: false,
            seek: None,
            brief: false,
            races: Races::default(),
            mode: Mode::Browse,
            message: String::new(),
            history: Vec::new(),
            details: None,
            width: 80,
            height: 24,
        };
        browser.work();
        browser
    }

    /// With the races of a report.
    #[must_use]
    pub fn with_races(mut self, races: Vec<Race>) -> Browser<'a> {
        for (index, race) in races.iter().enumerate() {
            for event in [race.first, race.second] {
                self.races.of_event.entry(event).or_insert(index);
            }
        }
        self.races.reported = true;
        self.races.all = races;
        self
    }

    /// The screen has this size from now on.
    pub fn resize(&mut self, width: usize, height: usize) {
        if (self.width, self.height) != (width, height) {
            (self.width, self.height) = (width, height);
            self.follow();
        }
    }

    /// How the screen is divided.
    pub fn layout(&self) -> Layout {
        Layout::new(self.width, self.height, self.trace.events().len(), self.lanes().len())
    }

    /// Whether there is work to do between two keys.
    pub fn is_busy(&self) -> bool {
        self.seek.is_some() || self.rows.looked() < self.order().len() || !self.is_walked()
    }

    /// Does a piece of the work.
    pub fn work(&mut self) {
        if let Some(mut seek) = self.seek.take() {
            match seek.walk(self.trace, &self.course().order, SLICE) {
                Progress::Going => self.seek = Some(seek),
                Progress::Found(position, wrapped) => self.found(position, wrapped),
                Progress::Nothing => self.message = format!("no {}", seek.what()),
            }
        } else if self.rows.looked() < self.order().len() {
            self.pick_rows();
        } else {
            let course = self.witness.as_mut().unwrap_or(&mut self.recorded);
            course.checkpoints.walk(self.trace, &course.order, SLICE);
        }
        self.refresh();
    }

    /// The trace.
    pub fn trace(&self) -> &'a Trace {
        self.trace
    }

    /// The file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the keys are meant for.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The message about the last key.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// All about the current event.
    pub fn details(&self) -> Option<&Details> {
        self.details.as_ref()
    }

    /// The current event, if any is shown.
    pub fn current(&self) -> Option<EventId> {
        self.rows.position(self.cursor).and_then(|position| self.order().event(position))
    }

    /// What is looked for.
    pub fn query(&self) -> Option<&Query> {
        self.query.as_deref()
    }

    /// Whether only events that the query finds are shown.
    pub fn shows_only_found(&self) -> bool {
        self.only_found
    }

    /// Whether operations are shown as the text format spells them.
    pub fn is_brief(&self) -> bool {
        self.brief
    }

    /// All races of the report.
    pub fn races(&self) -> &[Race] {
        &self.races.all
    }

    /// The race that was jumped to last, counted from 0.
    pub fn current_race(&self) -> Option<usize> {
        self.races.current
    }

    /// Whether this event is part of the race that was jumped to last.
    pub fn is_in_current_race(&self, event: EventId) -> bool {
        let race = self.races.current.and_then(|race| self.races.all.get(race));
        race.is_some_and(|race| [race.first, race.second].contains(&event))
    }

    /// Whether this event is part of any race.
    pub fn is_in_race(&self, event: EventId) -> bool {
        self.races.of_event.contains_key(&event)
    }

    /// Whether a witness is shown, and not the recorded order.
    pub fn shows_witness(&self) -> bool {
        self.witness.is_some()
    }

    /// What is being done, if it takes long, with how much of it is done.
    pub fn activity(&self) -> Option<String> {
        let percent = |done: usize, all: usize| done.saturating_mul(100) / all.max(1);
        let events = self.order().len();
        if let Some(seek) = &self.seek {
            Some(format!("looks for {} {} %", seek.what(), seek.percent()))
        } else if self.rows.looked() < events {
            Some(format!("picks events {} %", percent(self.rows.looked(), events)))
        } else if !self.is_walked() {
            Some(format!("follows locks {} %", percent(self.course().checkpoints.walked(), events)))
        } else {
            None
        }
    }

    /// The threads that are shown.
    pub fn lanes(&self) -> Vec<ThreadId> {
        self.trace.threads().filter(|&thread| self.is_shown(thread)).collect()
    }

    /// The first lane on the screen, by its place among those that are shown.
    pub fn first_lane(&self) -> usize {
        self.lane
    }

    /// Whether events of this thread are shown.
    pub fn is_shown(&self, thread: ThreadId) -> bool {
        !self.hidden.get(thread.index()).is_some_and(|&hidden| hidden)
    }

    /// How many threads are hidden.
    pub fn hidden_count(&self) -> usize {
        self.hidden.iter().filter(|&&hidden| hidden).count()
    }

    fn course(&self) -> &Course {
        self.witness.as_ref().unwrap_or(&self.recorded)
    }

    fn order(&self) -> &Order {
        &self.course().order
    }

    fn is_walked(&self) -> bool {
        self.course().checkpoints.walked() >= self.order().len()
    }

    fn event(&self, id: EventId) -> Event {
        self.trace.event(id)
    }

    /// The position of the current event in the order.
    fn position(&self) -> Option<usize> {
        self.rows.position(self.cursor)
    }

    /// Moves by so many rows.
    fn move_by(&mut self, rows: isize) {
        self.move_to(self.cursor.saturating_add_signed(rows));
    }

    fn move_to(&mut self, row: usize) {
        self.pending = None;
        self.cursor = row.min(self.rows.len().saturating_sub(1));
        self.follow();
    }

    /// Shows what is at the cursor, in both directions.
    fn follow(&mut self) {
        self.keep_in_sight();
        let layout = self.layout();
        let Some(thread) = self.current().map(|event| self.event(event).thread) else { return };
        let Some(lane) = self.lanes().iter().position(|&shown| shown == thread) else { return };
        self.lane = self.lane.clamp((lane + 1).saturating_sub(layout.lanes), lane);
    }

    fn keep_in_sight(&mut self) {
        let layout = self.layout();
        let margin = if layout.rows > 8 { 3 } else { 0 };
        let last = (self.cursor + margin).min(self.rows.len().saturating_sub(1));
        self.top =
            self.top.min(self.cursor.saturating_sub(margin)).max((last + 1).saturating_sub(layout.rows));
        self.lane = self.lane.min(self.lanes().len().saturating_sub(layout.lanes));
    }

    /// The rows have to be selected again; the cursor stays at this position, or goes to what is shown after it.
    fn choose_rows(&mut self, position: Option<usize>) {
        let all = !self.only_found && self.hidden_count() == 0;
        self.rows = if all { Rows::All(self.order().len()) } else { Rows::none_yet() };
        self.pending = position;
        self.settle();
        self.pick_rows();
    }

    fn pick_rows(&mut self) {
        let mut rows = std::mem::replace(&mut self.rows, Rows::All(0));
        let order = &self.course().order;
        rows.pick(order.len(), SLICE, |position| {
            order.event(position).is_some_and(|id| self.is_wanted(&self.event(id)))
        });
        self.rows = rows;
        self.settle();
    }

    /// Brings the cursor to where it is to go, as far as the rows are known.
    fn settle(&mut self) {
        let last = self.rows.len().saturating_sub(1);
        if let Some(position) = self.pending {
            self.cursor = self.rows.at_or_after(position).min(last);
            if self.rows.looked() > position {
                self.pending = None;
            }
        }
        self.cursor = self.cursor.min(last);
        self.follow();
    }

    /// Whether this event is to have a row.
    fn is_wanted(&self, event: &Event) -> bool {
        let query = self.query.as_ref().filter(|_| self.only_found);
        self.is_shown(event.thread) && query.is_none_or(|query| query.matches(event, self.trace.names()))
    }

    /// Looks up all about the current event.
    fn refresh(&mut self) {
        let Some((position, id)) = self.position().zip(self.current()) else {
            self.details = None;
            return;
        };
        let course = self.course();
        let mut details = None;
        course.checkpoints.before(self.trace, &course.order, [position], |threads| {
            let nothing = crate::threads::Doing::default();
            let doing = threads.doing(self.event(id).thread).unwrap_or(&nothing);
            details = Some(Details::new(self.trace, id, Some(doing)));
        });
        let mut details = details.unwrap_or_else(|| Details::new(self.trace, id, None));
        details.more.splice(0..0, self.race_in_words(id));
        let location = self.trace.names().loc_text(self.event(id).loc);
        details.source = (self.source_lines)(&location);
        self.details = Some(details);
    }
}

impl std::fmt::Debug for Browser<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Browser")
            .field("cursor", &self.cursor)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
