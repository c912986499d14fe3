//! Conversions in the formats of `printf` and `scanf`: which arguments they take, and what these point to.

/// What a conversion does with an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// It takes the value: an integer or a pointer.
    Integer,
    /// It takes the value: a `double`.
    Float,
    /// It takes the value: a `long double`.
    LongDouble,
    /// `*`: the argument is the precision of the conversion that follows.
    Precision,
    /// The argument points to a text: it is read up to its zero, or at most so many bytes. `None` for the precision of
    /// an argument before.
    Text(Option<Option<u64>>),
    /// The argument points to a text of wide characters.
    WideText,
    /// The argument points to so many bytes that are written.
    Written(u64),
    /// The argument points to a text that is written.
    WrittenText,
    /// `%n`: the argument points to so many bytes that are written, whatever the input.
    Count(u64),
}

/// Passes on the uses of the arguments of a `printf` format in their order; none if the format is not understood.
/// Nothing is allocated: this runs in the recorded program.
pub fn printed(format: &[u8], mut found: impl FnMut(Use)) -> Option<()> {
    let mut rest = Rest(format);
    while rest.skip_to_conversion() {
        rest.take_while(|byte| b"-+ #0'I".contains(&byte));
        if rest.take(b'*') {
            found(Use::Integer);
        }
        rest.digits();
        let mut precision = None;
        let mut is_given = false;
        if rest.take(b'.') {
            if rest.take(b'*') {
                found(Use::Precision);
                is_given = true;
            } else {
                precision = Some(rest.digits().unwrap_or(0));
            }
        }
        let size = rest.size();
        found(match rest.next()? {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' | b'p' | b'C' => Use::Integer,
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' if size == Length::LongDouble => {
                Use::LongDouble
            }
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => Use::Float,
            b's' if size == Length::Long => Use::WideText,
            b'S' => Use::WideText,
            b's' if is_given => Use::Text(None),
            b's' => Use::Text(Some(precision)),
            b'n' => Use::Count(size.integer()),
            b'm' => continue,
            // Numbered arguments, and what is not known.
            _ => return None,
        });
    }
    Some(())
}

/// As [`printed`], for a `scanf` format.
pub fn scanned(format: &[u8], mut found: impl FnMut(Use)) -> Option<()> {
    let mut rest = Rest(format);
    while rest.skip_to_conversion() {
        rest.take(b'\'');
        let is_dropped = rest.take(b'*');
        let width = rest.digits();
        if rest.take(b'm') {
            return None;
        }
        let size = rest.size();
        let used = match rest.next()? {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => Use::Written(size.integer()),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => Use::Written(size.float()),
            b'p' => Use::Written(8),
            b's' if size == Length::Int => Use::WrittenText,
            b'c' if size == Length::Int => Use::Written(width.unwrap_or(1)),
            b'[' if size == Length::Int => {
                rest.set()?;
                Use::WrittenText
            }
            b'n' => Use::Count(size.integer()),
            _ => return None,
        };
        if !is_dropped {
            found(used);
        }
    }
    Some(())
}

/// A length modifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Length {
    Byte,
    Short,
    Int,
    Long,
    LongDouble,
}

impl Length {
    fn integer(self) -> u64 {
        match self {
            Length::Byte => 1,
            Length::Short => 2,
            Length::Int => 4,
            Length::Long | Length::LongDouble => 8,
        }
    }

    fn float(self) -> u64 {
        match self {
            Length::Long => 8,
            Length::LongDouble => 10,
            _ => 4,
        }
    }
}

/// What is left of a format.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.0.first() == Some(&byte);
        if is_there {
            self.next();
        }
        is_there
    }

    fn take_while(&mut self, is_wanted: impl Fn(u8) -> bool) {
        while self.0.first().is_some_and(|&byte| is_wanted(byte)) {
            self.next();
        }
    }

    /// Goes behind the next `%` that begins a conversion.
    fn skip_to_conversion(&mut self) -> bool {
        while let Some(byte) = self.next() {
            if byte == b'%' && !self.take(b'%') {
                return true;
            }
        }
        false
    }

    fn digits(&mut self) -> Option<u64> {
        let mut number = None;
        while let Some(&byte) = self.0.first().filter(|byte| byte.is_ascii_digit()) {
            number = Some(number.unwrap_or(0u64).saturating_mul(10).saturating_add(u64::from(byte - b'0')));
            self.next();
        }
        number
    }

    fn size(&mut self) -> Length {
        match self.0 {
            [b'h', b'h', ..] => self.behind(2, Length::Byte),
            [b'h', ..] => self.behind(1, Length::Short),
            [b'l', b'l', ..] => self.behind(2, Length::LongDouble),
            [b'l' | b'j' | b'z' | b't', ..] => self.behind(1, Length::Long),
            [b'L' | b'q', ..] => self.behind(1, Length::LongDouble),
            _ => Length::Int,
        }
    }

    fn behind(&mut self, bytes: usize, size: Length) -> Length {
        self.0 = &self.0[bytes..];
        size
    }

    /// Goes behind the end of a set of characters.
    fn set(&mut self) -> Option<()> {
        self.take(b'^');
        self.take(b']');
        while self.next()? != b']' {}
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_of_printf() {
        let printed = |format: &[u8]| {
            let mut uses = Vec::new();
            printed(format, |used| uses.push(used)).map(|()| uses)
        };
        let uses = printed(b"%d%% %5.2f %-10s %.*s %.3s %ls %Lf %hhn %zu %m").expect("understood");
        let expected = [
            Use::Integer,
            Use::Float,
            Use::Text(Some(None)),
            Use::Precision,
            Use::Text(None),
            Use::Text(Some(Some(3))),
            Use::WideText,
            Use::LongDouble,
            Use::Count(1),
            Use::Integer,
        ];
        assert_eq!(uses, expected);
        assert_eq!(printed(b"%2$s %1$d"), None);
        assert_eq!(printed(b"100%"), None);
    }

    #[test]
    fn conversions_of_scanf() {
        let scanned = |format: &[u8]| {
            let mut uses = Vec::new();
            scanned(format, |used| uses.push(used)).map(|()| uses)
        };
        let uses = scanned(b"%d %*s %lf %10[^]x] %3c %n %lld").expect("understood");
        let expected = [
            Use::Written(4),
            Use::Written(8),
            Use::WrittenText,
            Use::Written(3),
            Use::Count(4),
            Use::Written(8),
        ];
        assert_eq!(uses, expected);
        assert_eq!(scanned(b"%ms"), None);
        assert_eq!(scanned(b"%[abc"), None);
    }
}
