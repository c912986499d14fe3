//! Shards before the exhaustive oracle: what is proven in a shard is a race of the whole trace, what is refuted there
//! is none, and each race of the whole trace is proven in its shard, not decided there, or said to lie apart.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::{Pair, Pairs};
use foretell_predict::{
    Budget, Candidates, Key, Limit, Part, Predictor, Technique, Verdict, conflicting_pairs,
};
use foretell_shard::{ApartLocations, Planner, Shard, ShardTrace, Survey, Whole};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{Ending, EventId, Trace};
use foretell_witness::{Claim, Proof, Referee, oracle};
use foretell_z3::Pool;

use super::deciding::Races;
use super::{EVERYTHING, EXACT, STATES, shape};

/// The trace cut into shards, each of which has been a file meanwhile.
fn shards(trace: &Trace, step: usize) -> (Vec<ShardTrace>, ApartLocations) {
    let (mut planner, mut survey) = (Planner::new(step), Survey::new(step));
    let mut shards: Vec<Shard> = Vec::new();
    for event in trace.events() {
        survey.event(event).expect("it is small");
        shards.extend(planner.event(event, trace.names()).expect("it is small"));
    }
    let cut_short = trace.ending() == Ending::CutShort;
    let (whole, apart) = survey.finish(trace.names(), cut_short);
    shards.extend(planner.finish(trace.names()).expect("it is small"));
    let read = |shard: Shard| reread(&shard, &whole);
    (shards.into_iter().map(read).collect(), apart)
}

fn reread(shard: &Shard, whole: &Whole) -> ShardTrace {
    let bytes = shard.to_bytes().expect("it is small");
    let shard = Shard::from_bytes(&bytes).expect("it was written just now");
    shard.into_trace(whole).expect("a shard is well-formed")
}

/// What became of the pairs of one trace.
#[derive(Default)]
struct Decided {
    proven: Races,
    refuted: Races,
    /// Pairs that lie in a common shard.
    near: Races,
}

/// Decides the pairs of one shard; each proof is one on the whole trace.
fn decide(technique: Technique, shard: &ShardTrace, whole: &mut Referee<'_>, decided: &mut Decided) {
    let ShardTrace { trace, border, owned, continues, .. } = shard;
    let part = Part { border: *border, owned: *owned, continues: *continues };
    let part = (!shard.is_whole()).then_some(part);
    let predictor = Predictor::of_part(trace, technique, None, Arc::new(Pool::default()), part)
        .expect("the technique decides pairs of parts");
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
    let mut referee = Referee::new(trace);
    let asked = candidates(&predictor, &stop);
    for pair in conflicting_pairs(trace) {
        if pair.first.index() < *border as usize || pair.second.index() < *owned as usize {
            assert!(!asked.contains(&(pair.first, pair.second)));
            continue;
        }
        let original = |id: EventId| {
            EventId::from_number(shard.original(id.number()).expect("an event of the trace"))
                .expect("a number")
        };
        let here = (original(pair.first), original(pair.second));
        assert!(decided.near.insert(here), "each pair belongs to one shard");
        if !asked.contains(&(pair.first, pair.second)) {
            decided.refuted.insert(here);
        }
        match predictor.decide(pair, &budget) {
            Verdict::Reached(witness) => {
                let claim = |first, second, schedule| {
                    let proof = Proof::Adjacent { model: witness.model, schedule };
                    Claim { first, second, proof }
                };
                let claimed = referee.check(claim(pair.first, pair.second, witness.schedule.clone()));
                claimed.unwrap_or_else(|rejection| panic!("{pair:?} in the shard: {rejection}"));
                let before = (0..shard.before() as usize).filter_map(EventId::from_index);
                let after = witness.schedule[*border as usize..].iter().map(|&id| original(id));
                let claimed = whole.check(claim(here.0, here.1, before.chain(after).collect()));
                claimed.unwrap_or_else(|rejection| panic!("{here:?} in the whole: {rejection}"));
                decided.proven.insert(here);
            }
            Verdict::Unreachable(_) => {
                decided.refuted.insert(here);
            }
            Verdict::NotInWindow | Verdict::Undecided(Limit::Meeting) => {}
            other => panic!("{pair:?}: {other:?}"),
        }
    }
}

/// The pairs that are worth a question.
fn candidates(predictor: &Predictor<'_>, stop: &AtomicBool) -> Races {
    let mut candidates = Candidates::new(predictor, Pairs::All, stop);
    let mut all = Races::new();
    while let Some(batch) = candidates.next_batch(&|_: Key| false) {
        all.extend(
            batch.iter().flat_map(|bucket| &bucket.pairs).map(|&Pair { first, second }| (first, second)),
        );
    }
    all
}

/// Whether the pair is said to lie apart; each event has a location of its own.
fn is_apart(trace: &Trace, apart: &ApartLocations, (first, second): (EventId, EventId)) -> bool {
    let text = |id| trace.names().loc_text(trace.event(id).loc).into_owned();
    let (a, b) = (text(first), text(second));
    apart.pairs.contains(&(a.clone().min(b.clone()), a.max(b)))
}

fn sharded_on(count: u64, features: Features, events: usize) {
    let (mut proven, mut refuted, mut all_races, mut apart_races) = (0, 0, 0, 0);
    let shape = |seed| Shape { locations: None, ..shape(seed, features, events) };
    tiny::for_each(count, shape, |seed, trace| {
        let (shards, apart) = shards(trace, 1 + usize::try_from(seed % 7).expect("small"));
        for (technique, model) in EXACT {
            let races = oracle::races(trace, model, STATES).expect("the trace is tiny");
            let mut decided = Decided::default();
            let mut whole = Referee::new(trace);
            for shard in &shards {
                decide(technique, shard, &mut whole, &mut decided);
            }
            assert!(decided.proven.is_subset(&races), "{technique:?} {:?} {races:?}", decided.proven);
            let wrong: Vec<_> = decided.refuted.intersection(&races).collect();
            assert!(wrong.is_empty(), "{technique:?} refutes {wrong:?}");
            for &race in races.difference(&decided.near) {
                assert!(is_apart(trace, &apart, race), "{technique:?} {race:?} is nowhere");
                apart_races += 1;
            }
            proven += decided.proven.len();
            refuted += decided.refuted.len();
            all_races += races.len();
        }
    });
    eprintln!("{proven} proven of {all_races}, {apart_races} apart, {refuted} refuted");
    assert!(2 * proven > all_races && apart_races > 100 && refuted > 100);
}

#[test]
fn shards_with_every_operation() {
    sharded_on(4000, EVERYTHING, 14);
    sharded_on(1500, Features { crowds: true, ..EVERYTHING }, 16);
}

#[test]
fn shards_of_simple_traces() {
    sharded_on(1500, Features { values: true, branches: true, ..Features::MUTEXES }, 14);
    sharded_on(1000, Features::ALL, 14);
}
