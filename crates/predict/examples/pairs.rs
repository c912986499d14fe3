//! Scratch: per-pair cost on busy windows.
use foretell_detect::{Pairs, Reports};
use foretell_predict::{Budget, Predictor, Technique, Verdict};
use foretell_testkit::busy::{Shape, trace};
use foretell_trace::{EventId, Trace};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let events: usize = args[1].parse().unwrap();
    let seeds: u64 = args[2].parse().unwrap();
    let sample: usize = args[3].parse().unwrap();
    let technique = Technique::from_name(args.get(4).map_or("rv", |s| s)).unwrap();
    let mut times = vec![];
    let mut counts = [0; 4];
    for seed in 0..seeds {
        let trace =
            Trace::read(Box::new(trace(Shape { seed: seed + 1, ..Shape::standard(events) }))).unwrap();
        let mut reports = Reports::new(Pairs::All);
        let mut d = Technique::Lockset.detector().unwrap();
        d.batch(EventId::FIRST, trace.events(), &mut reports);
        let all = reports.pairs().to_vec();
        let near: Vec<_> =
            all.iter().copied().filter(|p| p.second.number() - p.first.number() < 300).collect();
        let t0 = Instant::now();
        let predictor = Predictor::new(&trace, technique, None).unwrap();
        if seed == 0 {
            println!("index {:?}, {} candidates, {} near", t0.elapsed(), all.len(), near.len());
        }
        let stop = AtomicBool::new(false);
        let budget = Budget { per_pair: Duration::from_secs(60), stop: &stop };
        let mut r = foretell_testkit::random::Random::new(seed + 7);
        for i in 0..sample {
            let list = if i % 2 == 0 && !near.is_empty() { &near } else { &all };
            let pair = *r.pick(list);
            let t = Instant::now();
            let v = predictor.decide(pair, &budget);
            let dt = t.elapsed().as_secs_f64() * 1e3;
            if dt > 1000.0 {
                println!(
                    "slow {seed} {pair:?} {dt:.0} ms {}",
                    match &v {
                        Verdict::Race(_) => "race",
                        Verdict::NoRace(_) => "no",
                        _ => "?",
                    }
                );
            }
            times.push(dt);
            counts[match v {
                Verdict::Race(_) => 0,
                Verdict::NoRace(_) => 1,
                Verdict::NotInWindow => 2,
                Verdict::Undecided(_) => 3,
            }] += 1;
        }
    }
    times.sort_by(f64::total_cmp);
    let n = times.len();
    println!(
        "{technique:?} {events} events: {n} pairs, race/no/window/undecided {counts:?}; avg {:.3} median {:.3} p90 {:.3} p99 {:.3} max {:.1} ms",
        times.iter().sum::<f64>() / n as f64,
        times[n / 2],
        times[n * 9 / 10],
        times[n * 99 / 100],
        times[n - 1]
    );
}
