//! Traces that do not fit into memory: in what memory they are analysed, and whether that costs more for each event
//! than a trace that fits. The longest takes minutes.

use foretell_testkit::locked::Shape;
use foretell_trace::format::Format;

use super::cpu::CpuTime;
use super::files::TraceFile;
use super::record::{Record, Row, Target};
use super::{command, command_with};
use xtask::process::{must, release, root};

/// What a trace is to be analysed in.
const MEMORY: (&str, f64) = ("2G", 2048.0);
const MEBIBYTE: f64 = 1_048_576.0;

/// All of it.
pub(super) fn sharding(record: &mut Record) -> Result<(), String> {
    let whole = TraceFile::get(Shape::standard(1_000_000), Format::Binary)?;
    let (report, seconds) = command(&whole, "auto")?;
    let each = seconds / 1e6;
    record.add(Row::seconds("predict auto, 10^6 events".to_string(), seconds, &report, None));
    for (name, events) in [("10^7", 10_000_000), ("10^8", 100_000_000)] {
        let file = TraceFile::get(Shape::standard(events), Format::Binary)?;
        let options = ["--memory", MEMORY.0, "--time-limit", "none"];
        let (report, seconds) = command_with(&file, "auto", &options)?;
        let what = format!("predict auto --memory {}, {name} events", MEMORY.0);
        record.add(Row::seconds(what.clone(), seconds, &report, None));
        let peak = report["stats"]["peak_memory_bytes"].as_f64().unwrap_or(f64::NAN) / MEBIBYTE;
        record.add(Row::summary(format!("{what}: peak MiB"), peak, Some(Target::AtMost(MEMORY.1))));
        let what = format!("{what}: CPU for an event over that of 10^6");
        #[expect(clippy::cast_precision_loss, reason = "it is a round number")]
        let of_event = seconds / events as f64;
        record.add(Row::ratio(what, of_event, each, Target::AtMost(1.5)));
        plan(record, &file, (name, events))?;
    }
    Ok(())
}

/// The pass that makes a plan.
fn plan(record: &mut Record, file: &TraceFile, (name, events): (&str, usize)) -> Result<(), String> {
    let folder = root().join("target/bench/plan");
    let remove = || {
        std::fs::remove_dir_all(&folder)
            .or_else(|error| if folder.exists() { Err(error.to_string()) } else { Ok(()) })
    };
    remove()?;
    let (path, to) = (file.path().display().to_string(), folder.display().to_string());
    let begin = CpuTime::of_children();
    must(&release("foretell").display().to_string(), &["plan", &path, "-o", &to])?;
    let seconds = begin.elapsed();
    let what = format!("plan, {name} events");
    record.add(Row::speed(what, events, seconds, Some(Target::AtLeast(5.0))));
    remove()
}
