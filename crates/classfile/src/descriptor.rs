//! The types of fields and methods, as class files write them: `(I[Ljava/lang/String;)J`.

use crate::Error;

/// The type at the beginning of a descriptor, and what follows it.
fn split(text: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let dimensions = text.iter().take_while(|&&byte| byte == b'[').count();
    let length = match text.get(dimensions).ok_or(Error::Malformed)? {
        b'L' => {
            dimensions
                + 1
                + text[dimensions..].iter().position(|&byte| byte == b';').ok_or(Error::Malformed)?
        }
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b'V' => dimensions + 1,
        _ => return Err(Error::Malformed),
    };
    Ok(text.split_at(length))
}

/// The types of the parameters of a method, and that of its result.
pub fn method(descriptor: &[u8]) -> Result<(Vec<&[u8]>, &[u8]), Error> {
    let mut rest = descriptor.strip_prefix(b"(").ok_or(Error::Malformed)?;
    let mut parameters = Vec::new();
    while let Some(&first) = rest.first().filter(|&&first| first != b')') {
        if first == b'V' {
            return Err(Error::Malformed);
        }
        let (parameter, after) = split(rest)?;
        parameters.push(parameter);
        rest = after;
    }
    let (result, after) = split(rest.strip_prefix(b")").ok_or(Error::Malformed)?)?;
    if after.is_empty() { Ok((parameters, result)) } else { Err(Error::Malformed) }
}

/// How many places a value of this type takes on the stack: two for `long` and `double`, none for `void`.
pub fn places(descriptor: &[u8]) -> u16 {
    match descriptor.first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') => 0,
        _ => 1,
    }
}

/// Whether values of this type are objects or arrays.
pub fn is_reference(descriptor: &[u8]) -> bool {
    matches!(descriptor.first(), Some(b'L' | b'['))
}

/// The name by which the pool knows the class of such a reference.
pub fn class_of(descriptor: &[u8]) -> &[u8] {
    let named = descriptor.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";"));
    named.unwrap_or(descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_taken_apart() {
        let (parameters, result) = method(b"(I[[JLjava/lang/String;[Lp/X;D)[Z").unwrap();
        assert_eq!(parameters, [&b"I"[..], b"[[J", b"Ljava/lang/String;", b"[Lp/X;", b"D"]);
        assert_eq!(result, b"[Z");
        assert_eq!(parameters.iter().map(|one| places(one)).collect::<Vec<_>>(), [1, 1, 1, 1, 2]);
        assert_eq!(class_of(parameters[2]), b"java/lang/String");
        assert_eq!(class_of(parameters[3]), b"[Lp/X;");
        for wrong in [&b"I"[..], b"(", b"(I", b"(Lx)V", b"()", b"()VV", b"(V)V", b"(Q)V"] {
            assert_eq!(method(wrong), Err(Error::Malformed));
        }
    }
}
