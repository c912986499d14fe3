//! Schedules as text: `t1*7,t2,main.1*3` lets `t1` take seven steps, `t2` one, and the first thread that `main` started
//! three. A notification may say whom it wakes: `t1>t3`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::Choice;

/// The turns of an execution, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Schedule(pub Vec<Choice>);

/// The longest schedule that a text may describe: few characters can ask for many steps.
const LONGEST: usize = 10_000_000;

/// Why a text is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleError {
    entry: String,
    problem: &'static str,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in the schedule: {}", self.entry, self.problem)
    }
}

impl std::error::Error for ScheduleError {}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.thread)?;
        match &self.wake {
            Some(wake) => write!(f, ">{wake}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, run) in self.0.chunk_by(|a, b| a == b).enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match run {
                [once] => write!(f, "{comma}{once}")?,
                [first, ..] => write!(f, "{comma}{first}*{}", run.len())?,
                [] => {}
            }
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    /// Space around entries does not matter, nor does a comma at the end.
    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut choices = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let wrong = |problem| ScheduleError { entry: entry.to_owned(), problem };
            let (choice, times) = parse_entry(entry).map_err(wrong)?;
            if times > LONGEST - choices.len() {
                return Err(wrong("the schedule becomes too long"));
            }
            choices.resize(choices.len() + times, choice);
        }
        Ok(Schedule(choices))
    }
}

fn parse_entry(entry: &str) -> Result<(Choice, usize), &'static str> {
    let (turn, times) = match entry.split_once('*') {
        Some((turn, times)) => {
            (turn, times.trim().parse().map_err(|_| "expected a number of steps after `*`")?)
        }
        None => (entry, 1),
    };
    let (thread, wake) = match turn.split_once('>') {
        Some((thread, wake)) => (thread, Some(parse_name(wake)?)),
        None => (turn, None),
    };
    Ok((Choice { thread: parse_name(thread)?, wake }, times))
}

fn parse_name(name: &str) -> Result<Arc<str>, &'static str> {
    let name = name.trim();
    let is_name_char = |char: char| char.is_alphanumeric() || char == '_' || char == '.';
    if !name.is_empty() && name.chars().all(is_name_char) {
        Ok(name.into())
    } else {
        Err("expected the name of a thread")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_survive_a_round_trip() {
        for text in ["", "t1", "t1*7,t2,main.1*3", "t1>t3,t1>t2*2,t1", "a.1.12>b_2"] {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!(schedule.to_string(), text);
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
        assert_eq!("t1, t1 ,t2*2,".parse::<Schedule>().unwrap().to_string(), "t1*2,t2*2");
        assert_eq!("t1*0,t2".parse::<Schedule>().unwrap().to_string(), "t2");
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for (text, message) in [
            ("t1*x", "`t1*x` in the schedule: expected a number of steps after `*`"),
            ("t1,>t2", "`>t2` in the schedule: expected the name of a thread"),
            ("t1>", "`t1>` in the schedule: expected the name of a thread"),
            ("t 1", "`t 1` in the schedule: expected the name of a thread"),
            ("t1*99999999", "`t1*99999999` in the schedule: the schedule becomes too long"),
        ] {
            assert_eq!(text.parse::<Schedule>().unwrap_err().to_string(), message);
        }
    }
}
