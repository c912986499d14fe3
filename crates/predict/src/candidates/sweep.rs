//! Goes through the trace and says, for each access, which earlier ones the quick check leaves open.

use foretell_detect::clock::Clocks;
use foretell_detect::must::MustOrder;
use foretell_trace::{EventId, ThreadId, Trace};

use super::index::{CandidateIndex, IndexedAccess};

/// What is known about the order beyond [`MustOrder::certain`]: the last event of the thread that comes before the
/// event.
pub(super) type Before<'a> = dyn Fn(EventId, ThreadId) -> Option<EventId> + Sync + 'a;

/// A place in the trace, with the order that holds there.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    /// The index of the next event.
    next: usize,
    must: MustOrder,
    clocks: Clocks,
    /// How many members of each group have gone by.
    in_group: Vec<u32>,
    /// How many members of each class have gone by.
    in_class: Vec<u32>,
}

/// Earlier accesses of one group that may race with the access at hand.
pub(super) struct Rivals<'i> {
    index: &'i CandidateIndex,
    group: u32,
    /// All earlier members of the group.
    members: &'i [IndexedAccess],
    /// Where those begin that may race.
    begin: usize,
}

impl Sweep {
    /// Before the first event.
    pub(super) fn new(index: &CandidateIndex) -> Sweep {
        Sweep {
            next: 0,
            must: MustOrder::certain(),
            clocks: Clocks::default(),
            in_group: vec![0; index.group_count()],
            in_class: vec![0; index.class_count()],
        }
    }

    /// How many events have gone by.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    /// Lets the next event go by. If it is an access, `visit` gets each group with rivals; the result is how many
    /// groups were looked at.
    pub(super) fn step<'i>(
        &mut self,
        trace: &Trace,
        index: &'i CandidateIndex,
        before: Option<&Before<'_>>,
        mut visit: impl FnMut(&Sweep, EventId, u32, Rivals<'i>),
    ) -> u64 {
        let (Some(event), Some(id)) = (trace.events().get(self.next), EventId::from_index(self.next)) else {
            return 0;
        };
        let mut looked_at = 0;
        self.must.enter(event, &mut self.clocks);
        if let Some(class) = index.class_of(self.next) {
            let group = index.class(class).group;
            // The clock of a thread without any edge is created here.
            self.clocks.of(event.thread);
            if index.is_second(self.next) {
                looked_at = self.look_back(index, id, group, before, |rivals| visit(self, id, class, rivals));
            }
            self.in_group[group as usize] += 1;
            self.in_class[class as usize] += 1;
        }
        self.must.leave(event, &mut self.clocks);
        self.next += 1;
        looked_at
    }

    fn look_back<'i>(
        &self,
        index: &'i CandidateIndex,
        id: EventId,
        group: u32,
        before: Option<&Before<'_>>,
        mut visit: impl FnMut(Rivals<'i>),
    ) -> u64 {
        let own = index.group(group);
        let clock = self.clocks.seen(own.thread);
        let neighbours = index.neighbours(own);
        for &neighbour in neighbours {
            let other = index.group(neighbour);
            let members = index.members(neighbour, self.in_group[neighbour as usize] as usize);
            let known = clock.get(other.thread);
            if members.last().is_none_or(|last| last.time <= known) || !index.are_rivals(own, other) {
                continue;
            }
            let mut begin = members.partition_point(|member| member.time <= known);
            if let Some(last) = before.and_then(|before| before(id, other.thread)) {
                begin = begin.max(members.partition_point(|member| member.id <= last));
            }
            if begin < members.len() {
                visit(Rivals { index, group: neighbour, members, begin });
            }
        }
        neighbours.len() as u64
    }
}

impl<'i> Rivals<'i> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.members.len() - self.begin
    }

    /// Each of them, the latest first.
    pub(super) fn latest_first(&self) -> impl Iterator<Item = &'i IndexedAccess> {
        self.members[self.begin..].iter().rev()
    }

    /// How many locations the group has.
    pub(super) fn locations(&self) -> usize {
        self.index.classes_of(self.group).len()
    }

    /// Those at each location of the group where there are any.
    pub(super) fn by_location(&self, sweep: &Sweep) -> impl Iterator<Item = AtLocation<'i>> {
        let (index, members, begin) = (self.index, self.members, self.begin);
        index.classes_of(self.group).iter().filter_map(move |&class| {
            let positions = index.positions(class, sweep.in_class[class as usize] as usize);
            let from = positions.partition_point(|&position| (position as usize) < begin);
            let positions = &positions[from..];
            (!positions.is_empty()).then_some(AtLocation { class, members, positions })
        })
    }
}

/// The rivals at one location.
pub(super) struct AtLocation<'i> {
    /// The location.
    pub(super) class: u32,
    members: &'i [IndexedAccess],
    positions: &'i [u32],
}

impl<'i> AtLocation<'i> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Those up to the event with this number, the latest first.
    pub(super) fn latest_first(&self, up_to: u32) -> impl Iterator<Item = EventId> + 'i {
        let members = self.members;
        let id = move |position: u32| members[position as usize].id;
        let end = self.positions.partition_point(|&position| id(position).number() <= up_to);
        self.positions[..end].iter().rev().map(move |&position| id(position))
    }
}
