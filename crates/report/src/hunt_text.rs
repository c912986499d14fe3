//! Hunts for people at a terminal: how many races there were after each run, and what else came of the runs.

use crate::context::{Frame, HeldLock, own_frame};
use crate::deadlock::{Deadlock, WaitingThread};
use crate::function_name::short;
use crate::hunt::{Hunt, HuntRun, Stopped};
use crate::page::{Ink, Page, Text};
use crate::text::{count, note};
use crate::visible::visible;

/// How many lines the curve has at most.
const HEIGHT: usize = 6;
/// How many columns it has at most.
const WIDTH: usize = 60;
/// How many columns there are before it.
const MARGIN: usize = 8;
/// The parts of a line that a column can fill.
const PARTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// How many frames of a stack are shown.
const FRAMES: usize = 6;
/// How many runs that ended abnormally are listed.
const ENDINGS: usize = 5;

/// Writes what is to be said of the hunt as a whole, after its races.
pub(crate) fn write(page: &mut Page, hunt: &Hunt) {
    for (index, deadlock) in hunt.deadlocks.iter().enumerate() {
        write_deadlock(page, index + 1, deadlock);
    }
    page.blank();
    page.wrapped(0, 2, Text::new().ink(Ink::Heading, "hunt").add(format!(": {}", words(hunt))));
    write_curve(page, &hunt.runs);
    endings(hunt).iter().for_each(|text| note(page, text));
}

/// The hunt in a line.
pub(crate) fn words(hunt: &Hunt) -> String {
    let runs = count(hunt.runs.len(), "run");
    let stopped = match hunt.stopped {
        Stopped::AllRuns => String::new(),
        Stopped::NothingNew => format!(", nothing new in the last {}", hunt.runs_without_news()),
        Stopped::Interrupted => format!(" of {}, interrupted", hunt.wanted),
    };
    let incomplete = match hunt.incomplete_runs() {
        0 => String::new(),
        all if all == hunt.runs.len() => " (all failed or cut short)".to_string(),
        some => format!(" ({some} failed or cut short)"),
    };
    let last = hunt.runs.iter().rfind(|run| run.new > 0);
    let last = last.map(|run| format!("; the last new race came in run {}", run.run)).unwrap_or_default();
    format!("{}, {runs}{incomplete}{stopped}{last}{}", visible(&hunt.strategy), thrashing(&hunt.runs))
}

/// How often a strategy had to resume a suspended thread because no other could run.
fn thrashing(runs: &[HuntRun]) -> String {
    let steering = || runs.iter().filter_map(|run| run.steering);
    let suspensions: u64 = steering().map(|steering| steering.suspensions).sum();
    let reversals: u64 = steering().map(|steering| steering.reversals).sum();
    let thrashings: u64 = steering().map(|steering| steering.thrashings).sum();
    if suspensions == 0 {
        return String::new();
    }
    let percent = thrashings.saturating_mul(100) / suspensions;
    format!("; drfinder: {suspensions} suspensions, {reversals} reversed lock orders, {percent} % thrashing")
}

/// Races against runs. A column is a run, or the last of several if there are many.
fn write_curve(page: &mut Page, runs: &[HuntRun]) {
    let most = runs.iter().map(|run| run.total).max().unwrap_or(0);
    if runs.len() < 2 || most == 0 {
        return;
    }
    let columns = WIDTH.min(page.width.saturating_sub(MARGIN + 2)).min(runs.len()).max(1);
    let totals: Vec<usize> = (1..=columns)
        .filter_map(|column| runs.get((column * runs.len()).div_ceil(columns) - 1))
        .map(|run| run.total)
        .collect();
    let height = HEIGHT.min(most);
    for level in (0..height).rev() {
        let bars: String = totals.iter().map(|&total| part(total, most, height, level)).collect();
        let label = if level + 1 == height { most.to_string() } else { String::new() };
        page.line(format!("{label:>6} ┤{bars}"));
    }
    let last = runs.len().to_string();
    let room = columns.saturating_sub(1 + last.len());
    page.line(format!("{:>6} └{}", "races", "─".repeat(columns)));
    page.line(format!("{:MARGIN$}1{:room$}{last} runs", "", ""));
}

/// How much of a line the column of a run fills.
fn part(total: usize, most: usize, height: usize, level: usize) -> char {
    let eighths = (total * height * 8).div_ceil(most).saturating_sub(level * 8);
    PARTS.get(eighths.min(8)).copied().unwrap_or(' ')
}

/// What is to be said of the first runs that ended abnormally: that may be the bug the user is looking for.
pub(crate) fn endings(hunt: &Hunt) -> Vec<String> {
    let ended: Vec<String> = hunt
        .runs
        .iter()
        .filter_map(|run| Some(format!("run {} (seed {}): {}", run.run, run.seed, run.ending.as_ref()?)))
        .collect();
    let more = ended.len().saturating_sub(ENDINGS);
    let more = (more > 0).then(|| format!("{} ended abnormally", count(more, "more run")));
    ended.into_iter().take(ENDINGS).chain(more).collect()
}

/// Writes who waits for whom.
pub(crate) fn write_deadlock(page: &mut Page, number: usize, deadlock: &Deadlock) {
    page.blank();
    let title = format!(" · {}", deadlock.title());
    page.wrapped(0, 2, Text::new().ink(Ink::Race, format!("deadlock {number}")).add(title));
    for waiting in &deadlock.waiting {
        write_waiting(page, waiting);
    }
}

pub(crate) fn write_waiting(page: &mut Page, waiting: &WaitingThread) {
    let text = Text::new()
        .ink(Ink::Heading, visible(&waiting.thread))
        .add(format!(" {} ", visible(&waiting.words())))
        .ink(Ink::Place, format!("at {}", visible(&waiting.location)));
    page.wrapped(2, 4, text);
    let frame = |frame: &Frame| format!("in {} at {}", short(&frame.function), visible(&frame.location));
    for text in waiting.stack.iter().take(FRAMES).map(frame) {
        page.wrapped(4, 6, text);
    }
    write_held(page, &waiting.locks);
}

/// Writes which locks a thread holds, and where it took them.
pub(crate) fn write_held(page: &mut Page, locks: &[HeldLock]) {
    for held in locks {
        let place = own_frame(&held.stack).map_or(&held.location, |frame| &frame.location);
        page.wrapped(4, 6, format!("holds {}, taken at {}", visible(&held.lock), visible(place)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Detail;

    fn run(number: usize, total: usize) -> HuntRun {
        HuntRun {
            run: number,
            strategy: "pct".to_string(),
            seed: number as u64,
            races: total,
            new: usize::from(number == 2),
            total,
            deadlock: false,
            incomplete: number == 3,
            ending: (number == 3).then(|| "killed by signal 11 (SIGSEGV)".to_string()),
            seconds: 0.1,
            steering: None,
        }
    }

    #[test]
    fn the_curve_grows_with_the_races() {
        let runs = vec![run(1, 1), run(2, 4), run(3, 4)];
        let hunt = Hunt {
            strategy: "pct".to_string(),
            wanted: 9,
            stopped: Stopped::NothingNew,
            runs,
            deadlocks: vec![],
        };
        let mut page = Page::new(Detail::default());
        write(&mut page, &hunt);
        let expected = "
hunt: pct, 3 runs (1 failed or cut short), nothing new in the last 1; the last
  new race came in run 2
     4 ┤ ██
       ┤ ██
       ┤ ██
       ┤███
 races └───
        1 3 runs
  note: run 3 (seed 3): killed by signal 11 (SIGSEGV)
";
        assert_eq!(page.finish(), expected);
    }

    #[test]
    fn many_runs_share_columns() {
        let runs: Vec<HuntRun> = (1..=1000).map(|number| run(number, number)).collect();
        let mut page = Page::new(Detail::default());
        write_curve(&mut page, &runs);
        let text = page.finish();
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{text}");
        assert!(text.contains("  1000 ┤"), "{text}");
    }
}
