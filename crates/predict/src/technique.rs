//! The techniques by name, and what each promises.

use foretell_detect::Detector;
use foretell_detect::cp::Cp;
use foretell_detect::dco::Dco;
use foretell_detect::fasttrack::FastTrack;
use foretell_detect::hb::Hb;
use foretell_detect::lockset::LockSet;
use foretell_detect::shb::Shb;
use foretell_detect::syncp::SyncP;
use foretell_detect::wcp::Wcp;

/// A way to find races.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Technique {
    /// FastTrack.
    FastTrack,
    /// Happens-before.
    Hb,
    /// Schedulable happens-before.
    Shb,
    /// Causally-precedes.
    Cp,
    /// Weak causally-precedes.
    Wcp,
    /// Datarace causal order.
    Dco,
    /// Disjoint lock sets, not ordered by must-happen-before.
    Lockset,
    /// Sync-preserving races.
    SyncP,
    /// Same-write reads, decided by closure as published.
    M2,
    /// Same-write reads before a branch, decided by closure.
    SeqCheck,
    /// Same-write reads, exactly.
    Rf,
    /// Same-value reads in reorderings of the whole trace.
    Said,
    /// The maximal causal model: same-value reads, exactly.
    Mcm,
    /// Same-value reads before a branch, exactly.
    Rv,
    /// Same-write reads where they matter, decided by closure.
    ReconP,
    /// Same-value reads where they matter, exactly.
    RvNre,
    /// Reads that see whatever lets decisions and addresses stay the same, exactly.
    Recipe,
}

/// What the reports of a technique are worth before anybody has looked at them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guarantee {
    /// Every report is a race, and the technique has a proof for each.
    EveryReport,
    /// The first report is a race; the others are candidates, each of which may turn out to have a proof.
    FirstReport,
    /// Reports are candidates, and the technique has no proof for any.
    None,
}

impl Technique {
    /// All techniques, the cheap and weak ones first.
    pub const ALL: [Technique; 17] = [
        Technique::FastTrack,
        Technique::Hb,
        Technique::Shb,
        Technique::Cp,
        Technique::Wcp,
        Technique::Dco,
        Technique::Lockset,
        Technique::SyncP,
        Technique::M2,
        Technique::SeqCheck,
        Technique::Rf,
        Technique::Said,
        Technique::Mcm,
        Technique::Rv,
        Technique::ReconP,
        Technique::RvNre,
        Technique::Recipe,
    ];

    /// The techniques that together make `auto`: all sound ones, the cheap ones first. Where a trace does not tell which reads
    /// matter to what, [`Technique::RvNre`] is [`Technique::Rv`]; where it does not tell how values are computed, [`Technique::Recipe`] adds nothing.
    pub const AUTO: [Technique; 4] = [Technique::Shb, Technique::SyncP, Technique::RvNre, Technique::Recipe];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Technique::FastTrack => "fasttrack",
            Technique::Hb => "hb",
            Technique::Shb => "shb",
            Technique::Cp => "cp",
            Technique::Wcp => "wcp",
            Technique::Dco => "dco",
            Technique::Lockset => "lockset",
            Technique::SyncP => "syncp",
            Technique::M2 => "m2",
            Technique::SeqCheck => "seqcheck",
            Technique::Rf => "rf",
            Technique::Said => "said",
            Technique::Mcm => "mcm",
            Technique::Rv => "rv",
            Technique::ReconP => "reconp",
            Technique::RvNre => "rv-nre",
            Technique::Recipe => "recipe",
        }
    }

    /// The technique with this name.
    pub fn from_name(name: &str) -> Option<Technique> {
        Technique::ALL.into_iter().find(|technique| technique.name() == name)
    }

    /// One line for people who choose between techniques.
    pub fn summary(self) -> &'static str {
        match self {
            Technique::FastTrack => {
                "happens-before with epochs: fastest, reports the first race of a variable"
            }
            Technique::Hb => "happens-before: all pairs that the observed synchronisation leaves unordered",
            Technique::Shb => "schedulable happens-before: like hb, but every report is a race",
            Technique::Cp => "causally-precedes: ignores some lock orders; candidates only",
            Technique::Wcp => "weak causally-precedes: ignores more lock orders; candidates only",
            Technique::Dco => "datarace causal order of the maximal causal model paper; candidates only",
            Technique::Lockset => "disjoint lock sets: misses nothing, mostly false; candidates only",
            Technique::SyncP => {
                "sync-preserving races: skips critical sections that the race does not need; every report is a race"
            }
            Technique::M2 => "every read sees the same write; closure as published, may miss races",
            Technique::SeqCheck => "reads before a branch see the same write; closure, may miss races",
            Technique::Rf => "every read sees the same write; exact",
            Technique::Said => "every read of the whole trace sees the same value; reorderings of all events",
            Technique::Mcm => "every earlier read sees the same value (maximal causal model); exact",
            Technique::Rv => "every read before a branch sees the same value (RVPredict's model); exact",
            Technique::ReconP => {
                "like seqcheck, but reads that the race does not depend on are not pinned; closure"
            }
            Technique::RvNre => "like rv, but reads that the race does not depend on are not pinned; exact",
            Technique::Recipe => "reads may see any values that satisfy the path constraints (RECIPE); exact",
        }
    }

    /// What a report is worth.
    pub fn guarantee(self) -> Guarantee {
        match self {
            Technique::Shb
            | Technique::SyncP
            | Technique::M2
            | Technique::SeqCheck
            | Technique::Rf
            | Technique::Said
            | Technique::Mcm
            | Technique::Rv
            | Technique::ReconP
            | Technique::RvNre
            | Technique::Recipe => Guarantee::EveryReport,
            Technique::FastTrack | Technique::Hb => Guarantee::FirstReport,
            Technique::Cp | Technique::Wcp | Technique::Dco | Technique::Lockset => Guarantee::None,
        }
    }

    /// Whether the technique takes candidates one at a time; it has no detector then, but a
    /// [`crate::predictor::Predictor`].
    pub fn decides_pairs(self) -> bool {
        self.detector().is_none()
    }

    /// A detector at the beginning of a trace, if the technique looks at each event once.
    pub fn detector(self) -> Option<Box<dyn Detector>> {
        Some(match self {
            Technique::FastTrack => Box::<FastTrack>::default(),
            Technique::Hb => Box::<Hb>::default(),
            Technique::Shb => Box::<Shb>::default(),
            Technique::Cp => Box::<Cp>::default(),
            Technique::Wcp => Box::<Wcp>::default(),
            Technique::Dco => Box::<Dco>::default(),
            Technique::Lockset => Box::<LockSet>::default(),
            Technique::SyncP => Box::<SyncP>::default(),
            Technique::M2
            | Technique::SeqCheck
            | Technique::Rf
            | Technique::Said
            | Technique::Mcm
            | Technique::Rv
            | Technique::ReconP
            | Technique::RvNre
            | Technique::Recipe => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found_again() {
        for technique in Technique::ALL {
            assert_eq!(Technique::from_name(technique.name()), Some(technique));
        }
        assert_eq!(Technique::from_name("nothing"), None);
    }
}
