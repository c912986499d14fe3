//! Whether the program itself was driven into a race or a deadlock, and what that looked like.

use serde::{Deserialize, Serialize};

use crate::deadlock::WaitingThread;
use crate::report::{Proof, Race, RacingAccess};

/// What came of the attempt to drive the program into a race or a deadlock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Confirmation {
    /// Both threads were held at their accesses at the same time, and made them one after the other; or all threads of
    /// the deadlock waited, each for the next.
    pub confirmed: bool,
    /// Why not, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The accesses as the program made them then, in that order; absent where only the program's virtual machine was
    /// driven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub live: Vec<RacingAccess>,
    /// Other steps may have come between the two: the first gave memory back that the second used later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// The threads as they waited then, in the order of the circle; absent for races, and where only the program's
    /// virtual machine was driven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingThread>,
}

impl Confirmation {
    /// The program made these accesses.
    pub fn of(live: [RacingAccess; 2]) -> Confirmation {
        Confirmation { live: live.into(), ..Confirmation::of_machine() }
    }

    /// The program freed memory and used it later.
    pub fn of_use(live: [RacingAccess; 2]) -> Confirmation {
        Confirmation { apart: true, ..Confirmation::of(live) }
    }

    /// The program's threads waited like this.
    pub fn stuck(waiting: Vec<WaitingThread>) -> Confirmation {
        Confirmation { waiting, ..Confirmation::of_machine() }
    }

    /// A virtual machine was driven there.
    pub fn of_machine() -> Confirmation {
        Confirmation { confirmed: true, why: None, live: Vec::new(), apart: false, waiting: Vec::new() }
    }

    /// The program was not driven there, for this reason.
    pub fn not(why: impl Into<String>) -> Confirmation {
        Confirmation { confirmed: false, why: Some(why.into()), ..Confirmation::of_machine() }
    }
}

/// Why a race comes without a schedule that its program could follow.
pub fn why_no_schedule(race: &Race) -> &'static str {
    match race.proof {
        Proof::Unordered => {
            "ordered by values; proven from the observed run: no schedule makes the two accesses adjacent"
        }
        Proof::Adjacent if race.is_witness_left_out() => {
            "the witness was too long to be kept (--witness all keeps it)"
        }
        Proof::Adjacent => "the trace has no step counts",
    }
}

/// The same for a deadlock or a violation with this witness.
pub fn why_no_schedule_of(witness: Option<&Vec<u32>>) -> &'static str {
    match witness {
        None => "the witness was too long to be kept (--witness all keeps it)",
        Some(_) => "the trace has no step counts",
    }
}
