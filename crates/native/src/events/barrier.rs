//! Barriers that come one after the other at one address.
//!
//! In a trace any threads may cross a barrier together, as long as they are as many. Where the program asks which
//! thread is the serial one (`PTHREAD_BARRIER_SERIAL_THREAD`), that is not so: in every crossing one thread is, so
//! those that met have to stay together. Each such crossing is a barrier of its own.

/// The barriers at one address, one after the other.
#[derive(Debug, Default)]
pub(super) struct Generations {
    /// The barrier that is there now.
    number: u64,
    /// How many came before it, as far as they have other names.
    count: u64,
    /// The threads that came have left.
    is_over: bool,
    /// A thread got `PTHREAD_BARRIER_SERIAL_THREAD`.
    is_led: bool,
}

impl Generations {
    /// A thread arrives at the barrier with this number.
    pub(super) fn arrive(&mut self, number: u64, is_led: bool) {
        let is_next = self.is_over && (self.is_led || number != self.number);
        self.count += u64::from(is_next);
        (self.number, self.is_led, self.is_over) = (number, is_led, false);
    }

    /// A thread leaves it.
    pub(super) fn depart(&mut self) {
        self.is_over = true;
    }

    /// How many barriers with other names were there before.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cross(barrier: &mut Generations, number: u64, is_led: bool) -> u64 {
        for _ in 0..2 {
            barrier.arrive(number, is_led);
        }
        for _ in 0..2 {
            barrier.depart();
        }
        barrier.count()
    }

    #[test]
    fn a_barrier_that_is_led_is_another_one_each_time() {
        let mut plain = Generations::default();
        assert_eq!([0, 0, 1, 1].map(|number| cross(&mut plain, number, false)), [0, 0, 1, 1]);
        let mut led = Generations::default();
        assert_eq!([0, 0, 1, 1].map(|number| cross(&mut led, number, true)), [0, 1, 2, 3]);
    }
}
