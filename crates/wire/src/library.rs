//! Functions of the C library that read and write memory of the program where their arguments point.
//!
//! The compiler pass puts a hook in the place of a call: `__foretell_on_strlen(site, text)` instead of
//! `strlen(text)`. The runtime performs the call and tells what it touched.

/// What the names of the hooks begin with.
pub const PREFIX: &str = "__foretell_on_";

/// The functions, and how many arguments they take.
pub const FUNCTIONS: &[(&str, usize)] = &[
    ("bcmp", 3),
    ("clock_gettime", 2),
    ("gettimeofday", 2),
    ("localtime_r", 2),
    ("gmtime_r", 2),
    ("memchr", 3),
    ("memcmp", 3),
    ("strcasecmp", 2),
    ("strcat", 2),
    ("strchr", 2),
    ("strcmp", 2),
    ("strcpy", 2),
    ("strdup", 1),
    ("strlen", 1),
    ("strncasecmp", 3),
    ("strncmp", 3),
    ("strncpy", 3),
    ("strnlen", 2),
    ("strrchr", 2),
    ("strstr", 2),
    ("strtol", 3),
    ("strtoll", 3),
    ("strtoul", 3),
    ("strtoull", 3),
    ("time", 1),
];

/// The hook for a function that is called with so many arguments, if there is one.
pub fn hook(function: &str, arguments: usize) -> Option<String> {
    FUNCTIONS.contains(&(function, arguments)).then(|| format!("{PREFIX}{function}"))
}
