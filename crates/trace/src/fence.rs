//! Why nothing is reordered across an event: the location of a fence may name its cause.
//!
//! A recorder writes a fence where it does not know what happened, as a read of a value that nothing explains. Why it
//! did so stands after the place: `gl.c:12:3 (fence: calls g_hash_table_insert)`. A location is any text, so the cause
//! is there in every format.

/// Between the place and the cause.
const MARK: &str = " (fence: ";
/// After the cause.
const END: char = ')';
/// How the cause begins that is a call.
const CALLS: &str = "calls ";

/// The location of a fence.
pub fn location(place: &str, cause: &str) -> String {
    format!("{place}{MARK}{cause}{END}")
}

/// The cause that is a call of this function, which is not instrumented.
pub fn call_of(function: &str) -> String {
    format!("{CALLS}{function}")
}

/// The place and the cause, if the location is that of a fence which names one.
pub fn parts(location: &str) -> Option<(&str, &str)> {
    let (place, rest) = location.split_once(MARK)?;
    Some((place, rest.strip_suffix(END)?))
}

/// The function that is called, if that is the cause.
pub fn callee(cause: &str) -> Option<&str> {
    cause.strip_prefix(CALLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_causes_come_back() {
        let call = call_of("operator|(A, B)");
        let text = location("a b.cpp:12:3", &call);
        assert_eq!(parts(&text), Some(("a b.cpp:12:3", call.as_str())));
        assert_eq!(callee(&call), Some("operator|(A, B)"));
        assert_eq!(parts("bank.c:12"), None);
        assert_eq!(callee("inline assembly"), None);
    }
}
