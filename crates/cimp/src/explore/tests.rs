//! Programs whose executions are known.
