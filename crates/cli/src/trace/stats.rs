//! `foretell trace stats`: what is in a trace.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use foretell_report::Counts as Kinds;
use foretell_report::visible::visible;
use foretell_trace::format::text::op_text;
use foretell_trace::{Event, Names};
use serde_json::json;

use crate::Outcome;
use crate::args::OutputFormat;
use crate::error::Failure;
use crate::input::TraceFile;
use crate::output;

/// Figures of a trace.
#[derive(Default)]
struct Counts {
    kinds: Kinds,
    /// By the operation's name in the text format.
    operations: BTreeMap<String, u64>,
    /// Events of each thread, by thread index.
    threads: Vec<u64>,
}

impl Counts {
    fn add(&mut self, event: &Event, names: &Names) {
        self.kinds.add(event);
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

pub(crate) fn run(input: &TraceFile, format: OutputFormat) -> Result<Outcome, Failure> {
    let mut reading = input.open("counts")?;
    let mut counts = Counts::default();
    while reading.next()?.is_some() {
        let (batch, names) = reading.batch();
        batch.events.iter().for_each(|event| counts.add(event, names));
    }
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
        ("reads", counts.kinds.reads),
        ("writes", counts.kinds.writes),
        ("atomic accesses", counts.kinds.atomics),
        ("synchronisation", counts.kinds.syncs),
        ("branches", counts.kinds.branches),
        ("accesses with values", counts.kinds.with_values),
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
            let mut text = format!("{}\n", visible(&input.name()));
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
