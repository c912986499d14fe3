//! How long reading a trace takes for each event, with and without the checks.
//!
//! `cargo run --release -p foretell-trace --example read_speed -- FILE…` reads each file five times and prints the best
//! time. With `-o FILE` in front, the first trace is converted to the format that this name asks for.

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use foretell_trace::check::Checker;
use foretell_trace::format::{Compression, Format, open, writer};
use foretell_trace::{Batch, Source};

/// The best of so many runs is shown: the others were disturbed by something else on the machine.
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [option, output, input, ..] = arguments.as_slice()
        && option == "-o"
    {
        return convert(Path::new(input), Path::new(output));
    }
    for path in &arguments {
        let path = Path::new(path);
        let (events, plain) = best(path, false)?;
        let (_, checked) = best(path, true)?;
        let each = |time: Duration| time.as_secs_f64() * 1e9 / events as f64;
        let size = path.metadata()?.len() as f64 / events as f64;
        println!(
            "{}: {events} events of {size:.2} bytes; {:.1} ns each, {:.1} ns with the checks",
            path.display(),
            each(plain),
            each(checked)
        );
    }
    Ok(())
}

fn source(path: &Path) -> Result<Box<dyn Source>, Box<dyn Error>> {
    Ok(open(Box::new(File::open(path)?), Format::from_extension(path))?)
}

fn best(path: &Path, checked: bool) -> Result<(usize, Duration), Box<dyn Error>> {
    let mut best = (0, Duration::MAX);
    for _ in 0..RUNS {
        let start = Instant::now();
        let events = read(path, checked)?;
        best = (events, best.1.min(start.elapsed()));
    }
    Ok(best)
}

fn read(path: &Path, checked: bool) -> Result<usize, Box<dyn Error>> {
    let mut source = source(path)?;
    let (mut checker, mut batch, mut events) = (Checker::default(), Batch::default(), 0);
    while source.fill(&mut batch)? {
        if checked {
            checker.check_batch(&mut batch, source.names())?;
        }
        events += batch.events.len();
    }
    Ok(events)
}

fn convert(input: &Path, output: &Path) -> Result<(), Box<dyn Error>> {
    let format = Format::from_extension(output).ok_or("the output's name does not tell its format")?;
    let file = Compression::from_extension(output).writer(Box::new(File::create(output)?))?;
    let mut writer = writer(format, file, true)?;
    let (mut source, mut batch) = (source(input)?, Batch::default());
    while source.fill(&mut batch)? {
        for event in &batch.events {
            writer.write(event, source.names())?;
        }
    }
    Ok(writer.finish()?)
}
