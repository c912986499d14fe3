//! Synchronisation that a library is built on atomics and futexes for, seen as what it means: locks as locks.
//!
//! The compiler pass knows such code by the names of its functions. Two kinds of hooks stand in it:
//!
//! | hook | C signature |
//! |---|---|
//! | [`WORD_LOAD`]N | `u64 (site, addr, u32 role, u64 held, u64 blocked)` |
//! | [`WORD_STORE`]N | `void (site, addr, u64 value, u32 role)` |
//! | [`WORD_RMW`]N | `u64 (site, addr, u64 operand, u32 update, u32 role)` |
//! | [`WORD_CMPXCHG`]N | `u64 (site, addr, u64 expected, u64 desired, u32 role, u64 held)` |
//! | [`BEGIN`] | `u64 (site, u32 primitive, object, u64 other)`: a function of the library is called that tells nothing itself |
//! | [`END`] | `void (site, u32 primitive, object, u64 other, u64 entered, u64 result)`: the thread is back from it |
//!
//! The first four perform an access to the word that a primitive keeps its state in. `N` is 1, 2, 4 or 8 bytes.

/// A load of a primitive's word.
pub const WORD_LOAD: &str = "__foretell_word_load";
/// A store to a primitive's word.
pub const WORD_STORE: &str = "__foretell_word_store";
/// A read-modify-write of a primitive's word.
pub const WORD_RMW: &str = "__foretell_word_rmw";
/// A compare-exchange of a primitive's word.
pub const WORD_CMPXCHG: &str = "__foretell_word_cmpxchg";
/// A call of a function that is a primitive, or part of one.
pub const BEGIN: &str = "__foretell_begin";
/// Back from such a call, be it by an exception.
pub const END: &str = "__foretell_end";

macro_rules! codes {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $name:ident = $code:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum $kind { $($(#[$doc])* $name = $code,)* }

        impl $kind {
            /// The one with this code.
            pub fn from_code(code: u32) -> Option<$kind> {
                match code {
                    $($code => Some($kind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// What a change of a primitive's word means. A load means nothing, unless the role says so.
    Role {
        /// Nothing: other code tells what happens.
        Silent = 0,
        /// The thread that changes the word has the lock; who fails goes on to wait.
        Lock = 1,
        /// As [`Role::Lock`], together with other readers.
        LockShared = 2,
        /// The thread that changes the word has the lock; who fails gives up. It is held if the word has one of the
        /// bits `held`.
        TryLock = 3,
        /// As [`Role::TryLock`], together with other readers. It is held by a thread alone if the word has all of the
        /// bits `held`; a word with one of the bits `blocked` keeps readers out for another reason.
        TryLockShared = 4,
        /// The thread that changes the word has given the lock up; who fails goes on to do so otherwise.
        Unlock = 5,
        /// The thread that changes the word had the lock alone, and now shares it.
        Downgrade = 6,
        /// A mark that a thread has failed while it held the lock: hardly ever set.
        Poison = 7,
        /// Whether something is done that is done once. The bits `held` of the word tell: before, they are as in
        /// `blocked`.
        Done = 8,
        /// Gives a thread the token with which it returns from its park.
        Unpark = 9,
        /// Something that is not known, to the word of a lock: nothing may be reordered around it.
        Fence = 10,
        /// How many threads of a scope have not ended. The thread that finds none goes on after all of them.
        Scope = 11,
        /// A thread gives up its result, which is the last thing that it does for others.
        Retire = 12,
        /// As [`Role::LockShared`], and no other thread may hold the lock in this way.
        LockUpgradable = 13,
        /// The thread that changes the word has given up what [`Role::LockUpgradable`] took.
        UnlockUpgradable = 14,
        /// The thread that changes the word and finds no other reader, which the bits above the lowest four count,
        /// had the lock as by [`Role::LockUpgradable`] and now has it alone; who finds one goes on to wait.
        Upgrade = 15,
        /// The thread that changes the word had the lock as by [`Role::LockUpgradable`], and now just shares it.
        StayShared = 16,
        /// The thread that changes the word had the lock alone, and now has it as by [`Role::LockUpgradable`].
        DowngradeToUpgradable = 17,
        /// As [`Role::Lock`], but who fails waits no longer than until a deadline, if at all.
        LockInTime = 18,
        /// As [`Role::LockShared`], with a deadline.
        LockSharedInTime = 19,
        /// As [`Role::LockUpgradable`], with a deadline.
        LockUpgradableInTime = 20,
        /// As [`Role::Upgrade`], with a deadline.
        UpgradeInTime = 21,
    }
}

codes! {
    /// What a called function of a library does.
    Primitive {
        /// It only waits or wakes; what that is for is recorded elsewhere.
        Silent = 0,
        /// Afterwards the thread holds the lock (object).
        Lock = 1,
        /// Afterwards the thread holds the lock together with other readers.
        LockShared = 2,
        /// As [`Primitive::Lock`] if the result is true, otherwise it could not have the lock in time.
        TryLock = 3,
        /// As [`Primitive::LockShared`] if the result is true.
        TryLockShared = 4,
        /// Gives the lock up.
        Unlock = 5,
        /// Waits for the condition (object), and gives up the lock (other) meanwhile.
        Wait = 6,
        /// Wakes one waiter of the condition.
        Notify = 7,
        /// Wakes all waiters of the condition.
        NotifyAll = 8,
        /// Does what is done once, or waits for it. The object is its word of 4 bytes, which was `other` before.
        Once = 9,
        /// Waits at a barrier.
        Barrier = 10,
        /// Waits for the token of this thread.
        Park = 11,
        /// A scope (object) has one more thread, whose end it will wait for.
        ScopeGrows = 12,
        /// Does something under a lock that it takes and gives up itself (object: any number that stands for it).
        Within = 13,
        /// Reads so many bytes (other) at the object, and writes them.
        Change = 14,
        /// Starts a thread. What that runs first is the library's, calls the program's function, and touches none of
        /// its memory but what was made for the new thread.
        Spawn = 15,
        /// Asks the clock.
        Clock = 16,
        /// A thread of the scope (object) has ended, as far as the scope is concerned.
        ScopeShrinks = 17,
        /// The last who knows of a thread's result drops it. The object is where its address is. If the function that
        /// does it (other) tells nothing itself and the thread has run in a scope, this is also
        /// [`Primitive::ScopeShrinks`].
        DropResult = 18,
        /// As [`Role::LockUpgradable`] if the result is true.
        TryLockUpgradable = 19,
        /// Gives up what [`Role::LockUpgradable`] took.
        UnlockUpgradable = 20,
        /// As [`Role::Upgrade`] if the result is true.
        TryUpgrade = 21,
        /// Drops what the library knows of a thread or of a scope. Which threads knew of it is not recorded, so neither
        /// is that its memory is given back.
        Forget = 22,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back() {
        for code in 0..=21 {
            assert_eq!(Role::from_code(code).map(|role| role as u32), Some(code));
        }
        for code in 0..=22 {
            assert_eq!(Primitive::from_code(code).map(|primitive| primitive as u32), Some(code));
        }
        assert_eq!((Role::from_code(22), Primitive::from_code(23)), (None, None));
    }
}
