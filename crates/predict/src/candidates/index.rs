//! All accesses that can be part of a pair, by variable, thread, kind and lock set, and by location within these.

use foretell_detect::clock::{Clocks, Time};
use foretell_detect::lock_set::{LockSetId, LockSets};
use foretell_detect::must::MustOrder;
use foretell_trace::{Access, EventId, Loc, ThreadId, Trace};
use rustc_hash::FxHashMap;

use crate::part::Part;

/// What no event has as its class.
const NONE: u32 = u32::MAX;

/// An access in the order of the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedAccess {
    /// The event.
    pub(super) id: EventId,
    /// The local time of its thread, by what every schedule keeps.
    pub(super) time: Time,
    /// The location, as a class.
    pub(super) class: u32,
}

/// The accesses of one thread to one variable, of one kind and under one lock set.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessGroup {
    /// Who made them.
    pub(super) thread: ThreadId,
    /// What they do.
    pub(super) access: Access,
    /// Under which locks.
    pub(super) locks: LockSetId,
    /// Where its members begin.
    begin: usize,
    /// How many members it has in the whole trace.
    len: usize,
}

/// The members of one group at one location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// The group.
    pub(super) group: u32,
    /// The location.
    pub(super) loc: Loc,
    /// Where its positions begin.
    begin: usize,
    /// How many there are in the whole trace.
    len: usize,
}

/// Which events can be part of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scope {
    /// Those from this index on,
    from: usize,
    /// and as the second event of a pair those from this one on.
    second: usize,
}

impl Scope {
    /// The events of a part of a trace, and the pairs that belong to it.
    pub(super) fn of(part: Part) -> Scope {
        Scope { from: part.border as usize, second: part.owned as usize }
    }
}

/// Built once from the whole trace; never changes.
#[derive(Debug)]
pub(super) struct CandidateIndex {
    scope: Scope,
    /// The class of each event, or [`NONE`].
    class_of: Vec<u32>,
    classes: Vec<Class>,
    groups: Vec<AccessGroup>,
    /// The groups of each variable.
    of_var: Vec<Vec<u32>>,
    /// The classes of each group.
    of_group: Vec<Vec<u32>>,
    /// The members of all groups, one group after the other, each in the order of the trace.
    members: Vec<IndexedAccess>,
    /// For each class, the positions of its members within those of its group.
    positions: Vec<u32>,
    sets: LockSets,
}

impl CandidateIndex {
    /// Looks through the trace once.
    pub(super) fn new(trace: &Trace, scope: Scope) -> CandidateIndex {
        let mut builder = IndexBuilder::default();
        builder.index.scope = scope;
        for (id, event) in trace.iter() {
            builder.must.enter(&event, &mut builder.clocks);
            match event.op.access() {
                // What an unexplained event synchronised with is unknown: it races with nothing.
                Some(access) if !event.unexplained && id.index() >= scope.from => {
                    builder.add(id, event.thread, access, event.loc);
                }
                _ => builder.index.class_of.push(NONE),
            }
            builder.index.sets.event(&event);
            builder.must.leave(&event, &mut builder.clocks);
        }
        builder.finish()
    }

    /// Whether the event at this index can be the second one of a pair.
    pub(super) fn is_second(&self, index: usize) -> bool {
        index >= self.scope.second
    }

    /// The class of an event, if it can be part of a pair.
    pub(super) fn class_of(&self, index: usize) -> Option<u32> {
        self.class_of.get(index).copied().filter(|&class| class != NONE)
    }

    pub(super) fn class(&self, class: u32) -> &Class {
        &self.classes[class as usize]
    }

    pub(super) fn group(&self, group: u32) -> &AccessGroup {
        &self.groups[group as usize]
    }

    pub(super) fn class_count(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The groups of the variable that a group is about.
    pub(super) fn neighbours(&self, group: &AccessGroup) -> &[u32] {
        &self.of_var[group.access.var.index()]
    }

    /// The classes of a group.
    pub(super) fn classes_of(&self, group: u32) -> &[u32] {
        &self.of_group[group as usize]
    }

    /// The first `count` members of a group.
    pub(super) fn members(&self, group: u32, count: usize) -> &[IndexedAccess] {
        let group = self.group(group);
        &self.members[group.begin..group.begin + count]
    }

    /// The positions in its group of the first `count` members of a class.
    pub(super) fn positions(&self, class: u32, count: usize) -> &[u32] {
        let class = self.class(class);
        &self.positions[class.begin..class.begin + count]
    }

    /// Whether accesses of the two groups can race, if nothing orders them.
    pub(super) fn are_rivals(&self, a: &AccessGroup, b: &AccessGroup) -> bool {
        a.thread != b.thread && a.access.conflicts_with(b.access) && self.sets.are_disjoint(a.locks, b.locks)
    }
}

#[derive(Debug)]
struct IndexBuilder {
    index: CandidateIndex,
    must: MustOrder,
    clocks: Clocks,
    group_ids: FxHashMap<(ThreadId, Access, LockSetId), u32>,
    class_ids: FxHashMap<(u32, Loc), u32>,
    /// All members in the order of the trace.
    found: Vec<IndexedAccess>,
}

impl Default for IndexBuilder {
    fn default() -> IndexBuilder {
        IndexBuilder {
            index: CandidateIndex {
                scope: Scope::default(),
                class_of: Vec::new(),
                classes: Vec::new(),
                groups: Vec::new(),
                of_var: Vec::new(),
                of_group: Vec::new(),
                members: Vec::new(),
                positions: Vec::new(),
                sets: LockSets::default(),
            },
            must: MustOrder::certain(),
            clocks: Clocks::default(),
            group_ids: FxHashMap::default(),
            class_ids: FxHashMap::default(),
            found: Vec::new(),
        }
    }
}

impl IndexBuilder {
    fn add(&mut self, id: EventId, thread: ThreadId, access: Access, loc: Loc) {
        let key = (thread, access, self.index.sets.held(thread));
        let group = match self.group_ids.get(&key) {
            Some(&group) => group,
            None => self.add_group(key),
        };
        let class = match self.class_ids.get(&(group, loc)) {
            Some(&class) => class,
            None => self.add_class(group, loc),
        };
        self.index.groups[group as usize].len += 1;
        self.index.classes[class as usize].len += 1;
        self.index.class_of.push(class);
        self.found.push(IndexedAccess { id, time: self.clocks.of(thread).get(thread), class });
    }

    #[cold]
    fn add_group(&mut self, key: (ThreadId, Access, LockSetId)) -> u32 {
        let (thread, access, locks) = key;
        let id = narrow(self.index.groups.len());
        self.index.groups.push(AccessGroup { thread, access, locks, begin: 0, len: 0 });
        self.index.of_group.push(Vec::new());
        let var = access.var.index();
        if var >= self.index.of_var.len() {
            self.index.of_var.resize_with(var + 1, Vec::new);
        }
        self.index.of_var[var].push(id);
        self.group_ids.insert(key, id);
        id
    }

    #[cold]
    fn add_class(&mut self, group: u32, loc: Loc) -> u32 {
        let id = narrow(self.index.classes.len());
        self.index.classes.push(Class { group, loc, begin: 0, len: 0 });
        self.index.of_group[group as usize].push(id);
        self.class_ids.insert((group, loc), id);
        id
    }

    /// Sorts the members into their places, which are known now.
    fn finish(mut self) -> CandidateIndex {
        let index = &mut self.index;
        let mut begin = 0;
        for group in &mut index.groups {
            group.begin = begin;
            begin += group.len;
        }
        begin = 0;
        for class in &mut index.classes {
            class.begin = begin;
            begin += class.len;
        }
        let mut in_group = vec![0; index.groups.len()];
        let mut in_class = vec![0; index.classes.len()];
        index.members = self.found.clone();
        index.positions = vec![0; self.found.len()];
        for member in self.found {
            let class = index.classes[member.class as usize];
            let group = index.groups[class.group as usize];
            let (position, place) =
                (&mut in_group[class.group as usize], &mut in_class[member.class as usize]);
            index.members[group.begin + *position] = member;
            index.positions[class.begin + *place] = narrow(*position);
            *position += 1;
            *place += 1;
        }
        self.index
    }
}

/// There are at most as many groups, classes and members as events, of which there are fewer than 2^32.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}
