//! How many steps a second the referee replays, and how many events a second the streaming proof passes.
//!
//! `cargo bench -p foretell-witness` prints the figures for a trace of ten threads that mixes plain accesses with
//! sections of sixteen locks.

use std::time::Instant;

use foretell_trace::{
    Batch, Event, EventId, Loc, LockId, Names, Op, Source, Symbol, ThreadId, Trace, TraceError, VarId,
};
use foretell_witness::{Claim, Model, Proof, Referee, UnorderedReferee};

const THREADS: usize = 10;
const LOCKS: usize = 16;
const VARS: usize = 10_000;
const ROUNDS: usize = 800_000;

fn main() {
    let trace = Trace::read(Box::new(Rounds::new())).expect("the rounds are well formed");
    let events = trace.events().len();
    let started = Instant::now();
    let mut referee = Referee::new(&trace);
    report("set-up of the referee, events", events, started);

    let schedule: Vec<EventId> = trace.iter().map(|(id, _)| id).collect();
    let (first, second) = (schedule[events - 2], schedule[events - 1]);
    for model in [Model::SameWrite, Model::SameValue] {
        let claim = Claim { first, second, proof: Proof::Adjacent { model, schedule: schedule.clone() } };
        let started = Instant::now();
        referee.check(claim).expect("the observed order runs");
        report(&format!("replay, {model:?}, steps"), events, started);
    }

    let short = Proof::Adjacent { model: Model::SameWrite, schedule: schedule[..2].to_vec() };
    let started = Instant::now();
    for _ in 0..100_000 {
        let claim = Claim { first: schedule[0], second: schedule[1], proof: short.clone() };
        referee.check(claim).expect("the first two events race");
    }
    report("claims with a schedule of two events", 100_000, started);

    let mut unordered = UnorderedReferee::new(vec![(first, second)]);
    let started = Instant::now();
    for (place, batch) in trace.events().chunks(4096).enumerate() {
        unordered.batch(schedule[place * 4096], batch);
    }
    std::hint::black_box(unordered.verdicts());
    report("streaming proof, events", events, started);
}

fn report(what: &str, count: usize, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let rate = count as f64 / seconds / 1e6;
    println!("{what}: {rate:.1} million a second ({count} in {seconds:.3} s)");
}

/// Rounds in which a random thread takes a lock, accesses the variables of that lock, and leaves; the first two
/// events race, and so do the last two.
struct Rounds {
    names: Names,
    rounds: usize,
    random: u64,
}

impl Rounds {
    fn new() -> Rounds {
        let mut names = Names::default();
        for index in 0..VARS {
            names.vars.intern(format!("x{index}").as_bytes()).expect("few names");
        }
        for index in 0..LOCKS {
            names.locks.intern(format!("l{index}").as_bytes()).expect("few names");
        }
        for index in 0..THREADS {
            names.threads.intern(format!("t{index}").as_bytes()).expect("few names");
        }
        Rounds { names, rounds: 0, random: 88_172_645_463_325_252 }
    }

    fn random(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random >> 33).unwrap_or(0) % below
    }

    fn round(&mut self, events: &mut Vec<Event>) {
        let thread = ThreadId::from_index(self.random(THREADS)).expect("few threads");
        let lock_index = self.random(LOCKS);
        let lock = LockId::from_index(lock_index).expect("few locks");
        let mut push = |op| events.push(Event::new(thread, op, Loc(Symbol::ZERO)));
        push(Op::Acquire(lock));
        for access in 0..8 {
            let var = self.random(VARS / LOCKS) * LOCKS + lock_index;
            let var = VarId::from_index(var).expect("few variables");
            push(if access % 4 == 0 {
                Op::Write { var, value: None }
            } else {
                Op::Read { var, value: None }
            });
        }
        push(Op::Release(lock));
    }

    fn race(events: &mut Vec<Event>) {
        for thread in 0..2 {
            let thread = ThreadId::from_index(thread).expect("few threads");
            let var = VarId::from_index(0).expect("few variables");
            events.push(Event::new(thread, Op::Write { var, value: None }, Loc(Symbol::ZERO)));
        }
    }
}

impl Source for Rounds {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, TraceError> {
        batch.clear();
        if self.rounds > ROUNDS {
            return Ok(false);
        }
        if self.rounds == 0 {
            Rounds::race(&mut batch.events);
        }
        for _ in 0..400 {
            self.round(&mut batch.events);
        }
        self.rounds += 400;
        if self.rounds > ROUNDS {
            Rounds::race(&mut batch.events);
        }
        Ok(true)
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn into_names(self: Box<Self>) -> Names {
        self.names
    }
}
