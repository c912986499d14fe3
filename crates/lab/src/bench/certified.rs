//! What it costs to certify a "no", and to check it.
//!
//! The pairs are those of the measurement `exact`; only those count that are no races. Deciding without a proof is the
//! same closure and the same search, with nothing written down.

use std::fs;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use foretell_predict::{Budget, Certificate, Certified, Certifier, Technique};
use foretell_testkit::busy::Shape;
use foretell_witness::proof::{self, TraceFacts};

use super::cpu::CpuTime;
use super::pairs::{Sample, samples};
use super::record::{Record, Row, Target};
use xtask::process::{release, root};

/// How often each pair is decided; the best counts.
const RUNS: usize = 3;
const BUDGET: Duration = Duration::from_secs(60);

/// Figures of all pairs that are refuted, in CPU milliseconds and bytes.
#[derive(Default)]
struct Sums {
    deciding: f64,
    certifying: f64,
    writing: f64,
    checking: f64,
    texts: Vec<f64>,
    records: Vec<f64>,
    undecided: usize,
}

/// Single pairs, then a whole trace.
pub(crate) fn certifying(record: &mut Record) -> Result<(), String> {
    for technique in [Technique::Mcm, Technique::Rv] {
        for (events, count) in [(1000, 400), (10_000, 200)] {
            let mut sums = Sums::default();
            for sample in samples(events, count)? {
                measure(&sample, technique, &mut sums)?;
            }
            let name = format!("{}, {} refuted pairs of {events} events", technique.name(), sums.texts.len());
            let finding = sums.certifying + sums.writing;
            record.add(Row::times(
                format!("logging and making certificates over deciding alone: {name}"),
                finding,
                sums.deciding,
                Some(Target::AtMost(1.3)),
            ));
            record.add(Row::times(
                format!("checking over finding: {name}"),
                sums.checking,
                finding,
                Some(Target::AtMost(1.0)),
            ));
            record.add(Row::bytes(
                format!("median certificate, text: {name}"),
                &mut sums.texts,
                Some(Target::AtMost(10_000.0)),
            ));
            record.add(Row::bytes(format!("median certificate, binary: {name}"), &mut sums.records, None));
        }
    }
    whole(record, 100_000, &["mcm", "rv"])
}

fn measure(sample: &Sample, technique: Technique, sums: &mut Sums) -> Result<(), String> {
    let trace = &sample.trace;
    let certifier = Certifier::new(trace, technique).ok_or("the technique has certificates")?;
    let facts = TraceFacts::new(trace);
    let stop = AtomicBool::new(false);
    let budget = Budget { per_pair: BUDGET, stop: &stop };
    for &pair in &sample.pairs {
        let (answer, certifying) = best(|| certifier.certify(pair, &budget));
        let certificate = match answer {
            Certified::Refuted(certificate) => certificate,
            Certified::Reached(_) => continue,
            Certified::Undecided(_) => {
                sums.undecided += 1;
                continue;
            }
        };
        sums.certifying += certifying;
        sums.deciding += best(|| certifier.decides(pair, &budget)).1;
        let (text, writing) = best(|| certificate.text());
        sums.writing += writing;
        let (checked, checking) = best(|| proof::check(&facts, &text));
        checked.map_err(|refusal| format!("{pair:?}: {refusal}"))?;
        sums.checking += checking;
        sums.texts.push(size(text.len()));
        sums.records.push(size(Certificate::MAGIC.len() + certificate.binary().len()));
    }
    if sums.undecided > 0 {
        println!("{} pairs stayed undecided", sums.undecided);
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn size(bytes: usize) -> f64 {
    bytes as f64
}

/// What comes of it, and the CPU milliseconds that it takes.
fn best<T>(run: impl Fn() -> T) -> (T, f64) {
    let once = || {
        let begin = CpuTime::of_this_thread();
        let answer = run();
        (answer, 1e3 * begin.elapsed())
    };
    let runs = (1..RUNS).map(|_| once());
    runs.fold(once(), |best, next| if next.1 < best.1 { next } else { best })
}

/// A busy trace of so many events: found, certified and checked by the commands.
fn whole(record: &mut Record, events: usize, techniques: &[&str]) -> Result<(), String> {
    let trace = super::explore::trace(Shape::standard(events))?;
    let run = |args: &[&str]| {
        let begin = CpuTime::of_children();
        let output = Command::new(release("foretell")).args(args).output();
        let output = output.map_err(|error| format!("cannot run foretell: {error}"))?;
        Ok::<_, String>((output, begin.elapsed()))
    };
    let text = trace.to_string_lossy();
    for technique in techniques {
        let certificates = root().join(format!("target/bench/certificates-{technique}"));
        let folder = certificates.to_string_lossy();
        let plain =
            ["predict", "-t", technique, "--find", "races", "--no-progress", "--max-races", "all", &text];
        let (_, finding) = run(&plain)?;
        let certify = [&plain[..], &["--certify", &folder, "--certify-form", "binary"]].concat();
        let (output, certifying) = run(&certify)?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
        let (output, checking) = run(&["check", "--no-progress", &text, &folder])?;
        let name = format!("{technique}, whole busy trace of {events} events");
        if !output.status.success() {
            record.note(&format!("{name}: NOT CERTIFIED: {said}"));
            continue;
        }
        let bytes = fs::metadata(certificates.join("certificates")).map_or(0, |file| file.len());
        record.note(&format!(
            "{name}: races found in {finding:.1} CPU s, and certified in {certifying:.1} CPU s, {bytes} bytes; {}",
            String::from_utf8_lossy(&output.stdout).trim()
        ));
        let what = format!("checking over certifying: {name}");
        record.add(Row::times(
            what,
            1e3 * checking,
            1e3 * (certifying - finding).max(0.01),
            Some(Target::AtMost(1.0)),
        ));
    }
    Ok(())
}
