//! What was asked.

use std::time::Duration;

use foretell_detect::Pairs;
use foretell_predict::Technique;

/// Which techniques are to be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// All sound techniques together, the cheap ones first.
    Auto,
    /// One technique.
    One(Technique),
}

impl Choice {
    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Choice::Auto => "auto",
            Choice::One(technique) => technique.name(),
        }
    }

    /// The choice with this name.
    pub fn from_name(name: &str) -> Option<Choice> {
        if name == Choice::Auto.name() {
            return Some(Choice::Auto);
        }
        Technique::from_name(name).map(Choice::One)
    }

    /// The technique that decides what is no race, if there is one.
    pub fn decides_goals_by(self) -> Option<Technique> {
        match self {
            Choice::Auto => Some(Technique::RvNre),
            Choice::One(technique) => Some(technique).filter(|technique| technique.decides_goals()),
        }
    }

    /// The techniques to run, one after the other.
    pub fn stages(self) -> Vec<Technique> {
        match self {
            Choice::Auto => Technique::AUTO.to_vec(),
            Choice::One(technique) => vec![technique],
        }
    }
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Find {
    /// Pairs of accesses that can come next to each other.
    pub races: bool,
    /// Threads that can come to wait for each other for ever.
    pub deadlocks: bool,
    /// Memory that can come to be used after it has been given back.
    pub memory: bool,
    /// Deadlocks may take as long as the plan allows. Otherwise the search for them is bounded by the time that all
    /// else has taken, and what it leaves open is only counted.
    pub patiently: bool,
}

impl Find {
    /// Races alone.
    pub const RACES: Find = Find { races: true, deadlocks: false, memory: false, patiently: false };

    /// What is looked for unless the user chooses: races, and deadlocks as time allows if the technique proves them.
    pub fn usual(choice: Choice) -> Find {
        Find { deadlocks: choice.decides_goals_by().is_some(), ..Find::RACES }
    }
}

/// What is to be done with a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Which techniques are to be run.
    pub choice: Choice,
    /// What is looked for.
    pub find: Find,
    /// One race per pair of program locations, or every pair of events.
    pub pairs: Pairs,
    /// How many steps of witnesses are kept in all.
    pub witness_steps: usize,
    /// How many races, and how many undecided pairs, the result may hold.
    pub max_races: usize,
    /// How many events a schedule may rearrange in one piece, if not all.
    pub window: Option<usize>,
    /// How long one pair may take.
    pub budget: Duration,
    /// How long everything together may take, if there is a limit. The [`Control`](crate::Control) enforces it.
    pub time_limit: Option<Duration>,
    /// Whether untaken branches are followed, where the input knows any.
    pub untaken_branches: bool,
    /// How many pairs to work on at the same time.
    pub jobs: usize,
    /// How many bytes of memory may be used for deciding pairs, if not what the control says is available.
    pub memory: Option<u64>,
}

impl Default for Plan {
    /// The defaults of `foretell predict`, but with one job and without a time limit.
    fn default() -> Plan {
        Plan {
            choice: Choice::Auto,
            find: Find::usual(Choice::Auto),
            pairs: Pairs::ByLocation,
            witness_steps: 1_000_000,
            max_races: 100_000,
            window: None,
            budget: Duration::from_secs(60),
            time_limit: None,
            untaken_branches: true,
            jobs: 1,
            memory: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_found_by_their_names() {
        for choice in Technique::ALL.map(Choice::One).into_iter().chain([Choice::Auto]) {
            assert_eq!(Choice::from_name(choice.name()), Some(choice));
        }
        assert_eq!(Choice::from_name("nothing"), None);
    }
}
