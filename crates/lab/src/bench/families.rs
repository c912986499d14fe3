//! What it costs to decide a pair of a family of hard traces, by all searches together and by each of them alone.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_detect::Pair;
use foretell_predict::{Budget, NoSolver, Portfolio, Predictor, Technique, Verdict};
use foretell_testkit::families::{ALL, Family, last_pairs, trace};
use foretell_trace::Trace;

use super::cpu::CpuTime;
use super::pairs::Decision;
use super::record::{Record, Row, Target};

/// How many events the traces have: a pair of each is to be decided within a second.
const SIZES: [usize; 3] = [1_000, 4_000, 16_000];

/// How many pairs of a trace are decided.
const PAIRS: usize = 6;

/// Which of the traces of a family.
const SEEDS: [u64; 3] = [1, 2, 3];

/// How long one pair may take, on the clock.
const BUDGET: Duration = Duration::from_secs(4);

/// One row for each family, size and way to search.
pub(crate) fn deciding(record: &mut Record) -> Result<(), String> {
    for family in ALL {
        for events in SIZES {
            for (name, portfolio) in [("", Portfolio::All), (", clauses alone", Portfolio::Clauses)] {
                let decisions = decide_all(family, events, portfolio)?;
                let what = format!("{}, {events} events{name}", family.0);
                let target = (portfolio == Portfolio::All).then_some(Target::AtMost(1000.0));
                let count = decisions.len();
                record.add(Row::decisions(what, &decisions, count, target));
            }
        }
    }
    Ok(())
}

fn decide_all(family: Family, events: usize, portfolio: Portfolio) -> Result<Vec<Decision>, String> {
    let mut decisions = Vec::new();
    for seed in SEEDS {
        decisions.extend(decide(&trace(family, events, seed), portfolio)?);
    }
    Ok(decisions)
}

fn decide(trace: &Trace, portfolio: Portfolio) -> Result<Vec<Decision>, String> {
    let predictor = Predictor::new(trace, Technique::Rv, None, Arc::new(NoSolver))
        .ok_or("rv decides pairs")?
        .searching_by(portfolio);
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: BUDGET, stop: &stop };
    let pairs = last_pairs(trace);
    let decide = |&(first, second)| {
        let begin = CpuTime::of_this_thread();
        let verdict = predictor.decide(Pair { first, second }, &budget);
        let cpu = Duration::from_secs_f64(begin.elapsed());
        let race = match verdict {
            Verdict::Reached(_) => Some(true),
            Verdict::Unreachable(_) => Some(false),
            Verdict::NotInWindow | Verdict::Undecided(_) => None,
        };
        Decision { race, cpu }
    };
    Ok(pairs.iter().take(PAIRS).map(decide).collect())
}
