//! What the scheduler asks of the recorder of native programs.

use foretell_turns::machine::{Machine, Others};

use crate::allocator;
use crate::functions;
use crate::interpose::cancel;
use crate::system::{catches_signals, each_thread};

/// A process with the C library's threads.
pub(crate) static NATIVE: Machine = Machine {
    keeps_turn: allocator::keeps_turn,
    allows_cancellation: cancel::is_allowed,
    end_cancelled: cancel::end,
    do_cancellable: cancel::anywhere,
    others,
    is_of_library: functions::is_of_library,
};

/// What cannot be found out is taken to be there.
fn others(is_known: &dyn Fn(i32) -> bool, new: usize) -> Others {
    let mut unknown = 0;
    let all = each_thread(|found| unknown += usize::from(!is_known(found)));
    Others { threads: all.is_none() || unknown > new, handlers: catches_signals().unwrap_or(true) }
}
