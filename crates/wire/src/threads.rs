//! The functions of the C library that are about threads: those of POSIX, of C11, and the scheduler's. Each of them
//! is in exactly one of three lists, and `crates/cli/tests/native/threads.rs` compares these with what the C library
//! exports.

/// The runtime stands in for these: it records what they synchronise, and which memory of the program they read and
/// write.
const MODELLED: &[&str] = &[
    "pthread_create pthread_join pthread_tryjoin_np pthread_timedjoin_np pthread_clockjoin_np pthread_once pthread_yield",
    "pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_clocklock pthread_mutex_unlock",
    "pthread_rwlock_rdlock pthread_rwlock_tryrdlock pthread_rwlock_timedrdlock pthread_rwlock_clockrdlock",
    "pthread_rwlock_wrlock pthread_rwlock_trywrlock pthread_rwlock_timedwrlock pthread_rwlock_clockwrlock",
    "pthread_rwlock_unlock pthread_spin_lock pthread_spin_trylock pthread_spin_unlock",
    "pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_cond_signal pthread_cond_broadcast",
    "pthread_cond_destroy pthread_barrier_init pthread_barrier_wait",
    "sem_init sem_wait sem_trywait sem_timedwait sem_clockwait sem_post sem_getvalue sched_yield",
    "thrd_create thrd_join thrd_sleep thrd_yield mtx_lock mtx_trylock mtx_timedlock mtx_unlock",
    "cnd_wait cnd_timedwait cnd_signal cnd_broadcast cnd_destroy call_once tss_create",
    // What they write is the answer to a question.
    "pthread_key_create pthread_setname_np pthread_getname_np pthread_sigmask pthread_setcancelstate pthread_setcanceltype",
    "pthread_getschedparam pthread_getcpuclockid pthread_getaffinity_np pthread_mutex_getprioceiling",
    "pthread_attr_getaffinity_np pthread_attr_getdetachstate pthread_attr_getguardsize pthread_attr_getinheritsched",
    "pthread_attr_getschedparam pthread_attr_getschedpolicy pthread_attr_getscope pthread_attr_getsigmask_np",
    "pthread_attr_getstack pthread_attr_getstackaddr pthread_attr_getstacksize pthread_barrierattr_getpshared",
    "pthread_condattr_getclock pthread_condattr_getpshared pthread_mutexattr_getkind_np pthread_mutexattr_getprioceiling",
    "pthread_mutexattr_getprotocol pthread_mutexattr_getpshared pthread_mutexattr_getrobust pthread_mutexattr_getrobust_np",
    "pthread_mutexattr_gettype pthread_rwlockattr_getkind_np pthread_rwlockattr_getpshared",
    "sched_getaffinity sched_getparam sched_rr_get_interval",
    "sigemptyset sigfillset sigaddset sigdelset sigismember",
];

/// These touch at most the object that they are given, which is the library's, and tell no other thread anything.
const HARMLESS: &[&str] = &[
    "pthread_self pthread_equal pthread_detach pthread_exit pthread_testcancel pthread_atfork",
    "pthread_getspecific pthread_setspecific pthread_key_delete pthread_getconcurrency pthread_setconcurrency",
    "pthread_setaffinity_np pthread_setschedparam pthread_setschedprio pthread_getattr_np pthread_getattr_default_np",
    "pthread_setattr_default_np pthread_attr_init pthread_attr_destroy pthread_attr_setaffinity_np",
    "pthread_attr_setdetachstate pthread_attr_setguardsize pthread_attr_setinheritsched pthread_attr_setschedparam",
    "pthread_attr_setschedpolicy pthread_attr_setscope pthread_attr_setsigmask_np pthread_attr_setstack",
    "pthread_attr_setstackaddr pthread_attr_setstacksize pthread_barrier_destroy pthread_barrierattr_init",
    "pthread_barrierattr_destroy pthread_barrierattr_setpshared pthread_cond_init pthread_condattr_init",
    "pthread_condattr_destroy pthread_condattr_setclock pthread_condattr_setpshared pthread_mutex_init",
    "pthread_mutex_destroy pthread_mutex_consistent pthread_mutex_consistent_np pthread_mutexattr_init",
    "pthread_mutexattr_destroy pthread_mutexattr_setkind_np pthread_mutexattr_setprioceiling pthread_mutexattr_setprotocol",
    "pthread_mutexattr_setpshared pthread_mutexattr_setrobust pthread_mutexattr_setrobust_np pthread_mutexattr_settype",
    "pthread_rwlock_init pthread_rwlock_destroy pthread_rwlockattr_init pthread_rwlockattr_destroy",
    "pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared pthread_spin_init pthread_spin_destroy sem_destroy",
    "sched_get_priority_max sched_get_priority_min sched_getcpu sched_getscheduler sched_setaffinity sched_setparam",
    "sched_setscheduler thrd_current thrd_equal thrd_detach thrd_exit mtx_init mtx_destroy cnd_init",
    "tss_delete tss_get tss_set",
    // What `pthread_cleanup_push` and `pthread_cleanup_pop` become.
    "__pthread_register_cancel __pthread_unregister_cancel __pthread_register_cancel_defer",
    "__pthread_unregister_cancel_restore __pthread_unwind_next _pthread_cleanup_push _pthread_cleanup_pop",
    "_pthread_cleanup_push_defer _pthread_cleanup_pop_restore",
];

/// These act on other threads or processes in ways that are not modelled: nothing is reordered around them.
const FENCES: &[&str] = &[
    // A thread that is cancelled or gets a signal goes on elsewhere, where it finds all that was done before.
    "pthread_cancel pthread_kill pthread_sigqueue pthread_kill_other_threads_np",
    // It takes the lock for a moment.
    "pthread_mutex_setprioceiling",
    // Other processes may have the same semaphore.
    "sem_open sem_close sem_unlink",
];

/// What is known of a function that is about threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadFunction {
    /// The runtime stands in for it.
    Modelled,
    /// It touches nothing that matters.
    Harmless,
    /// Nothing is reordered around it.
    Fence,
}

/// What is known of the function with this name, if it is one of these. No name is in two lists.
pub fn known(name: &str) -> Option<ThreadFunction> {
    let is_in = |list: &[&str]| list.iter().any(|line| line.split(' ').any(|known| known == name));
    let lists = [
        (MODELLED, ThreadFunction::Modelled),
        (HARMLESS, ThreadFunction::Harmless),
        (FENCES, ThreadFunction::Fence),
    ];
    lists.into_iter().find(|(list, _)| is_in(list)).map(|(_, known)| known)
}

/// All names that are known, with those that are known twice.
pub fn names() -> impl Iterator<Item = &'static str> {
    [MODELLED, HARMLESS, FENCES].into_iter().flatten().flat_map(|line| line.split(' '))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_name_is_in_two_lists() {
        let mut seen = HashSet::new();
        assert_eq!(names().find(|name| !seen.insert(*name)), None);
        assert_eq!(known("pthread_setname_np"), Some(ThreadFunction::Modelled));
        assert_eq!(known("pthread_cancel"), Some(ThreadFunction::Fence));
        assert_eq!(known("printf"), None);
    }
}
