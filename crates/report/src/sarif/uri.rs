//! Paths as URIs.

use std::fmt::Write as _;

/// The folder that relative paths start from.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    parts: Vec<String>,
}

impl Folder {
    /// The folder with this absolute path.
    pub(super) fn new(path: &str) -> Folder {
        Folder { parts: parts(&[], path) }
    }

    /// The folder itself. What ends with a slash can be a base.
    pub(super) fn uri(&self) -> String {
        let path = encoded(&self.parts);
        if path.is_empty() { "file:///".to_string() } else { format!("file:///{path}/") }
    }

    /// A file as seen from the folder if it is within it, otherwise as seen from everywhere.
    pub(super) fn relative(&self, file: &str) -> Result<String, String> {
        let from = if file.starts_with('/') { &[][..] } else { &self.parts };
        let parts = parts(from, file);
        match parts.strip_prefix(self.parts.as_slice()) {
            Some(rest) => Ok(encoded(rest)),
            None => Err(format!("file:///{}", encoded(&parts))),
        }
    }
}

/// The names on the way to a file, without detours.
fn parts(from: &[String], path: &str) -> Vec<String> {
    let mut parts = from.to_vec();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name.to_string()),
        }
    }
    parts
}

fn encoded(parts: &[String]) -> String {
    let mut text = String::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            text.push('/');
        }
        for byte in part.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                text.push(char::from(byte));
            } else {
                // Writing into a string cannot fail.
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_within_the_folder_are_relative() {
        let folder = Folder::new("/home/user/my bank");
        assert_eq!(folder.uri(), "file:///home/user/my%20bank/");
        assert_eq!(folder.relative("src/./bank.c"), Ok("src/bank.c".to_string()));
        assert_eq!(
            folder.relative("/home/user/my bank/src/../größe#1.c"),
            Ok("gr%C3%B6%C3%9Fe%231.c".to_string())
        );
        assert_eq!(folder.relative("../other/x.c"), Err("file:///home/user/other/x.c".to_string()));
        assert_eq!(
            folder.relative("/home/user/my bankers/x.c"),
            Err("file:///home/user/my%20bankers/x.c".to_string())
        );
        assert_eq!(Folder::new("/").uri(), "file:///");
        assert_eq!(Folder::new("/").relative("/x.c"), Ok("x.c".to_string()));
    }
}
