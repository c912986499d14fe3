//! Functions of libraries that call nothing back and whose results depend on their arguments alone, or on the outside
//! world.
//!
//! Their writes to memory of the program are recorded, or are to memory that the program reads only through recorded
//! calls. All other functions without records count as unknown.

const PLAIN: &[&str] = &[
    "accept accept4 aligned_alloc calloc clock_nanosleep connect epoll_ctl epoll_pwait epoll_wait fdatasync flock free fsync malloc",
    "memalign munmap nanosleep pause poll posix_memalign ppoll pselect read realloc reallocarray recv recvfrom recvmsg sched_yield",
    "select send sendmsg sendto sleep usleep wait4 waitpid write writev pread pread64 pwrite pwrite64 readv",
    "pthread_barrier_init pthread_barrier_wait pthread_cond_broadcast pthread_cond_clockwait pthread_cond_destroy",
    "pthread_cond_signal pthread_cond_timedwait pthread_cond_wait pthread_create pthread_join pthread_mutex_clocklock",
    "pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_trylock pthread_mutex_unlock pthread_rwlock_rdlock",
    "pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock pthread_rwlock_wrlock pthread_spin_lock pthread_spin_trylock pthread_spin_unlock",
    "sem_clockwait sem_getvalue sem_init sem_post sem_timedwait sem_trywait sem_wait",
    "__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location getpagesize isalnum isalpha isdigit islower isprint",
    "ispunct isspace isupper isxdigit malloc_usable_size sysconf tolower toupper",
    "_Exit _exit abort pthread_self pthread_equal pthread_detach getpid getppid gettid putchar printf fprintf puts",
    "pthread_attr_destroy pthread_attr_init pthread_attr_setdetachstate pthread_attr_setstacksize pthread_barrier_destroy",
    "pthread_cond_init pthread_condattr_destroy pthread_condattr_init pthread_condattr_setclock pthread_mutex_destroy",
    "pthread_mutex_init pthread_mutexattr_destroy pthread_mutexattr_init pthread_mutexattr_settype",
    "pthread_rwlock_destroy pthread_rwlock_init pthread_spin_destroy pthread_spin_init sem_destroy",
    "abs labs llabs acos acosf asin asinf atan atan2 atan2f atanf cbrt cbrtf ceil ceilf cos cosf cosh coshf exp exp2 exp2f expf",
    "fabs fabsf floor floorf fmax fmaxf fmin fminf fmod fmodf hypot hypotf log log10 log10f log2 log2f logf pow powf round roundf",
    "sin sinf sinh sinhf sqrt sqrtf tan tanf tanh tanhf trunc truncf __assert_fail __stack_chk_fail",
    "bcmp clock_gettime gettimeofday localtime_r gmtime_r memchr memcmp strcasecmp strcat strchr strcmp strcpy strdup strlen",
    "strncasecmp strncmp strncpy strnlen strrchr strstr strtol strtoll strtoul strtoull time",
    "_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZdlPv _ZdaPv _ZdlPvm",
    "_ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t",
    "__cxa_guard_abort __cxa_guard_acquire __cxa_guard_release __cxa_atexit __cxa_allocate_exception __cxa_begin_catch",
    "__cxa_free_exception __cxa_get_exception_ptr __cxa_throw _ZNSt18condition_variable10notify_oneEv",
    "_ZNSt18condition_variable10notify_allEv _ZNSt18condition_variableC1Ev _ZNSt18condition_variableD1Ev _ZNSt6thread6detachEv",
    "_ZNSt6thread4joinEv _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
];

/// Whether the function is one of these.
pub(crate) fn is_plain(name: &str) -> bool {
    PLAIN.iter().any(|line| line.split(' ').any(|known| known == name))
}

/// Functions that can return twice, as `setjmp` does.
const RETURNING_TWICE: &[&str] =
    &["setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext", "savectx"];

/// Whether the function is one of these.
pub(crate) fn returns_twice(name: &str) -> bool {
    RETURNING_TWICE.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_call_back_is_not_plain() {
        assert!(is_plain("malloc") && is_plain("sqrt"));
        assert!(!["qsort", "pthread_once", "exit", "__cxa_end_catch", ""].into_iter().any(is_plain));
    }
}
