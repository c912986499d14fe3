use std::time::Duration;
use foretell_smt::{Formula, window::Window, z3::{Solver, Verdict}};
use foretell_testkit::tiny::{self, Features, Shape};
use foretell_trace::{EventId, Trace};
use foretell_witness::{Model, oracle};

const FEATURES: Features = Features { values: true, branches: true, ..Features::BASIC };

fn conflicts(trace: &Trace) -> Vec<(EventId, EventId)> {
    let accesses: Vec<_> =
        trace.iter().filter_map(|(id, event)| Some((id, event.thread, event.op.access()?))).collect();
    let mut pairs = Vec::new();
    for (index, &(first, thread, access)) in accesses.iter().enumerate() {
        for &(second, other, later) in &accesses[index + 1..] {
            if thread != other && access.conflicts_with(later) {
                pairs.push((first, second));
            }
        }
    }
    pairs
}

#[test]
fn probe() {
    let mut solver = Solver::start(Duration::from_secs(20)).unwrap();
    let (mut pairs, mut races, mut miss, mut extra) = (0, 0, 0, 0);
    let begin = std::time::Instant::now();
    let count: u64 = std::env::var("COUNT").map_or(300, |c| c.parse().unwrap());
    let n: usize = std::env::var("N").map_or(14, |c| c.parse().unwrap());
    tiny::for_each(count, |_| Shape::new(FEATURES, n), |seed, trace| {
        let window = Window::new(trace).unwrap();
        let truth = oracle::races(trace, Model::ControlFlow, 1_000_000).unwrap();
        for pair in conflicts(trace) {
            pairs += 1;
            let race = truth.contains(&pair);
            races += usize::from(race);
            let exact = solver.check(&Formula::Exact.text(&window, pair)).unwrap().verdict;
            assert_eq!(exact == Verdict::Sat, race, "{pair:?}");
            let published = solver.check(&Formula::Published.text(&window, pair)).unwrap().verdict;
            if (published == Verdict::Sat) != race {
                if race { miss += 1 } else { extra += 1; println!("extra seed {seed} {pair:?}"); }
            }
        }
    });
    println!("{pairs} pairs {races} races {miss} missed {extra} extra {:?}", begin.elapsed());
}
