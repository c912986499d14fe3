//! Functions of the C and C++ libraries that read and write memory of the program where their arguments point.
//!
//! The compiler pass puts a hook in the place of a call: `__foretell_on_strlen(site, text)` instead of
//! `strlen(text)`. The runtime performs the call and tells what it touched.

/// What the names of the hooks begin with.
pub const PREFIX: &str = "__foretell_on_";

/// The functions, and how many arguments they take.
pub const FUNCTIONS: &[(&str, usize)] = &[
    ("_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_", 3),
    ("_ZNSt8__detail15_List_node_base7_M_hookEPS0_", 2),
    ("_ZNSt8__detail15_List_node_base9_M_unhookEv", 1),
    ("_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base", 1),
    ("_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", 1),
    ("_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", 1),
    ("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", 1),
    ("_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_", 2),
    ("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", 4),
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
