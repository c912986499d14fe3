//! Strategies by name.

use std::str::FromStr;

use crate::{Contest, DrFinder, Pct, Pos, Random, Relation, Strategy};

/// The name of a strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name {
    /// [`crate::random`].
    Random,
    /// [`crate::contest`].
    Contest,
    /// [`crate::pct`].
    Pct,
    /// [`crate::pos`].
    Pos,
    /// [`crate::drfinder`].
    DrFinder,
}

impl Name {
    /// All of them, with their text.
    pub const ALL: [(&'static str, Name); 5] = [
        ("random", Name::Random),
        ("contest", Name::Contest),
        ("pct", Name::Pct),
        ("pos", Name::Pos),
        ("drfinder", Name::DrFinder),
    ];

    /// Its text.
    pub fn text(self) -> &'static str {
        Name::ALL.iter().find(|(_, name)| *name == self).map_or("", |(text, _)| text)
    }

    /// What the depth means unless given: ordering constraints of a bug for `pct`, calls for `drfinder`.
    pub fn usual_depth(self) -> u32 {
        match self {
            Name::DrFinder => crate::drfinder::DEPTH,
            Name::Random | Name::Contest | Name::Pct | Name::Pos => 3,
        }
    }
}

impl FromStr for Name {
    type Err = ();

    fn from_str(text: &str) -> Result<Name, ()> {
        Name::ALL.iter().find(|(name, _)| *name == text).map(|&(_, name)| name).ok_or(())
    }
}

/// The parameters of a strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Which one.
    pub name: Name,
    /// What all choices are drawn from.
    pub seed: u64,
    /// See [`Name::usual_depth`].
    pub depth: u32,
    /// About how many picks there will be.
    pub steps: u64,
    /// What the run before has taught.
    pub relation: Relation,
}

impl Plan {
    /// The strategy, ready for one run.
    pub fn strategy(self) -> Box<dyn Strategy + Send> {
        match self.name {
            Name::Random => Box::new(Random::new(self.seed)),
            Name::Contest => Box::new(Contest::new(self.seed)),
            Name::Pct => Box::new(Pct::new(self.seed, self.depth, self.steps)),
            Name::Pos => Box::new(Pos::new(self.seed)),
            Name::DrFinder => Box::new(DrFinder::new(self.seed, self.depth, self.relation)),
        }
    }
}
