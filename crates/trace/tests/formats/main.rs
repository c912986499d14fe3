//! The formats from outside: what is written reads back, and what is no trace is refused.

mod bad_input;
mod dependence;
mod fuzz_smoke;
mod reading;
mod round_trip;
mod values;
