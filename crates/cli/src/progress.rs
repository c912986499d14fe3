//! Progress bars: on a terminal, never in a pipe.

use std::io::{IsTerminal, Read};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How far the reading of one input, or the work on its pairs, has come.
pub(crate) struct Progress {
    bar: ProgressBar,
    begin: Instant,
    events: usize,
}

impl Progress {
    /// A bar for an input of `size` bytes, if that is known. Hidden unless standard error is a terminal.
    pub(crate) fn new(what: &str, size: Option<u64>, wanted: bool) -> Progress {
        let template = match size {
            Some(_) => "{prefix} {bar:30} {percent:>3}% {msg}, {eta} left",
            None => "{prefix} {spinner} {bytes} {msg}",
        };
        Progress::with_template(what, size, wanted, template)
    }

    /// A bar for pieces of work, of which more may come up on the way.
    pub(crate) fn of_work(what: &str, wanted: bool) -> Progress {
        Progress::with_template(what, Some(0), wanted, "{prefix} {bar:30} {pos} of {len}, {elapsed}")
    }

    /// A bar for an exploration of unknown size.
    pub(crate) fn of_steps(what: &str, wanted: bool) -> Progress {
        Progress::with_template(what, None, wanted, "{prefix} {spinner} {msg}, {elapsed}")
    }

    fn with_template(what: &str, size: Option<u64>, wanted: bool, template: &str) -> Progress {
        let target = if wanted && std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(size, target).with_prefix(what.to_string());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Progress { bar, begin: Instant::now(), events: 0 }
    }

    /// Counts the bytes that are read from `input`.
    pub(crate) fn watch(&self, input: impl Read + 'static) -> Box<dyn Read> {
        if self.bar.is_hidden() { Box::new(input) } else { Box::new(self.bar.wrap_read(input)) }
    }

    /// So many more events have been looked at.
    pub(crate) fn advance(&mut self, events: usize) {
        self.events += events;
        if !self.bar.is_hidden() {
            self.bar.set_message(rate(self.events, self.begin.elapsed().as_secs_f64(), "events"));
        }
    }

    /// So many steps have been taken in all, and about this part of everything is done.
    pub(crate) fn stepped(&self, steps: u64, part: f64) {
        let seconds = self.begin.elapsed().as_secs_f64();
        let steps_so_far = usize::try_from(steps).unwrap_or(usize::MAX);
        let rate = rate(steps_so_far, seconds, "steps");
        self.bar.set_message(format!("{steps} steps, {:.1} % explored, {rate}", 100.0 * part));
        self.bar.tick();
    }

    /// So many states have been visited in all.
    pub(crate) fn visited(&self, states: usize) {
        if !self.bar.is_hidden() {
            let rate = rate(states, self.begin.elapsed().as_secs_f64(), "states");
            self.bar.set_message(format!("{states} states, {rate}"));
            self.bar.tick();
        }
    }

    /// Whether it is hidden.
    pub(crate) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// So many more pieces of work have come up.
    pub(crate) fn expect(&self, pieces: usize) {
        self.bar.inc_length(pieces as u64);
    }

    /// A piece of work is done.
    pub(crate) fn worked(&self) {
        self.bar.inc(1);
    }

    /// Takes the bar off the screen.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl foretell_engine::Progress for Progress {
    fn expect(&self, pieces: usize) {
        Progress::expect(self, pieces);
    }

    fn worked(&self) {
        Progress::worked(self);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn rate(number: usize, seconds: f64, noun: &str) -> String {
    let per_second = number as f64 / seconds.max(1e-9);
    let (scaled, unit) = if per_second >= 1e6 {
        (per_second / 1e6, "M")
    } else if per_second >= 1e3 {
        (per_second / 1e3, "k")
    } else {
        (per_second, "")
    };
    format!("{scaled:.1}{unit} {noun}/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_short() {
        assert_eq!(rate(500, 1.0, "events"), "500.0 events/s");
        assert_eq!(rate(2_500_000, 0.5, "events"), "5.0M events/s");
        assert_eq!(rate(2_500, 1.0, "steps"), "2.5k steps/s");
    }
}
