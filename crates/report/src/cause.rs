//! Races grouped by their cause: the same field of the same object, and the same missing lock. One change of the
//! program mends all of a group.
//!
//! All that is said of a cause is in the trace. A lock is called missing if an access of the group holds it alone, no
//! race of the group has it on both sides, and no other lock fits as well. Nothing is guessed from names.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::context::{HeldMode, own_frame};
use crate::fingerprint::without_numbers;
use crate::function_name::short;
use crate::report::{Race, RacingAccess, Report};
use crate::visible::visible;

/// So many functions and places are named in one sentence.
const NAMED: usize = 3;

/// What several races have in common.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cause {
    /// What is wrong, in one sentence.
    pub sentence: String,
    /// What is raced for; of several elements or objects, without their numbers: `slots[].size`.
    pub target: String,
    /// The numbers of the races, as reports count them from 1 on.
    pub races: Vec<usize>,
    /// The lock that other accesses hold and these do not, where the trace shows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_lock: Option<String>,
    /// What would mend it, where the trace supports that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The causes of the races that are reported, in the order of their first races.
pub fn causes(report: &Report) -> Vec<Cause> {
    let mut order = Vec::new();
    let mut groups: BTreeMap<String, Vec<(usize, &Race)>> = BTreeMap::new();
    for (number, race) in (1..).zip(report.listed_races()) {
        let key = object(&race.first.target);
        let group = groups.entry(key.clone()).or_default();
        if group.is_empty() {
            order.push(key);
        }
        group.push((number, race));
    }
    order.iter().filter_map(|key| groups.get(key)).map(|group| cause(group)).collect()
}

/// The cause of each race, in the order of the races.
pub(crate) fn of_each<T: AsRef<Cause>>(causes: &[T]) -> Vec<Option<&T>> {
    let races = causes.iter().flat_map(|cause| &cause.as_ref().races).max().copied().unwrap_or(0);
    let mut of_each = vec![None; races];
    for cause in causes {
        for place in cause.as_ref().races.iter().filter_map(|number| number.checked_sub(1)) {
            of_each[place] = Some(cause);
        }
    }
    of_each
}

impl AsRef<Cause> for Cause {
    fn as_ref(&self) -> &Cause {
        self
    }
}

/// What stays the same for all elements and all objects of a type. Memory without a name is only itself.
fn object(target: &str) -> String {
    let is_numbered =
        |block| target.strip_prefix(block).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_bare = ["heap", "stack", "0x"].iter().any(|block| is_numbered(*block));
    if is_bare { target.to_string() } else { without_numbers(target) }
}

fn cause(group: &[(usize, &Race)]) -> Cause {
    let races: Vec<&Race> = group.iter().map(|(_, race)| *race).collect();
    let first = races.first().map(|race| race.first.target.clone()).unwrap_or_default();
    let is_one = races.iter().all(|race| race.first.target == first);
    let target = if is_one { first } else { object(&first) };
    let missing = missing_lock(&races);
    let (sentence, fix) = match missing {
        Some(lock) => without_lock(&target, lock, &races),
        None => without_any(&target, &races),
    };
    let races = group.iter().map(|(number, _)| *number).collect();
    Cause { sentence, target, races, missing_lock: missing.map(str::to_string), fix }
}

fn sides<'a>(races: &[&'a Race]) -> impl Iterator<Item = &'a RacingAccess> {
    races.iter().flat_map(|race| [&race.first, &race.second])
}

fn holds(access: &RacingAccess, lock: &str) -> bool {
    access.locks.iter().flatten().any(|held| held.lock == lock && held.mode == HeldMode::Exclusive)
}

/// The lock that is held at some of the accesses and at none of the others, if there is exactly one.
fn missing_lock<'a>(races: &[&'a Race]) -> Option<&'a str> {
    let held = sides(races).flat_map(|access| access.locks.iter().flatten());
    let locks: BTreeSet<&str> = held.map(|held| held.lock.as_str()).collect();
    let is_known = sides(races).all(|access| access.locks.is_some());
    let fits = |lock: &&str| {
        sides(races).any(|access| holds(access, lock))
            && races.iter().all(|race| !holds(&race.first, lock) || !holds(&race.second, lock))
    };
    let fitting: Vec<&str> = locks.into_iter().filter(fits).collect();
    let count = |lock: &str| sides(races).filter(|access| holds(access, lock)).count();
    let most = fitting.iter().map(|lock| count(lock)).max()?;
    let mut best = fitting.into_iter().filter(|lock| count(lock) == most);
    let only = best.next();
    only.filter(|_| is_known && best.next().is_none())
}

fn without_lock(target: &str, lock: &str, races: &[&Race]) -> (String, Option<String>) {
    let lacking: Vec<&RacingAccess> = sides(races).filter(|access| !holds(access, lock)).collect();
    let holding: Vec<&RacingAccess> = sides(races).filter(|access| holds(access, lock)).collect();
    let (target, lock) = (visible(target), visible(lock));
    let who = list(lacking.iter().map(|access| who(access)), "");
    let sentence =
        format!("`{target}` is {} by {who} without `{lock}`, which protects it elsewhere", done(&lacking));
    let places = list(lacking.iter().map(|access| visible(place(access))), "");
    let example = holding.first().map(|access| visible(place(access))).unwrap_or_default();
    (sentence, Some(format!("hold `{lock}` at {places}, as at {example}")))
}

fn without_any(target: &str, races: &[&Race]) -> (String, Option<String>) {
    let all: Vec<&RacingAccess> = sides(races).collect();
    let (atomic, plain): (Vec<&RacingAccess>, Vec<&RacingAccess>) =
        all.iter().partition(|access| is_atomic(access));
    let target = visible(target);
    if !atomic.is_empty() && !plain.is_empty() {
        let sentence = format!(
            "`{target}` is atomic for {}, but is {} without an atomic operation by {}",
            list(atomic.iter().map(|access| who(access)), ""),
            done(&plain),
            list(plain.iter().map(|access| who(access)), ""),
        );
        let places = list(plain.iter().map(|access| visible(place(access))), "");
        return (sentence, Some(format!("access `{target}` atomically at {places}, too")));
    }
    let is_known = all.iter().all(|access| access.locks.is_some());
    let held = all.iter().any(|access| access.locks.iter().flatten().next().is_some());
    let locks = match (is_known, held) {
        (false, _) => "at the same time",
        (true, false) => "without any lock",
        (true, true) => "without a common lock",
    };
    let writers = list(all.iter().filter(|access| writes(access)).map(|access| who(access)), "");
    let readers = list(all.iter().filter(|access| !writes(access)).map(|access| who(access)), "");
    let frees = all.iter().any(|access| access.op == "free");
    let verb = if frees { "written or freed" } else { "written" };
    let read = if readers.is_empty() { String::new() } else { format!(" and read by {readers}") };
    (format!("`{target}` is {verb} by {writers}{read} {locks}"), None)
}

fn is_atomic(access: &RacingAccess) -> bool {
    matches!(access.op.split('.').next(), Some("aload" | "astore" | "rmw"))
}

fn writes(access: &RacingAccess) -> bool {
    !matches!(access.op.split('.').next(), Some("r" | "aload"))
}

/// What the accesses do, as a participle.
fn done(accesses: &[&RacingAccess]) -> &'static str {
    let frees = accesses.iter().any(|access| access.op == "free");
    let writes_any = accesses.iter().any(|access| writes(access));
    let reads_any = accesses.iter().any(|access| !writes(access));
    match (frees, writes_any, reads_any) {
        (true, ..) => "freed or used",
        (false, true, true) => "read and written",
        (false, true, false) => "written",
        (false, false, _) => "read",
    }
}

/// The function of the program that an access is made in or for; where none is known, its thread.
fn who(access: &RacingAccess) -> String {
    let function = own_frame(&access.stack).map(|frame| &frame.function).or(access.function.as_ref());
    let function = function.map(|function| format!("`{}`", short(function)));
    function.unwrap_or_else(|| visible(&access.thread_words()))
}

/// Where its author looks.
fn place(access: &RacingAccess) -> &str {
    own_frame(&access.stack).map_or(&access.location, |frame| &frame.location)
}

/// Each of these once, in their order: `a`, `a and b`, `a, b, c and 2 more`.
fn list(all: impl Iterator<Item = String>, empty: &str) -> String {
    let mut seen = BTreeSet::new();
    let mut different: Vec<String> = all.filter(|one| seen.insert(one.clone())).collect();
    let more = different.len().saturating_sub(NAMED);
    different.truncate(NAMED);
    if more > 0 {
        return format!("{} and {more} more", different.join(", "));
    }
    match different.split_last() {
        None => empty.to_string(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests;
