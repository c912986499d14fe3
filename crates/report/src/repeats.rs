//! The same race in several processes is reported once.

use std::collections::HashMap;

use crate::report::{RacingAccess, Report};

/// Where a race was found.
struct Found {
    /// The first report.
    first: usize,
    /// The last one so far.
    last: usize,
    /// How many reports have it.
    reports: usize,
}

/// Marks races that an earlier report of the same technique has already, and counts them there. Two races are the
/// same if their two locations are.
pub fn mark(reports: &mut [Report]) {
    let mut found: HashMap<(String, [String; 2]), Found> = HashMap::new();
    for (index, report) in reports.iter_mut().enumerate() {
        for race in &mut report.races {
            let new = Found { first: index, last: index, reports: 1 };
            let found =
                found.entry((report.technique.clone(), key(&race.first, &race.second))).or_insert(new);
            found.reports += usize::from(found.last < index);
            found.last = index;
            race.repeated = found.first < index;
        }
    }
    for report in reports {
        for race in report.races.iter_mut().filter(|race| !race.repeated) {
            let reports = found
                .get(&(report.technique.clone(), key(&race.first, &race.second)))
                .map(|found| found.reports);
            race.processes = reports.filter(|&reports| reports > 1);
        }
    }
}

/// What two accesses have in common with all that make the same race: their locations, in either order.
pub(crate) fn key(first: &RacingAccess, second: &RacingAccess) -> [String; 2] {
    let mut locations = [first.location.clone(), second.location.clone()];
    locations.sort();
    locations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Race;
    use crate::sample;

    fn race(one: &str, other: &str) -> Race {
        let access =
            |location: &str| RacingAccess { location: location.to_string(), ..RacingAccess::default() };
        sample::race(access(one), access(other))
    }

    #[test]
    fn the_same_two_locations_are_the_same_race() {
        let report = |technique, races| Report { races, ..Report::new(technique) };
        let mut reports = [
            report("rv", vec![race("a", "b"), race("a", "c")]),
            report("hb", vec![race("a", "b")]),
            report("rv", vec![race("b", "a"), race("c", "c"), race("c", "c")]),
        ];
        mark(&mut reports);
        let marks: Vec<Vec<_>> = reports
            .iter()
            .map(|report| report.races.iter().map(|race| (race.processes, race.repeated)).collect())
            .collect();
        let once = (None, false);
        assert_eq!(marks, [vec![(Some(2), false), once], vec![once], vec![(None, true), once, once]]);
    }
}
