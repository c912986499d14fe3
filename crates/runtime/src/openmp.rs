//! OpenMP, by the interface that its library has for tools (OMPT of LLVM's libomp).
//!
//! The library stays as it is. Its threads, locks and waits are scheduled like those of the program and not recorded:
//! the program calls it as a known library (see [`crate::acts`]), and these callbacks tell what that means:
//!
//! * a parallel region begins: its threads receive what its creator has sent; it ends: the creator receives what they
//!   have sent
//! * a barrier: the first thread to leave receives what all have sent, and the others what this one has
//! * a task: starts after it was created and after those that it depends on; who waits for it receives what it has sent
//! * `single`, and chunks of loops that are handed out while the program runs: which thread gets one depends on who has
//!   come before. That orders no memory, but schedules keep it.
//!
//! Critical sections, locks and reductions are models (`crates/models/models/openmp.toml`).

mod callbacks;
mod tasks;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tasks::Task;

use crate::interpose::as_function;
use crate::mode;
use crate::thread::me;

/// All that is known.
#[derive(Default)]
struct OpenMpState {
    /// How many regions, tasks and groups there were.
    numbers: u64,
    regions: BTreeMap<u64, Region>,
    tasks: BTreeMap<u64, Task>,
    /// The teams that each thread is in, the innermost one last.
    teams: BTreeMap<u32, Vec<Team>>,
    /// The tasks of each group that has not ended.
    groups: BTreeMap<u64, Vec<u64>>,
    /// Who holds each lock of the library.
    held: BTreeMap<usize, u32>,
    /// How often each word was updated, of those that are counted.
    counts: BTreeMap<u64, u64>,
    /// Words to which something was sent once.
    sent: BTreeSet<u64>,
    /// Memory of tasks that were allocated and have not begun.
    blocks: BTreeSet<usize>,
}

/// A parallel region.
#[derive(Default)]
struct Region {
    /// How many threads it has; 0 until that is known.
    size: u32,
    /// The barrier that was opened last.
    opened: u64,
    /// Its tasks for whose end no barrier has waited yet.
    tasks: Vec<u64>,
    /// The threads that have come to its end, by their numbers in the team.
    ended: BTreeSet<u32>,
}

/// A thread's part in a region.
struct Team {
    region: u64,
    index: u32,
    size: u32,
    barriers: u64,
    singles: u64,
    loops: u64,
    /// Chunks of the loop that it is in are handed out while the program runs.
    is_dynamic: bool,
}

static STATE: Mutex<Option<OpenMpState>> = Mutex::new(None);

/// Does something with the state.
struct OpenMpGuard(MutexGuard<'static, Option<OpenMpState>>);

impl std::ops::Deref for OpenMpGuard {
    type Target = OpenMpState;

    fn deref(&self) -> &OpenMpState {
        const NONE: &OpenMpState = &OpenMpState {
            numbers: 0,
            regions: BTreeMap::new(),
            tasks: BTreeMap::new(),
            teams: BTreeMap::new(),
            groups: BTreeMap::new(),
            held: BTreeMap::new(),
            counts: BTreeMap::new(),
            sent: BTreeSet::new(),
            blocks: BTreeSet::new(),
        };
        self.0.as_ref().unwrap_or(NONE)
    }
}

impl std::ops::DerefMut for OpenMpGuard {
    fn deref_mut(&mut self) -> &mut OpenMpState {
        self.0.get_or_insert_default()
    }
}

fn known() -> OpenMpGuard {
    OpenMpGuard(STATE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl OpenMpState {
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The innermost team of a thread.
    fn team(&mut self, thread: u32) -> Option<&mut Team> {
        self.teams.get_mut(&thread)?.last_mut()
    }
}

/// Whether the library tells what its threads do. It looks for a tool when it is first used: the first caller, which is
/// not in our code, sees to that.
pub(crate) fn tells() -> bool {
    type Ask = unsafe extern "C" fn() -> c_int;
    static WAS_ASKED: AtomicBool = AtomicBool::new(false);
    if callbacks::are_set() || WAS_ASKED.swap(true, Ordering::Relaxed) {
        return callbacks::are_set();
    }
    // SAFETY: the name ends with a zero.
    let ask = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"omp_get_max_threads".as_ptr()) };
    if !ask.is_null() {
        let ask: Ask = as_function(ask);
        // SAFETY: the function has no arguments, and the program calls the same library next.
        unsafe { ask() };
    }
    callbacks::are_set()
}

/// Memory was allocated by a function with a model: it may be a task's.
pub(crate) fn note_block(at: usize) {
    if callbacks::are_set() {
        known().blocks.insert(at);
    }
}

/// What the library keeps for us: a number for each region and each task.
type Data = *mut u64;

/// What is kept there, if anything.
fn number_in(data: Data) -> Option<u64> {
    // SAFETY: the library passes its own memory, or null.
    unsafe { data.as_ref() }.copied().filter(|&number| number != 0)
}

fn keep(data: Data, number: u64) {
    // SAFETY: the library passes its own memory, or null.
    if let Some(data) = unsafe { data.as_mut() } {
        *data = number;
    }
}

type Lookup = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// `ompt_start_tool_result_t`
#[repr(C)]
struct Tool {
    initialize: extern "C" fn(Lookup, c_int, Data) -> c_int,
    finalize: extern "C" fn(Data),
    data: u64,
}

/// Never written.
struct SharedTool(Tool);

static TOOL: SharedTool = SharedTool(Tool { initialize, finalize, data: 0 });

// SAFETY: it is never written.
unsafe impl Sync for SharedTool {}

/// The library asks for a tool before it reads its settings.
#[unsafe(no_mangle)]
extern "C" fn ompt_start_tool(_version: c_uint, _about: *const c_char) -> *const Tool {
    if me().is_none() || mode::is_parallel() {
        return std::ptr::null();
    }
    // Threads that wait shall not do so in a loop, reductions shall be critical sections, and threads shall stay where
    // the scheduler pins them: the library moves its first thread from CPU to CPU if it asks each what it is.
    set(c"KMP_BLOCKTIME", c"0", false);
    set(c"KMP_AFFINITY", c"none", false);
    set(c"KMP_TOPOLOGY_METHOD", c"cpuinfo", false);
    set(c"KMP_FORCE_REDUCTION", c"critical", true);
    &raw const TOOL.0
}

fn set(name: &CStr, value: &CStr, replaces: bool) {
    // SAFETY: both texts end with a zero; the library reads the environment right after this.
    unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), replaces.into()) };
}

extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: Data) -> c_int {
    c_int::from(callbacks::set_all(lookup))
}

extern "C" fn finalize(_data: Data) {}
