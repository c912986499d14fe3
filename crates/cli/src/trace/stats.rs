//! `foretell trace stats`: what is in a trace.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use foretell_trace::format::text::op_text;
use foretell_trace::{AccessKind, Event, Names, Op};
use serde_json::json;

use crate::Outcome;
use crate::args::OutputFormat;
use crate::error::Failure;
use crate::input::Input;
use crate::output;

/// Figures of a trace.
#[derive(Default)]
struct Counts {
    reads: u64,
    writes: u64,
    atomics: u64,
    syncs: u64,
    branches: u64,
    with_values: u64,
    /// By the operation's name in the text format.
    operations: BTreeMap<String, u64>,
    /// Events of each thread, by thread index.
    threads: Vec<u64>,
}

impl Counts {
    fn add(&mut self, event: &Event, names: &Names) {
        match event.op.access() {
            Some(access) if access.atomic => self.atomics += 1,
            Some(access) if access.kind == AccessKind::Read => self.reads += 1,
            Some(_) => self.writes += 1,
            None if event.op == Op::Branch => self.branches += 1,
            None if !matches!(event.op, Op::Enter(_) | Op::Exit(_) | Op::Dummy(_)) => self.syncs += 1,
            None => {}
        }
        self.with_values += u64::from(event.op.value_read().is_some() || event.op.value_written().is_some());
        let text = op_text(event.op, names);
        let name = text.split_once('(').map_or(text.as_str(), |(name, _)| name);
        match self.operations.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                self.operations.insert(name.to_string(), 1);
            }
        }
        let thread = event.thread.index();
        if thread >= self.threads.len() {
            self.threads.resize(thread + 1, 0);
        }
        self.threads[thread] += 1;
    }
}

pub(crate) fn run(input: &Input, format: OutputFormat) -> Result<Outcome, Failure> {
    let mut reading = input.open("counts")?;
    let mut counts = Counts::default();
    while reading.next()?.is_some() {
        let (batch, names) = reading.batch();
        batch.events.iter().for_each(|event| counts.add(event, names));
    }
    reading.done();
    let cut_short = reading.is_cut_short();
    let names = reading.names();
    let objects = [
        ("threads", names.threads.len()),
        ("variables", names.vars.len()),
        ("locks", names.locks.len()),
        ("semaphores", names.sems.len()),
        ("conditions", names.conds.len()),
        ("barriers", names.barriers.len()),
    ];
    let unexplained = reading.checker().unexplained().1;
    let kinds = [
        ("events", reading.events() as u64),
        ("reads", counts.reads),
        ("writes", counts.writes),
        ("atomic accesses", counts.atomics),
        ("synchronisation", counts.syncs),
        ("branches", counts.branches),
        ("accesses with values", counts.with_values),
        ("unexplained reads", unexplained),
    ];
    let text = match format {
        OutputFormat::Json => {
            let kinds: BTreeMap<_, _> =
                kinds.iter().map(|(name, count)| (name.replace(' ', "_"), count)).collect();
            let objects: BTreeMap<_, _> = objects.into_iter().collect();
            let threads: BTreeMap<_, _> = names
                .threads
                .iter()
                .zip(counts.threads.iter().copied().chain(std::iter::repeat(0)))
                .collect();
            let stats = json!({
                "file": input.name(), "cut_short": cut_short, "counts": kinds, "objects": objects,
                "operations": counts.operations, "events_of_thread": threads,
            });
            format!("{stats}\n")
        }
        OutputFormat::Text => {
            let mut text = format!("{}\n", input.name());
            let mut row = |name: &str, count: u64| {
                let _ = writeln!(text, "  {name:<22} {count:>12}");
            };
            kinds.iter().for_each(|&(name, count)| row(name, count));
            objects.iter().filter(|object| object.1 > 0).for_each(|&(name, count)| row(name, count as u64));
            counts.operations.iter().for_each(|(name, &count)| row(&format!("operation {name}"), count));
            if cut_short {
                text.push_str("  the recording was cut short\n");
            }
            text
        }
    };
    output::write(None, &text)?;
    Ok(if cut_short { Outcome::Incomplete } else { Outcome::Clean })
}
