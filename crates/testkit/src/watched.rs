//! A process under observation: what it takes of memory, of the processors' time and of the disk. Times are those of
//! the processors, so that a busy machine makes no difference.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often to look.
const TICK: Duration = Duration::from_millis(10);
/// Whatever takes longer than this hangs.
const LONGEST: Duration = Duration::from_secs(300);
/// The kernel counts the processors' time in these.
const TICKS_PER_SECOND: u64 = 100;

/// What a process has come to.
#[derive(Debug)]
pub struct Watched {
    /// Its exit code; none if a signal has ended it.
    pub code: Option<i32>,
    /// What it has printed.
    pub out: String,
    /// And what as errors.
    pub err: String,
    /// How many bytes of memory it had at most.
    pub memory: u64,
    /// How much of the processors' time it has used.
    pub used: Duration,
    /// How much of it after it was asked to end.
    pub used_after: Duration,
    /// How many bytes were in its folder at most.
    pub disk: u64,
}

/// How a process is asked to end.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The signal, as `kill` calls it.
    pub signal: &'a str,
    /// Once it has used so much of the processors' time.
    pub after: Duration,
}

/// Runs the command and looks at it until it ends; temporary files go to the folder.
///
/// # Panics
/// If it cannot be run, or does not end.
pub fn watch(command: &mut Command, folder: &Path, ask: Option<Ask<'_>>) -> Watched {
    let command = command.env("TMPDIR", folder).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let [out, err] = [collect(child.stdout.take()), collect(child.stderr.take())];
    let (begin, mut asked_at) = (Instant::now(), None);
    let (mut memory, mut used, mut disk) = (0, Duration::ZERO, 0);
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            break status;
        }
        memory = memory.max(peak(child.id()).unwrap_or(0));
        used = used.max(time(child.id()).unwrap_or_default());
        disk = disk.max(size(folder));
        if let Some(ask) = ask.filter(|ask| asked_at.is_none() && used >= ask.after) {
            send(&child, ask.signal);
            asked_at = Some(used);
        }
        assert!(begin.elapsed() < LONGEST || child.kill().is_err(), "it does not end");
        thread::sleep(TICK);
    };
    let used_after = asked_at.map_or(Duration::ZERO, |at| used - at);
    let text = |reader: thread::JoinHandle<String>| reader.join().expect("it is read");
    Watched { code: status.code(), out: text(out), err: text(err), memory, used, used_after, disk }
}

fn collect(pipe: Option<impl std::io::Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.expect("a pipe").read_to_end(&mut bytes).expect("it can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn send(child: &Child, signal: &str) {
    // It may have ended just now.
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
}

fn peak(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn time(process: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// How many bytes the disk has for what is in the folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => size(&entry.path()),
            Ok(data) => data.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}
