//! Why the same seed may give another run: what happened next depended on real time.

/// What made the run depend on real time first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// The thread ran uninstrumented code for long, or was blocked there, and others continued without it.
    Overtaken,
    /// The thread came back from a blocking call while others went on.
    CameBack,
    /// The thread waited for what uninstrumented threads, other processes or handlers of signals may give up.
    Unseen,
    /// A handler of a signal kept the thread from going on.
    Handler,
    /// The thread had ended, and was still there.
    Ending,
    /// The thread called `exit`, and the others were not done in time.
    Exit,
}

const ALL: [Timing; 6] =
    [Timing::Overtaken, Timing::CameBack, Timing::Unseen, Timing::Handler, Timing::Ending, Timing::Exit];

impl Timing {
    /// The number for it, with that of the thread; not zero.
    pub fn code(self, thread: u32) -> u64 {
        u64::from(thread) << 32 | (self as u64 + 1)
    }

    /// What the number stands for, if anything.
    pub fn from_code(code: u64) -> Option<(Timing, u32)> {
        let (thread, kind) = (u32::try_from(code >> 32).ok()?, code & u64::from(u32::MAX));
        ALL.into_iter().find(|&timing| timing as u64 + 1 == kind).map(|timing| (timing, thread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_back() {
        for timing in ALL {
            assert_eq!(Timing::from_code(timing.code(7)), Some((timing, 7)));
        }
        assert_eq!([0, 7, 7 << 32].map(Timing::from_code), [None; 3]);
    }
}
