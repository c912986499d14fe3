//! `cargo xtask soundness`: predicted races before all real executions of random programs.
//!
//! The strongest test that a sound predictor can have. A program of the small language CIMP is run once; every
//! technique predicts from that one run; then all executions of the program are enumerated, and every predicted race
//! must be among theirs. The test suite does the same with fixed seeds, and with every program that was ever found to
//! go wrong (`corpus/programs`).
//!
//! * [`claims`]: what the techniques say about a trace
//! * [`experiment`]: one program, from its text to the verdict
//! * [`tally`]: numbers over many programs

mod claims;
mod experiment;
mod tally;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use foretell_testkit::program::{Program, Shape, program, shrink};

use experiment::{Kind, Wrong, examine};
use tally::Tally;
use xtask::process::root;

/// How often progress is reported.
const NEWS: Duration = Duration::from_secs(10);

/// Runs for a number of seconds, or until something is wrong or Ctrl-C.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    let (seconds, seed) = match args {
        [] => (None, None),
        [seconds] => (Some(number(seconds)?), None),
        [seconds, seed] => (Some(number(seconds)?), Some(number(seed)?)),
        _ => return Err("usage: cargo xtask soundness [SECONDS [SEED]]".to_string()),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    // Campaigns with neighbouring seeds have no programs in common.
    let first = seed.unwrap_or(now) << 32;
    let campaign = Campaign { next: AtomicU64::new(first), ..Campaign::default() };
    let found = thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(|| campaign.work())).collect();
        campaign.tell(seconds);
        workers.into_iter().filter_map(|worker| worker.join().ok().flatten()).collect::<Vec<_>>()
    });
    print!("{}", campaign.tally());
    let Some(failure) = found.first() else {
        println!("every predicted race is real");
        return Ok(ExitCode::SUCCESS);
    };
    Err(format!("{}\nsaved as {}", failure.text(), failure.save()?))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a number instead of `{text}`"))
}

/// What all workers share.
#[derive(Default)]
struct Campaign {
    next: AtomicU64,
    stop: AtomicBool,
    tally: Mutex<Tally>,
}

impl Campaign {
    fn tally(&self) -> Tally {
        self.tally.lock().map(|tally| tally.clone()).unwrap_or_default()
    }

    /// Examines one program after the other until one is wrong or everything is to stop.
    fn work(&self) -> Option<Box<Failure>> {
        while !self.stop.load(Ordering::Relaxed) {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            match examine_seed(seed) {
                Ok(tally) => {
                    if let Ok(mut all) = self.tally.lock() {
                        all.add(&tally);
                    }
                }
                Err(failure) => {
                    self.stop.store(true, Ordering::Relaxed);
                    return Some(failure);
                }
            }
        }
        None
    }

    /// Tells how far it is, until the time is over.
    fn tell(&self, seconds: Option<u64>) {
        let begin = Instant::now();
        let mut told = Duration::ZERO;
        while !self.stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(100));
            let passed = begin.elapsed();
            if passed > told + NEWS {
                told = passed;
                println!("{} in {} s", self.tally().summary(), passed.as_secs());
            }
            if seconds.is_some_and(|seconds| passed >= Duration::from_secs(seconds)) {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// A program on which something is wrong, as small as it gets.
#[derive(Debug)]
struct Failure {
    seed: u64,
    wrong: Wrong,
    program: Program,
}

/// Examines the program of the seed, and makes it small if anything is wrong.
fn examine_seed(seed: u64) -> Result<Tally, Box<Failure>> {
    let large = program(seed, Shape::any(seed));
    examine(&large.to_string(), seed).map_err(|wrong| Box::new(smallest(seed, large, wrong)))
}

/// The smallest program like this one on which the same is wrong.
fn smallest(seed: u64, large: Program, wrong: Wrong) -> Failure {
    let mut last = wrong;
    let program = shrink(large, |smaller| match examine(&smaller.to_string(), seed) {
        // Cut to pieces, programs do not compile: that is not worth knowing.
        Err(wrong) if wrong.kind == last.kind && wrong.kind != Kind::Unusable => {
            last = wrong;
            true
        }
        _ => false,
    });
    Failure { seed, wrong: last, program }
}

impl Failure {
    /// The program with what is known of it, as it is kept.
    fn text(&self) -> String {
        let Failure { seed, wrong, program } = self;
        format!("// {}\n// seed: {seed}\n// schedule: {}\n{program}", wrong.what, wrong.schedule)
    }

    /// Keeps the program for the test suite; gives its place.
    fn save(&self) -> Result<String, String> {
        let folder = root().join("corpus/programs");
        let path = folder.join(format!("seed_{}.cimp", self.seed));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, self.text()))
            .map_err(|error| format!("{}: {error}\n{}", path.display(), self.text()))?;
        Ok(path.display().to_string())
    }
}

#[cfg(test)]
mod tests;
