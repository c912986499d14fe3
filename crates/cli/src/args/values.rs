//! Values of options, and their parsers.

use std::fmt;
use std::time::Duration;

use foretell_schedule::Name;

/// The part of all work that one of several workers does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    /// Which worker it is, from 1 on.
    number: u32,
    /// How many there are.
    of: u32,
}

impl Share {
    /// All of it.
    pub(crate) const ALL: Share = Share { number: 1, of: 1 };

    /// From `K/N`.
    pub(super) fn parse(text: &str) -> Result<Share, String> {
        let share = text.split_once('/').and_then(|(number, of)| {
            Some(Share { number: number.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        share
            .filter(|share| (1..=share.of).contains(&share.number))
            .ok_or("expected K/N with K from 1 to N, such as 3/8".to_string())
    }

    /// Whether the piece with this number, from 0 on, is part of it.
    pub(crate) fn has(self, piece: u32) -> bool {
        piece % self.of == self.number - 1
    }
}

/// A limit, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound(pub(crate) Option<u32>);

/// How many events a schedule may reorder at once, if not all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window(pub(crate) Option<usize>);

/// The time for one technique on one trace, if it is limited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLimit(pub(crate) Option<Duration>);

/// How many races a report may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxRaces(pub(super) usize);

impl MaxRaces {
    /// No reader needs more, and each takes a kilobyte.
    pub(crate) const DEFAULT: MaxRaces = MaxRaces(100_000);
}

impl fmt::Display for MaxRaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number of seconds or minutes: `90`, `90s`, `1.5m`.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60.0),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or("expected a time such as 60s or 2m".to_string())
}

pub(super) fn parse_time_limit(text: &str) -> Result<TimeLimit, String> {
    if text == "none" {
        return Ok(TimeLimit(None));
    }
    let limit = parse_duration(text).map_err(|_| "expected a time such as 90s or 10m, or `none`".to_string());
    Ok(TimeLimit(Some(limit?)))
}

pub(super) fn parse_max_races(text: &str) -> Result<MaxRaces, String> {
    if text == "all" {
        return Ok(MaxRaces(usize::MAX));
    }
    let number = text.parse().ok().filter(|&number| number > 0);
    number.map(MaxRaces).ok_or("expected a number from 1 on, or `all`".to_string())
}

/// The length of a shard: two steps of at least one event.
pub(super) fn parse_shard_events(text: &str) -> Result<usize, String> {
    let events = text.parse().ok().filter(|events| (2..1 << 32).contains(events));
    events.ok_or("expected a number of events from 2 on, such as 1000000".to_string())
}

pub(super) fn parse_bound(text: &str) -> Result<Bound, String> {
    match text {
        "none" => Ok(Bound(None)),
        number => number
            .parse()
            .map(|number| Bound(Some(number)))
            .map_err(|_| "expected a number or `none`".to_string()),
    }
}

pub(super) fn parse_window(text: &str) -> Result<Window, String> {
    if text == "all" {
        return Ok(Window(None));
    }
    let events = text.parse().ok().filter(|&events| events >= 2);
    events
        .map(|events| Window(Some(events)))
        .ok_or("expected a number of events from 2 on, or `all`".to_string())
}

/// A number of bytes: `2000000`, `500M`, `8G`.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let units = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)];
    let (number, unit) = units
        .iter()
        .find_map(|&(letter, unit)| Some((text.strip_suffix(letter)?, unit)))
        .unwrap_or((text, 1_u64));
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.ok_or("expected a size such as 500M or 8G".to_string())
}

/// A size that has room for something.
pub(super) fn parse_log_limit(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 1 << 20;
    parse_size(text)
        .ok()
        .filter(|&bytes| bytes >= LEAST)
        .ok_or("expected a size from 1M on, such as 500M or 8G".to_string())
}

pub(super) fn parse_strategy(text: &str) -> Result<Name, String> {
    let names = Name::ALL.map(|(name, _)| name).join(", ");
    text.parse().map_err(|()| format!("expected one of {names}"))
}

/// Two different events, the smaller number first.
pub(super) fn parse_pair(text: &str) -> Result<(u32, u32), String> {
    let event = |text: &str| text.trim().parse::<u32>().ok().filter(|&number| number > 0);
    let pair = text.split_once(',').and_then(|(a, b)| Some((event(a)?, event(b)?)));
    match pair {
        Some((a, b)) if a == b => Err("expected two different events".to_string()),
        Some((a, b)) => Ok((a.min(b), a.max(b))),
        None => Err("expected the numbers of two events, such as 3,10".to_string()),
    }
}

pub(super) fn parse_event(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&number| number > 0)
        .ok_or("expected the number of an event, from 1 on".to_string())
}

pub(super) fn parse_limit(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        "none" => Ok(0),
        number => number.parse().map_err(|_| "expected a number, `all` or `none`".to_string()),
    }
}
