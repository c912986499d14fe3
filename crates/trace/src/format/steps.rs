//! How far threads have come ([`crate::steps`]), as part of a trace in the text and in the recording format.
//!
//! In text, comments tell it, so that others can still read the trace: lines `#steps N N*K …` after all events. There
//! is a number for each event, how many steps its thread has made since its last event; `N*K` is the same number for so
//! many events in a row.
//!
//! In a recording it is a sequence of varints. Programs repeat themselves, so each number is guessed to be the one that
//! last came after the same numbers. What is written is how many guesses in a row are right, the number where the next
//! one is wrong, and so on. The guess is looked up by sixteen bits (at first it is 0 for all), which each number moves
//! by four, and changes by its own lowest bits.

use std::io::{self, Write};

use crate::format::blocks::{push, take};
use crate::format::lines::Problem;
use crate::steps::Steps;

const WORD: &[u8] = b"#steps ";
/// So many numbers stand on a line.
const ON_A_LINE: usize = 32;

/// Takes the lines of a text that tell of steps: numbers, and how often each comes in a row.
#[derive(Default)]
pub(crate) struct StepLines(Vec<(u64, u64)>);

impl StepLines {
    /// Whether the line tells of steps.
    pub(crate) fn is_for(line: &[u8]) -> bool {
        line.starts_with(WORD)
    }

    /// Takes a line that begins with `#`.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<(), Problem> {
        let Some(rest) = line.strip_prefix(WORD) else { return Ok(()) };
        let mut at = WORD.len();
        for word in rest.split(|&byte| byte == b' ') {
            let run = run(word);
            let wanted = "a number of steps, or one and how often: 3*12";
            self.0.push(run.ok_or_else(|| Problem::expected(at, wanted))?);
            at += word.len() + 1;
        }
        Ok(())
    }

    /// What was recorded of so many events; nothing if it is about another number of them.
    pub(crate) fn finish(self, events: usize) -> Option<Steps> {
        build(self.0.into_iter(), events as u64).filter(|steps| !steps.is_empty())
    }
}

fn run(word: &[u8]) -> Option<(u64, u64)> {
    let word = std::str::from_utf8(word).ok()?;
    let (since, count) = word.split_once('*').unwrap_or((word, "1"));
    Some((since.parse().ok()?, count.parse().ok()?))
}

/// The steps of so many events. Memory grows no further than with these, whatever the counts claim.
fn build(runs: impl Iterator<Item = (u64, u64)>, events: u64) -> Option<Steps> {
    let mut steps = Steps::default();
    for (since, count) in runs {
        let left = events.checked_sub(steps.len() as u64)?;
        (0..Some(count).filter(|&count| count <= left)?).for_each(|_| steps.push(since));
    }
    (steps.len() as u64 == events).then_some(steps)
}

/// The numbers, and how often each comes in a row.
fn runs(steps: &Steps) -> impl Iterator<Item = (u64, u64)> {
    let mut since = steps.since().peekable();
    std::iter::from_fn(move || {
        let first = since.next()?;
        let mut count = 1;
        while since.next_if_eq(&first).is_some() {
            count += 1;
        }
        Some((first, count))
    })
}

/// Writes the lines that tell of the steps.
pub(crate) fn write_text(steps: &Steps, output: &mut impl Write) -> io::Result<()> {
    let words: Vec<String> = runs(steps)
        .map(|(since, count)| if count == 1 { since.to_string() } else { format!("{since}*{count}") })
        .collect();
    words.chunks(ON_A_LINE).try_for_each(|line| writeln!(output, "#steps {}", line.join(" ")))
}

/// The steps as a part of a recording.
pub(crate) fn encode(steps: &Steps) -> Vec<u8> {
    let (mut out, mut guesses, mut right) = (Vec::new(), Guesses::new(), 0);
    for since in steps.since() {
        if guesses.next() == since {
            right += 1;
        } else {
            push(&mut out, right);
            push(&mut out, since);
            right = 0;
        }
        guesses.learn(since);
    }
    push(&mut out, right);
    out
}

/// What numbers are guessed to be.
struct Guesses {
    after: Vec<u64>,
    /// What came before, as far as that matters.
    context: usize,
}

impl Guesses {
    const CONTEXTS: usize = 1 << 16;

    fn new() -> Guesses {
        Guesses { after: vec![0; Guesses::CONTEXTS], context: 0 }
    }

    fn next(&self) -> u64 {
        self.after[self.context]
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is wanted")]
    fn learn(&mut self, number: u64) {
        self.after[self.context] = number;
        self.context = (self.context << 4 ^ number as usize) % Guesses::CONTEXTS;
    }
}

/// The steps that [`encode`] wrote of so many events; none if it is not that.
pub(crate) fn decode(mut bytes: &[u8], events: u64) -> Option<Steps> {
    let (bytes, mut steps, mut guesses) = (&mut bytes, Steps::default(), Guesses::new());
    loop {
        let left = events.checked_sub(steps.len() as u64)?;
        for _ in 0..Some(take(bytes)?).filter(|&right| right <= left)? {
            let since = guesses.next();
            steps.push(since);
            guesses.learn(since);
        }
        if bytes.is_empty() {
            return (steps.len() as u64 == events).then_some(steps);
        }
        let since = take(bytes)?;
        steps.push(since);
        guesses.learn(since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(numbers: &[u64]) -> Steps {
        let mut steps = Steps::default();
        numbers.iter().for_each(|&since| steps.push(since));
        steps
    }

    #[test]
    fn steps_come_back() {
        let long: Vec<u64> = (0..100).map(|number| number * number % 7 / 3).collect();
        for numbers in [&[1, 0, 0, 0, 5, 300, u64::MAX, u64::MAX][..], &[7], &long] {
            let written = steps(numbers);
            assert_eq!(decode(&encode(&written), numbers.len() as u64), Some(written.clone()));
            let (mut text, mut lines) = (Vec::new(), StepLines::default());
            write_text(&written, &mut text).unwrap();
            for line in text.split(|&byte| byte == b'\n') {
                lines.line(line).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(line)));
            }
            assert_eq!(lines.finish(numbers.len()), Some(written));
        }
        let repeated: Vec<u64> = (0..1000).map(|number| [1, 2, 0, 0, 7][number % 5]).collect();
        assert!(encode(&steps(&repeated)).len() < 30);
    }

    #[test]
    fn what_is_not_about_these_events_is_refused() {
        let bytes = encode(&steps(&[1, 0, 0, 0, 5]));
        assert_eq!(decode(&bytes, 4), None);
        assert_eq!(decode(&bytes, 6), None);
        assert_eq!(decode(&bytes[..bytes.len() - 2], 5), None);
        assert_eq!(decode(&[], 0), None);
        assert_eq!(decode(&[0xFF; 12], 5), None);
        for line in ["#steps x", "#steps 1*", "#steps 1  2"] {
            assert!(StepLines::default().line(line.as_bytes()).is_err(), "{line}");
        }
        assert!(StepLines::default().line(b"#stepsister").is_ok());
        let mut lines = StepLines::default();
        lines.line(b"#steps 1*99999999999").unwrap_or_else(|_| panic!("that is a run"));
        assert_eq!(lines.finish(3), None);
    }
}
