//! What it costs to explore the closure of a trace, run by run and state by state.

use std::path::PathBuf;
use std::process::Command;

use foretell_testkit::busy::{self, Shape};
use foretell_trace::format::text::TextWriter;
use foretell_trace::{Batch, Source as _};
use serde_json::Value;

use super::cpu::CpuTime;
use super::record::{Record, Row, Target};
use xtask::process::{release, root};

/// Steps of the plain walk, where it would never come to an end.
const STEPS: &str = "60000000";

/// A trace whose closure the plain walk can finish.
const SMALL: Shape = Shape {
    events: 36,
    threads: 4,
    locks: 2,
    vars_per_lock: 1,
    racy_vars: 2,
    channels: 1,
    burst: 4,
    seed: 3,
};

/// How fast the plain walk is, how its memory grows, and how much faster it is to keep states.
pub(crate) fn exploring(record: &mut Record) -> Result<(), String> {
    let mut peaks = Vec::new();
    for events in [1000, 100_000, 1_000_000] {
        let (report, seconds) = explore(Shape::standard(events), &["--memory", "0", "--max-steps", STEPS])?;
        let steps = report["stats"]["steps"].as_u64().and_then(|steps| usize::try_from(steps).ok());
        let what = format!("explore, plain walk, {events} events");
        let target = (events == 1000).then_some(Target::AtLeast(5.0));
        record.add(Row::speed(what, steps.unwrap_or(0), seconds, target));
        peaks.push(report["stats"]["peak_memory_bytes"].as_f64().unwrap_or(f64::NAN) / 1_048_576.0);
    }
    let what = "explore, plain walk: peak MiB at 1M events over that at 100k".to_string();
    record.add(Row::ratio(what, peaks[2], peaks[1], Target::AtMost(11.0)));
    let (plain, walking) = explore(SMALL, &["--memory", "0"])?;
    let (kept, keeping) = explore(SMALL, &["--memory", "1G"])?;
    if plain["feasible"] != kept["feasible"] {
        return Err(format!("the walks differ: {} and {}", plain["feasible"], kept["feasible"]));
    }
    let runs = plain["feasible"]["count"].as_u64().unwrap_or(0);
    let what = format!("explore, {runs} runs: plain walk over keeping states");
    // CPU time of processes is counted in hundredths of a second.
    record.add(Row::times(what, 1e3 * walking, 1e3 * keeping.max(0.01), None));
    Ok(())
}

/// `foretell explore` on one worker, without counts where it would not come to an end; returns its report and the CPU
/// seconds that it took.
fn explore(shape: Shape, args: &[&str]) -> Result<(Value, f64), String> {
    let path = trace(shape)?;
    let counts: &[&str] = if args.contains(&"--max-steps") { &["--races-only"] } else { &[] };
    let begin = CpuTime::of_children();
    let output = Command::new(release("foretell"))
        .args(["explore", "--format", "json", "--jobs", "1", "--time-limit", "none"])
        .args(args)
        .args(counts)
        .arg(&path)
        .output()
        .map_err(|error| format!("cannot run foretell: {error}"))?;
    let seconds = begin.elapsed();
    let report = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!("foretell printed no report: {error}\n{}", String::from_utf8_lossy(&output.stderr))
    })?;
    Ok((report, seconds))
}

/// A file with the trace of this shape.
pub(crate) fn trace(shape: Shape) -> Result<PathBuf, String> {
    let folder = root().join("target/bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let path = folder.join(format!("busy-{}.std", shape.events));
    let mut script = busy::trace(shape);
    let (mut writer, mut batch) = (TextWriter::new(Vec::new()), Batch::default());
    while script.fill(&mut batch).map_err(|error| error.to_string())? {
        for event in &batch.events {
            writer.write(event, script.names()).map_err(|error| error.to_string())?;
        }
    }
    std::fs::write(&path, writer.into_inner()).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
