//! Help texts and headings of options that several commands have: an option reads the same everywhere.

/// Headings that group options.
pub(super) mod heading {
    pub(crate) const INPUT: &str = "Input";
    pub(crate) const SCHEDULING: &str = "Scheduling";
    pub(crate) const RECORDING: &str = "Recording";
    pub(crate) const ANALYSIS: &str = "Analysis";
    pub(crate) const LIMITS: &str = "Limits";
    pub(crate) const REPORT: &str = "Report";
    pub(crate) const DISPLAY: &str = "Display";
}

pub(super) const TRACES: &str = "Traces to analyse; `-` reads standard input";
pub(super) const TRACE: &str = "Trace to read; `-` reads standard input";
pub(super) const PROGRAM: &str = "Source file to build and run, or (after `--`) a command to run";
pub(super) const PROGRAM_LONG: &str = "\
Source file to build and run, or (after `--`) a command to run

A source file is C, C++, Rust, Java or CIMP (docs/cimp.md). A command runs programs that were built with `foretell \
cc`, `foretell c++` or `cargo foretell build`, or Java programs (docs/java.md); every instrumented process that it \
starts is recorded.";
pub(super) const ARGUMENTS: &str = "Arguments to pass to the program";
pub(super) const FROM_FORMAT: &str = "Set the format of the input [default: detected from name and content]";

pub(super) const SCHEDULE: &str = "Set the scheduling strategy, or give a schedule";
pub(super) const SCHEDULE_LONG: &str = "\
Set the scheduling strategy, or give a schedule

  serial       thread after thread (CIMP); random turns of growing length (native)
  round-robin  one step of each thread in turn (CIMP only)
  random       any thread that can run, each equally likely
  contest      random, with noise at synchronisation (ConTest)
  pct          random priorities that change at few steps (PCT)
  pos          a random priority for each operation (POS)
  drfinder     locks in another order than in the run before (DrFinder)
  t1*7,t2,t1   seven steps of t1, one of t2, one of t1; then serial (CIMP only)

See docs/hunting.md.";
pub(super) const STRATEGY: &str =
    "Set the scheduling strategy: random, contest, pct, pos or drfinder [default: random]";
pub(super) const SEED: &str = "Set the seed of the scheduler: the same seed gives the same run";
pub(super) const DEPTH: &str = "pct: bug depth [default: 3]; drfinder: caller frames [default: 12]";
pub(super) const DEPTH_LONG: &str = "\
pct: bug depth [default: 3]; drfinder: caller frames [default: 12]

The bug depth is the number of ordering constraints that a bug needs to show. The caller frames are how many callers \
of the function that takes a lock `drfinder` relates to that lock. Other strategies ignore it.";
pub(super) const TRIGGERS: &str =
    "Read the may-trigger relation of drfinder from FILE, and update it after the run";
pub(super) const MODELS: &str =
    "Use the models of library functions in FILE, too, when the program is built (docs/models.md)";
pub(super) const INSTRUMENT_STD: &str = "Record also what Rust's standard library does";
pub(super) const INSTRUMENT_STD_LONG: &str = "\
Record also what Rust's standard library does

It is built with instrumentation, once, which takes a minute or two and needs its sources: rustup component add rust-src. Then \
formatting, strings, maps and files are accesses that can race, and no fences (docs/rust.md).";
pub(super) const ORDER: &str = "Set how a native program's threads are recorded";
pub(super) const MAX_STEPS: &str = "Stop a run of a CIMP program after N steps";
pub(super) const EXPLORE_LOOPS: &str =
    "Limit the iterations of each loop of a CIMP program: a number, or `none` [default: none]";
pub(super) const RUN_LOOPS: &str =
    "Limit the iterations of each loop of a CIMP program: a number, or `none` [default: 100000]";

pub(super) const LOG_LIMIT: &str =
    "Limit the size of all logs of a native program together, such as 500M or 8G";
pub(super) const LOG_LIMIT_LONG: &str = "\
Limit the size of all logs of a native program together, such as 500M or 8G

At the limit recording stops and the program continues, and the report says that the recording was cut short; or with \
--log-keep last, what was recorded first is dropped.";
pub(super) const STOP_AFTER: &str =
    "Terminate the program after DURATION, such as 10s or 2m, and analyse the recording";
pub(super) const TIME_LIMIT: &str =
    "Limit the time for one technique on one trace, such as 90s, 10m or `none`";
pub(super) const TIME_LIMIT_LONG: &str = "\
Limit the time for one technique on one trace, such as 90s, 10m or `none`

The limit covers reading the trace (or building it from the log, for at most half of the time), the analysis, and the \
preparation of the report. At the limit foretell reports what is proven so far, and what was not decided.";
pub(super) const BUDGET: &str = "Limit the time for one pair, such as 60s or 2m";
pub(super) const BUDGET_LONG: &str = "\
Limit the time for one pair, such as 60s or 2m

With `--pairs location`, all pairs of the same two locations share one budget. A pair that exceeds its budget is \
reported as undecided.";
pub(super) const MEMORY: &str = "Limit the memory of the process, such as 8G [default: what the system has]";
pub(super) const MEMORY_LONG: &str = "\
Limit the memory of the process, such as 8G [default: what the system has]

At three quarters of the limit foretell stops, and reports what is proven so far. The least limit is 96M.";
pub(super) const JOBS: &str = "Set the number of worker threads [default: number of CPUs]";
pub(super) const WINDOW: &str =
    "Limit how many events a schedule may reorder at once: a number from 2 on, or `all`";
pub(super) const WINDOW_LONG: &str = "\
Limit how many events a schedule may reorder at once: a number from 2 on, or `all`

Applies to techniques that decide pairs one at a time. The others always read the whole trace.";
pub(super) const SLICE: &str = "Keep only the events that PROPERTY depends on";

pub(super) const OUTPUT: &str = "Write to FILE instead of standard output";
pub(super) const FORMAT: &str = "Set the output format";
pub(super) const REPORT_NUMBER: &str = "Select one of several reports in the file, counted from 1";
pub(super) const RACE: &str = "Select the proven race with this number [default: 1]";
pub(super) const COLOR: &str = "Set when to use colour; `auto` honours NO_COLOR and CLICOLOR_FORCE";
pub(super) const NO_PROGRESS: &str = "Do not draw progress bars";

pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0  nothing found
  1  a race, a deadlock or a violation is proven
  2  bad input or usage, or a recording that was cut short and shows no race
  3  no race proven, but some pairs are undecided, or almost nothing could be
     reordered";

pub(super) const REPLAY_EXIT_CODES: &str = "\
Exit codes:
  1  the program was driven into the race
  2  bad input or usage
  3  the program was not driven into the race";

pub(super) const EXPLORE_EXIT_CODES: &str = "\
Exit codes:
  0  nothing found
  1  a race is proven, a property is violated, or an execution fails or deadlocks
  2  bad input or usage, or a recording that was cut short and shows nothing
  3  nothing found, but the exploration is incomplete";

pub(super) const HUNT_EXIT_CODES: &str = "\
Exit codes:
  0  nothing found
  1  a race, a deadlock or a violation is proven, or a run deadlocked
  2  bad input or usage, or no run could be analysed to its end
  3  nothing found, but some pairs are undecided, some runs were cut short, or almost
     nothing could be reordered";

pub(super) const EXPLAIN_EXIT_CODES: &str = "\
Exit codes:
  0  the race or pair is explained
  2  bad input or usage";

pub(super) const CHECK_EXIT_CODES: &str = "\
Exit codes:
  0  the certificate is accepted
  1  the certificate is refused
  2  bad input or usage
  3  stopped before the end";

pub(super) const COMPARE_EXIT_CODES: &str = "\
Exit codes:
  0  the techniques are compared, whatever they found
  2  bad input or usage";

pub(super) const DOCTOR_EXIT_CODES: &str = "\
Exit codes:
  0  traces can be analysed, and programs in C and C++ be recorded
  1  traces can be analysed, but programs in C or C++ cannot be recorded
  2  not even traces can be analysed, or bad usage";

pub(super) const RECORD_EXIT_CODES: &str = "\
Exit codes:
  0  the trace is written
  2  bad input or usage, nothing was recorded, or the recording was cut short";
