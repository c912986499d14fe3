//! The techniques: one table, with one row for each.
//!
//! A row says what a technique is called, where it was published, what its reports are worth, and how it works. All
//! else (lists, names, help, detectors, schedulers, pinned reads) is derived from the table. A new technique is a new
//! row.

use foretell_detect::Detector;
use foretell_detect::cp::Cp;
use foretell_detect::dco::Dco;
use foretell_detect::fasttrack::FastTrack;
use foretell_detect::hb::Hb;
use foretell_detect::lockset::LockSet;
use foretell_detect::shb::Shb;
use foretell_detect::syncp::SyncP;
use foretell_detect::wcp::Wcp;
use foretell_trace::{Model, Trace};

use self::Decider::{Closure, Complete, Exact};
use self::Guarantee::{EveryReport, FirstReport};
use self::ProofKind::{HappensBefore, SyncPreserving};

/// Declares the techniques and their table. The cheap and weak ones come first.
macro_rules! techniques {
    ($($technique:ident {
        name: $name:literal,
        paper: $paper:literal,
        guarantee: $guarantee:expr,
        method: $method:expr,
        summary: $summary:literal,
    })+) => {
        /// A way to find races.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Technique {
            $(#[doc = concat!("`", $name, "`: ", $summary, ". ", $paper, ".")] $technique,)+
        }

        impl Technique {
            /// All techniques, the cheap and weak ones first.
            pub const ALL: [Technique; TABLE.len()] = [$(Technique::$technique,)+];
        }

        /// In the order of the techniques.
        const TABLE: &[TechniqueRow] = &[$(TechniqueRow {
            name: $name,
            paper: $paper,
            guarantee: $guarantee,
            method: $method,
            summary: $summary,
        },)+];
    };
}

techniques! {
    FastTrack {
        name: "fasttrack",
        paper: "Flanagan, Freund, PLDI 2009",
        guarantee: FirstReport,
        method: stream::<FastTrack>(Some(HappensBefore)),
        summary: "happens-before with epochs: fastest, reports the first race of a variable",
    }
    Hb {
        name: "hb",
        paper: "Lamport, CACM 1978",
        guarantee: FirstReport,
        method: stream::<Hb>(Some(HappensBefore)),
        summary: "happens-before: all pairs that the observed synchronisation leaves unordered",
    }
    Shb {
        name: "shb",
        paper: "Mathur, Kini, Viswanathan, OOPSLA 2018",
        guarantee: EveryReport,
        method: stream::<Shb>(Some(HappensBefore)),
        summary: "schedulable happens-before: like hb, but every report is a race",
    }
    Cp {
        name: "cp",
        paper: "Smaragdakis, Evans, Sadowski, Yi, Flanagan, POPL 2012",
        guarantee: Guarantee::None,
        method: stream::<Cp>(None),
        summary: "causally-precedes: ignores some lock orders; candidates only",
    }
    Wcp {
        name: "wcp",
        paper: "Kini, Mathur, Viswanathan, PLDI 2017",
        guarantee: Guarantee::None,
        method: stream::<Wcp>(None),
        summary: "weak causally-precedes: ignores more lock orders; candidates only",
    }
    Dco {
        name: "dco",
        paper: "Serbanuta, Chen, Rosu, RV 2012",
        guarantee: Guarantee::None,
        method: stream::<Dco>(None),
        summary: "datarace causal order of the maximal causal model paper; candidates only",
    }
    Lockset {
        name: "lockset",
        paper: "O'Callahan, Choi, PPoPP 2003",
        guarantee: Guarantee::None,
        method: stream::<LockSet>(None),
        summary: "disjoint lock sets: misses nothing, mostly false; candidates only",
    }
    SyncP {
        name: "syncp",
        paper: "Mathur, Pavlogiannis, Viswanathan, POPL 2021",
        guarantee: EveryReport,
        method: stream::<SyncP>(Some(SyncPreserving)),
        summary: "skips critical sections that the race does not need; every report is a race",
    }
    M2 {
        name: "m2",
        paper: "Pavlogiannis, POPL 2020",
        guarantee: EveryReport,
        method: pairs(Pinned::Every, Sees::SameWrite, Closure),
        summary: "every read sees the same write; closure as published, may miss races",
    }
    SeqCheck {
        name: "seqcheck",
        paper: "Cai, Yun, Wang, Qiao, Palsberg, FSE 2021",
        guarantee: EveryReport,
        method: pairs(Pinned::BeforeBranches, Sees::SameWrite, Closure),
        summary: "reads before a branch see the same write; closure, may miss races",
    }
    Rf {
        name: "rf",
        paper: "the model of m2, decided exactly",
        guarantee: EveryReport,
        method: pairs(Pinned::Every, Sees::SameWrite, Exact),
        summary: "every read sees the same write; exact",
    }
    Said {
        name: "said",
        paper: "Said, Wang, Yang, Sakallah, NFM 2011",
        guarantee: EveryReport,
        method: pairs(Pinned::Every, Sees::SameValue, Complete),
        summary: "every read of the whole trace sees the same value; reorderings of all events",
    }
    Mcm {
        name: "mcm",
        paper: "Serbanuta, Chen, Rosu, RV 2012",
        guarantee: EveryReport,
        method: pairs(Pinned::Every, Sees::SameValue, Exact),
        summary: "every earlier read sees the same value (maximal causal model); exact",
    }
    Rv {
        name: "rv",
        paper: "Huang, Meredith, Rosu, PLDI 2014",
        guarantee: EveryReport,
        method: pairs(Pinned::BeforeBranches, Sees::SameValue, Exact),
        summary: "every read before a branch sees the same value (RVPredict's model); exact",
    }
    ReconP {
        name: "reconp",
        paper: "ReconP's necessary reads",
        guarantee: EveryReport,
        method: pairs(Pinned::Necessary, Sees::SameWrite, Closure),
        summary: "like seqcheck, but pins only reads that the race depends on; closure",
    }
    RvNre {
        name: "rv-nre",
        paper: "ReconP's necessary reads in the model of rv",
        guarantee: EveryReport,
        method: pairs(Pinned::Necessary, Sees::SameValue, Exact),
        summary: "like rv, but pins only reads that the race depends on; exact",
    }
    Recipe {
        name: "recipe",
        paper: "RECIPE",
        guarantee: EveryReport,
        method: pairs(Pinned::ByPathConstraints, Sees::SameValue, Exact),
        summary: "reads may see any values that satisfy the path constraints (RECIPE); exact",
    }
}

/// What the table says of one technique.
#[derive(Debug)]
struct TechniqueRow {
    name: &'static str,
    paper: &'static str,
    guarantee: Guarantee,
    method: Method,
    summary: &'static str,
}

/// What the reports of a technique are worth before the referee has seen them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guarantee {
    /// Every report is a race, and the technique has a proof for each.
    EveryReport,
    /// The first report is a race; the others are candidates, each of which may turn out to have a proof.
    FirstReport,
    /// Reports are candidates, and the technique has no proof for any.
    None,
}

/// How a technique works.
#[derive(Clone, Copy, Debug)]
enum Method {
    /// A detector looks at each event once and reports pairs.
    Stream { detector: fn() -> Box<dyn Detector>, proof: Option<ProofKind> },
    /// A [`crate::predictor::Predictor`] decides candidates one at a time.
    Pairs { pinned: Pinned, sees: Sees, decider: Decider },
}

/// The schedules by which a detector proves what it reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProofKind {
    /// What happens-before needs, in the observed order.
    HappensBefore,
    /// What a sync-preserving reordering needs, in the observed order.
    SyncPreserving,
}

/// Which reads are pinned.
#[derive(Clone, Copy, Debug)]
enum Pinned {
    /// All that run.
    Every,
    /// Those before a branch of their thread; all where the trace shows no branch.
    BeforeBranches,
    /// Those that the trace knows to matter; as [`Pinned::BeforeBranches`] where it does not tell.
    Necessary,
    /// None, as long as path constraints hold; as [`Pinned::Necessary`] where the trace does not tell how values are
    /// computed.
    ByPathConstraints,
}

/// What a pinned read sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sees {
    SameWrite,
    SameValue,
}

/// How a pair is decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decider {
    /// Closure, then a search where it leaves something open.
    Exact,
    /// The same, for reorderings of all events.
    Complete,
    /// Closure and a linearisation, as published for M2.
    Closure,
}

/// Which reads are pinned in one trace, to what, and how pairs are decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PinningStrategy {
    pub(crate) model: Model,
    pub(crate) same_write: bool,
    pub(crate) decider: Decider,
}

const fn stream<D: Detector + Default + 'static>(proof: Option<ProofKind>) -> Method {
    Method::Stream { detector: || Box::<D>::default(), proof }
}

const fn pairs(pinned: Pinned, sees: Sees, decider: Decider) -> Method {
    Method::Pairs { pinned, sees, decider }
}

impl Technique {
    /// The techniques that together make `auto`: all sound ones, the cheap ones first. Where a trace does not tell
    /// which reads matter to what, [`Technique::RvNre`] is [`Technique::Rv`]; where it does not tell how values are
    /// computed, [`Technique::Recipe`] adds nothing.
    pub const AUTO: [Technique; 4] = [Technique::Shb, Technique::SyncP, Technique::RvNre, Technique::Recipe];

    fn row(self) -> &'static TechniqueRow {
        &TABLE[self as usize]
    }

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The technique with this name.
    pub fn from_name(name: &str) -> Option<Technique> {
        Technique::ALL.into_iter().find(|technique| technique.name() == name)
    }

    /// Where the technique was published.
    pub fn paper(self) -> &'static str {
        self.row().paper
    }

    /// One line for people who choose between techniques.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// What a report is worth.
    pub fn guarantee(self) -> Guarantee {
        self.row().guarantee
    }

    /// Whether the technique takes candidates one at a time; it has no detector then, but a
    /// [`crate::predictor::Predictor`].
    pub fn decides_pairs(self) -> bool {
        matches!(self.row().method, Method::Pairs { .. })
    }

    /// Whether it decides other goals than races, too: those that decide pairs exactly do.
    pub fn decides_goals(self) -> bool {
        matches!(self.row().method, Method::Pairs { decider: Exact, .. })
    }

    /// A detector at the beginning of a trace, if the technique looks at each event once.
    pub fn detector(self) -> Option<Box<dyn Detector>> {
        match self.row().method {
            Method::Stream { detector, .. } => Some(detector()),
            Method::Pairs { .. } => None,
        }
    }

    /// How a detector's reports are proven, if they can be.
    pub(crate) fn proof(self) -> Option<ProofKind> {
        match self.row().method {
            Method::Stream { proof, .. } => proof,
            Method::Pairs { .. } => None,
        }
    }

    /// How pairs of the trace are decided, if the technique does so.
    pub(crate) fn strategy(self, trace: &Trace) -> Option<PinningStrategy> {
        let Method::Pairs { pinned, sees, decider } = self.row().method else { return None };
        let same_write = sees == Sees::SameWrite;
        Some(PinningStrategy { model: pinned.model(same_write, trace), same_write, decider })
    }
}

impl Pinned {
    /// The model that the trace has enough information for.
    fn model(self, same_write: bool, trace: &Trace) -> Model {
        match self {
            Pinned::Every if same_write => Model::SameWrite,
            Pinned::ByPathConstraints if trace.values().is_some() => Model::Values,
            Pinned::ByPathConstraints | Pinned::Necessary if trace.dependence().is_some() => Model::Necessary,
            Pinned::ByPathConstraints | Pinned::Necessary | Pinned::BeforeBranches
                if trace.has_branches() =>
            {
                Model::ControlFlow
            }
            Pinned::Every | Pinned::ByPathConstraints | Pinned::Necessary | Pinned::BeforeBranches => {
                Model::SameValue
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found_again() {
        for technique in Technique::ALL {
            assert_eq!(Technique::from_name(technique.name()), Some(technique));
            assert!(!technique.paper().is_empty() && !technique.summary().is_empty());
        }
        assert_eq!(Technique::from_name("nothing"), None);
    }

    #[test]
    fn what_proves_every_report_decides_pairs_or_has_a_schedule() {
        for technique in Technique::ALL {
            let proves = technique.decides_pairs() || technique.proof().is_some();
            assert_eq!(proves, technique.guarantee() != Guarantee::None, "{}", technique.name());
            assert_eq!(technique.decides_pairs(), technique.detector().is_none());
        }
    }
}
