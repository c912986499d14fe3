//! Standard output, whose reader may have stopped reading.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::note;
use crate::stop;

/// So much is written at a time.
const PIECE: usize = 1 << 16;
/// After a signal, a write may block for this long.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often to look.
const TICK: Duration = Duration::from_millis(100);

/// Writes all of it. After a signal, if the reader does not read, the process ends.
pub(super) fn write(bytes: &[u8]) -> io::Result<()> {
    let written = Arc::new(AtomicU64::new(0));
    if bytes.len() > PIECE {
        let written = Arc::downgrade(&written);
        // Without a thread, a second signal ends the process.
        let _ = thread::Builder::new().name("watches the output".to_string()).spawn(move || {
            let (mut known, mut since) = (0, Instant::now());
            while let Some(written) = written.upgrade().map(|written| written.load(Ordering::SeqCst)) {
                if written != known || !stop::is_interrupted() {
                    (known, since) = (written, Instant::now());
                }
                if since.elapsed() >= PATIENCE {
                    note("error: interrupted, and the reader of standard output does not read on: the rest is left out");
                    std::process::exit(stop::INTERRUPTED_CODE);
                }
                thread::sleep(TICK);
            }
        });
    }
    let mut output = io::stdout().lock();
    for piece in bytes.chunks(PIECE) {
        output.write_all(piece)?;
        written.fetch_add(piece.len() as u64, Ordering::SeqCst);
    }
    output.flush()
}
