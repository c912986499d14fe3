//! From circles of waits that look the same to circles of events.

use std::collections::BTreeMap;

use foretell_detect::Pairs;
use foretell_trace::EventId;

use super::circles::Found;
use super::{Circle, CircleKey, Circles, Waits};

/// A circle with no more combinations of events is tried with all of them; of others only those of the events that are
/// close to each other, and so many of these.
const MOST_COMBINATIONS: u64 = 4096;

/// So many circles are handed out in all.
const MOST_IN_ALL: usize = 1 << 20;

/// The combinations of all circles, those that count as one together, in the order of the trace; and whether circles
/// were left out that count as none of these.
pub(super) fn of_all(waits: &Waits, found: &[Found], pairs: Pairs) -> (Vec<Circles>, bool) {
    let most = usize::try_from(MOST_COMBINATIONS).unwrap_or(usize::MAX);
    let mut all: BTreeMap<CircleKey, Circles> = BTreeMap::new();
    let (mut count, mut are_more) = (0, false);
    for circle in found {
        if count >= MOST_IN_ALL {
            are_more = true;
            break;
        }
        let (circles, left_out) = combinations(waits, circle);
        count += circles.len();
        if pairs == Pairs::All {
            are_more |= left_out > 0;
            for circle in circles {
                let mut events = circle.waits.clone();
                events.sort_unstable();
                events.extend(circle.ended);
                let key = CircleKey::Events(events);
                all.insert(key.clone(), Circles { key, circles: vec![circle], left_out: 0 });
            }
            continue;
        }
        let mut places: Vec<_> = circle.waits.iter().map(|&wait| waits.waits[wait].loc).collect();
        places.sort_unstable();
        let key = CircleKey::Locations(places);
        let new = Circles { key: key.clone(), circles: Vec::new(), left_out: 0 };
        let known = all.entry(key).or_insert(new);
        known.circles.extend(circles);
        known.left_out += left_out;
    }
    let mut all: Vec<Circles> = all.into_values().filter(|circles| !circles.circles.is_empty()).collect();
    for circles in &mut all {
        circles.circles.sort_by_cached_key(|circle| (span(circle), circle.waits.clone()));
        circles.left_out += circles.circles.len().saturating_sub(most) as u64;
        circles.circles.truncate(most);
    }
    all.sort_by_cached_key(|circles| circles.circles.first().map(|circle| circle.waits.clone()));
    (all, are_more)
}

/// How far apart the events of a circle are.
fn span(circle: &Circle) -> usize {
    let events = || circle.waits.iter().chain(&circle.ended).map(|event| event.index());
    events().max().unwrap_or(0) - events().min().unwrap_or(0)
}

/// Circles of events, and how many there are beyond them.
fn combinations(waits: &Waits, found: &Found) -> (Vec<Circle>, u64) {
    let lists: Vec<&[EventId]> = found.waits.iter().map(|&wait| &waits.waits[wait].events[..]).collect();
    let ended = found.ended.map(|ended| waits.ended[ended].0);
    let all = found.waits.iter().map(|&wait| waits.waits[wait].events.len() as u64 + waits.waits[wait].more);
    let all = all.fold(1, u64::saturating_mul);
    let tuples = if all <= MOST_COMBINATIONS { product(&lists) } else { nearest(&lists) };
    let left_out = all.saturating_sub(tuples.len() as u64);
    (tuples.into_iter().map(|waits| Circle { waits, ended }).collect(), left_out)
}

fn product(lists: &[&[EventId]]) -> Vec<Vec<EventId>> {
    let mut tuples = vec![Vec::new()];
    for list in lists {
        let longer = |tuple: &Vec<EventId>| {
            let tuple = tuple.clone();
            list.iter().map(move |&event| tuple.iter().copied().chain([event]).collect())
        };
        tuples = tuples.iter().flat_map(longer).collect();
    }
    tuples
}

/// For each event of the shortest list the events of the others that are nearest to it.
fn nearest(lists: &[&[EventId]]) -> Vec<Vec<EventId>> {
    let Some(shortest) = lists.iter().min_by_key(|list| list.len()) else { return Vec::new() };
    let near = |around: EventId, list: &[EventId]| {
        let after = list.partition_point(|&event| event < around);
        let before = after.checked_sub(1).and_then(|before| list.get(before));
        let candidates = before.into_iter().chain(list.get(after));
        candidates.copied().min_by_key(|event| event.index().abs_diff(around.index()))
    };
    let tuple = |&around: &EventId| lists.iter().map(|list| near(around, list)).collect();
    shortest.iter().filter_map(tuple).collect()
}
