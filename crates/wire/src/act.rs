//! What a call does with an object that threads synchronise by, as models of library functions state it and as the
//! runtime records it.

macro_rules! acts {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// What a call does with an object that threads synchronise by.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Act { $($(#[$doc])* $name = $code,)* }

        impl Act {
            /// The one with this code.
            pub fn from_code(code: u64) -> Option<Act> {
                match code {
                    $($code => Some(Act::$name),)*
                    _ => None,
                }
            }
        }
    };
}

acts! {
    /// Takes the lock alone.
    Lock = 0,
    /// Takes the lock together with other readers.
    LockShared = 1,
    /// Gives the lock up, however it was held.
    Unlock = 2,
    /// Waits for the condition, and gives up a lock meanwhile.
    Wait = 3,
    /// Wakes one waiter of the condition.
    Wake = 4,
    /// Wakes all waiters of the condition.
    WakeAll = 5,
    /// Gives a permit to the semaphore.
    Post = 6,
    /// Takes a permit of the semaphore.
    Take = 7,
    /// Passes on what the thread has done so far, to those who receive from the object later.
    Send = 8,
    /// Receives what was sent to the object.
    Receive = 9,
    /// Keeps its order among all calls that are about the object.
    Order = 10,
    /// Does something once, or waits until it is done: the object is a word that is zero before.
    Once = 11,
    /// Reads a word of the program atomically, to acquire.
    Load = 12,
    /// Writes a word of the program atomically, to release.
    Store = 13,
}

/// What a call says that has done what it might not have done: who takes a lock in this way does not wait for it
/// without end.
pub const MIGHT_NOT_HAVE: u64 = 2;

/// In the number of a channel: functions that the library calls back by way of it may be about I/O of other threads.
const IO: u64 = 1 << u32::BITS;

/// How hooks name the channel with this number.
pub fn channel(number: u32, does_io: bool) -> u64 {
    u64::from(number) | if does_io { IO } else { 0 }
}

/// The number of the channel, and whether functions that are called back by way of it may be about I/O.
pub fn channel_of(code: u64) -> (u64, bool) {
    (code & (IO - 1), code & IO != 0)
}

impl Act {
    /// Whether it takes effect before the function is called. Otherwise it does once the function has returned.
    pub fn is_early(self) -> bool {
        matches!(self, Act::Unlock | Act::Wake | Act::WakeAll | Act::Post | Act::Send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back() {
        for code in 0..=13 {
            assert_eq!(Act::from_code(code).map(|act| act as u64), Some(code));
        }
        assert_eq!(Act::from_code(14), None);
        assert!(Act::Unlock.is_early() && !Act::Lock.is_early());
        for (number, does_io) in [(0, true), (7, false), (u32::MAX, true)] {
            assert_eq!(channel_of(channel(number, does_io)), (number.into(), does_io));
        }
    }
}
