//! What a program calls its threads. The kernel keeps fifteen bytes of a name, so two records tell it, half of it each.

/// So many bytes has a name, with the zero at its end.
pub const LENGTH: usize = 16;
const HALF: usize = LENGTH / 2;

/// Object and other of the two records by which a thread gets this name, see [`crate::record::SyncOp::Name`].
pub fn records(thread: u32, name: &[u8]) -> [(u64, u64); 2] {
    let mut bytes = [0; LENGTH];
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len()).min(LENGTH - 1);
    bytes[..length].copy_from_slice(&name[..length]);
    let half = |half: u8| {
        let start = usize::from(half) * HALF;
        let content = bytes[start..start + HALF].try_into().map_or(0, u64::from_le_bytes);
        (u64::from(thread) << 1 | u64::from(half), content)
    };
    [half(0), half(1)]
}

/// The name of a thread, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadName([u8; LENGTH]);

impl ThreadName {
    /// The thread that a record names.
    pub fn thread(object: u64) -> Option<u32> {
        u32::try_from(object >> 1).ok()
    }

    /// Takes a record up.
    pub fn add(&mut self, object: u64, other: u64) {
        let start = if object & 1 == 0 { 0 } else { HALF };
        self.0[start..start + HALF].copy_from_slice(&other.to_le_bytes());
    }

    /// The name, as far as it is text.
    pub fn text(&self) -> String {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(LENGTH);
        String::from_utf8_lossy(&self.0[..length]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_the_kernel_keeps_them() {
        for (name, kept) in [
            ("", ""),
            ("main", "main"),
            ("net-worker\0rest", "net-worker"),
            ("a-name-that-is-too-long", "a-name-that-is-"),
        ] {
            let mut found = ThreadName::default();
            for (object, other) in records(7, name.as_bytes()) {
                assert_eq!(ThreadName::thread(object), Some(7));
                found.add(object, other);
            }
            assert_eq!(found.text(), kept);
        }
    }
}
