//! Races on branches that the recorded run did not take, where something knows what lies there.
//!
//! Each untaken branch is a trace of its own. What may race on it is decided as in the recorded run: by `recipe`, in
//! the loop of [`exact`](crate::exact), with a referee for that trace.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use foretell_depend::Detour;
use foretell_detect::Pair;
use foretell_predict::{Bucket, Key, Technique};
use foretell_report::RacingAccess;
use foretell_trace::{Trace, TraceError};

use crate::analysis::{Candidate, Counts, Found, Judged};
use crate::error::Error;
use crate::exact::{Exact, Work};
use crate::ledger::Ledger;
use crate::plan::{Choice, Plan};
use crate::stages::Run;

/// So many pairs of the same two locations are tried on one branch.
const TRIES: usize = 4;

/// Untaken branches, one after the other.
pub type Branches<'a> = Box<dyn Iterator<Item = Result<Detour, TraceError>> + 'a>;

/// What knows the branches that a recorded run did not take.
pub trait UntakenBranches {
    /// The branches, each made when it is asked for. None if `may_continue` says that there is no time left, or if
    /// there is too much to follow.
    fn branches(
        &self,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<Option<Branches<'_>>, Box<dyn std::error::Error + Send + Sync>>;
}

/// Adds the races on untaken branches to what the run has found.
pub(crate) fn follow(run: &mut Run<'_>, branches: &dyn UntakenBranches) -> Result<(), Error> {
    // As the last part of `auto`, this is not to take much longer than all before it.
    let (plan, until) = match run.plan.choice {
        Choice::Auto => run.plan_for_more(),
        Choice::One(_) => (*run.plan, None),
    };
    let control = run.control;
    let is_late = || until.is_some_and(|until| Instant::now() >= until);
    let found = branches.branches(&|| !control.is_stopped() && !is_late()).map_err(Error::Input)?;
    run.analysis.counts.not_recomputed += u64::from(found.is_none() && is_late());
    let mut known: HashSet<Places> = run.analysis.races.iter().map(places).collect();
    for branch in found.into_iter().flatten() {
        let branch = branch.map_err(|error| Error::Trace { file: run.input.name().to_string(), error })?;
        if is_late() {
            run.analysis.counts.not_recomputed += 1;
            break;
        }
        if control.is_stopped() || run.analysis.races.len() >= plan.max_races {
            break;
        }
        look(run, &plan, Arc::new(branch), &mut known)?;
    }
    Ok(())
}

/// The two locations of a race, the smaller one first.
type Places = (String, String);

fn places(race: &Found) -> Places {
    let [first, second]: [&RacingAccess; 2] = race.accesses.each_ref();
    ordered(first.location.clone(), second.location.clone())
}

fn ordered(one: String, other: String) -> Places {
    if one <= other { (one, other) } else { (other, one) }
}

/// Decides what may race on one branch.
fn look(
    run: &mut Run<'_>,
    plan: &Plan,
    branch: Arc<Detour>,
    known: &mut HashSet<Places>,
) -> Result<(), Error> {
    let mut added = Added { buckets: buckets(&branch, known) };
    if added.buckets.is_empty() {
        return Ok(());
    }
    let exact = Exact::new(&branch.trace, Technique::Recipe, plan, run.control)?;
    let ledger = Ledger::new(HashSet::new(), plan.max_races.saturating_sub(run.analysis.races.len()));
    let progress = run.control.progress(&format!("{} decides", Technique::Recipe.name()));
    let judged = exact.work_off(&mut added, ledger, &mut run.workers, &mut run.room, &*progress)?;
    known.extend(judged.races.iter().map(places));
    let judged = untaken(judged, plan, &branch);
    run.analysis.add_untaken(judged, plan);
    Ok(())
}

/// The same, marked as being of that branch. What `auto` leaves open there is only counted.
fn untaken(judged: Judged, plan: &Plan, branch: &Arc<Detour>) -> Judged {
    let of_branch = |found| Found { branch: Some(Arc::clone(branch)), ..found };
    let open = judged.candidates.iter().map(|open| 1 + open.more).sum::<u64>() + judged.counts.not_listed;
    let (candidates, counts) = match plan.choice {
        Choice::Auto => (Vec::new(), Counts { not_recomputed: open, not_listed: 0, ..judged.counts }),
        Choice::One(_) => {
            let mark = |open| Candidate { is_untaken: true, ..open };
            (judged.candidates.into_iter().map(mark).collect(), judged.counts)
        }
    };
    let races = judged.races.into_iter().map(of_branch).collect();
    Judged { races, candidates, counts, ..judged }
}

/// What may race on an untaken branch, all in one batch.
struct Added {
    buckets: Vec<Bucket>,
}

impl Work for Added {
    fn next_batch(&mut self, is_settled: &dyn Fn(Key) -> bool) -> Option<Vec<Bucket>> {
        let mut batch = std::mem::take(&mut self.buckets);
        batch.retain(|bucket| !is_settled(bucket.key));
        (!batch.is_empty()).then_some(batch)
    }

    fn not_examined(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.pairs.len() as u64).sum()
    }

    fn give_up(&mut self) {}
}

/// The pairs of the branch by their locations, those apart that are known to race.
fn buckets(branch: &Detour, known: &HashSet<Places>) -> Vec<Bucket> {
    let trace = &branch.trace;
    let text = |loc| trace.names().loc_text(loc).into_owned();
    let mut places: HashMap<Key, Option<usize>> = HashMap::new();
    let mut buckets: Vec<Bucket> = Vec::new();
    for pair in pairs(branch) {
        let [a, b] = [pair.first, pair.second].map(|id| trace.event(id).loc);
        let key = Key::Locations(a.min(b), a.max(b));
        let place = *places.entry(key).or_insert_with(|| {
            if known.contains(&ordered(text(a), text(b))) {
                return None;
            }
            buckets.push(Bucket { key, pairs: Vec::new(), next: None, more: 0, left_out: 0 });
            Some(buckets.len() - 1)
        });
        let bucket = place.and_then(|place| buckets.get_mut(place));
        if let Some(bucket) = bucket.filter(|bucket| bucket.pairs.len() < TRIES) {
            bucket.pairs.push(pair);
        }
    }
    buckets
}

/// What may race with an access of the branch: the conflicting accesses of other threads, the nearest first.
fn pairs(branch: &Detour) -> Vec<Pair> {
    let trace: &Trace = &branch.trace;
    let mut pairs = Vec::new();
    for &added in &branch.added {
        let Some(access) = trace.event(added).op.access() else { continue };
        let others = trace.iter().filter(|(_, event)| {
            event.thread != trace.event(added).thread
                && event.op.access().is_some_and(|other| other.conflicts_with(access))
        });
        pairs.extend(others.map(|(other, _)| Pair { first: added.min(other), second: added.max(other) }));
    }
    pairs.sort_by_key(|pair| (pair.second.index() - pair.first.index(), pair.first));
    pairs
}
