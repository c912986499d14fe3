//! Certificates with something changed in them: what a checker must see.

use foretell_trace::Model;

use crate::random::Random;

/// A number of the text of which another is put.
fn other_number(line: &str, events: usize, random: &mut Random) -> String {
    let starts: Vec<usize> = line
        .char_indices()
        .filter(|&(at, letter)| {
            letter.is_ascii_digit() && !line[..at].ends_with(|before: char| before.is_ascii_digit())
        })
        .map(|(at, _)| at)
        .collect();
    if starts.is_empty() {
        return String::new();
    }
    let start = *random.pick(&starts);
    let length = line[start..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(line.len() - start);
    let old: usize = line[start..start + length].parse().unwrap_or(0);
    let new = match random.below(4) {
        0 => old + 1,
        1 => old.saturating_sub(1),
        _ => 1 + random.below(events),
    };
    format!("{}{new}{}", &line[..start], &line[start + length..])
}

/// The text with one thing changed, sometimes several: a line dropped, moved or cut, another event or step, another
/// sign. The trace has so many events.
pub fn change(text: &str, events: usize, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..=random.below(3) {
        let at = random.below(lines.len());
        match random.below(10) {
            0 => {
                lines.remove(at);
            }
            1 => lines.truncate(at + 1),
            2 => lines.insert(at, lines[random.below(lines.len())].clone()),
            3 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            4 => lines[1] = format!("model {}", random.pick(&Model::ALL).name()),
            5 => lines[3] = other_number(&lines[3], events, random),
            // The sign of a literal, or one literal less.
            6 => lines[at] = lines[at].replacen(" -", " ", 1),
            7 => {
                let words: Vec<&str> = lines[at].split(' ').collect();
                let left_out = random.below(words.len());
                let kept =
                    words.iter().enumerate().filter(|(place, _)| *place != left_out).map(|(_, word)| *word);
                lines[at] = kept.collect::<Vec<_>>().join(" ");
            }
            _ => lines[at] = other_number(&lines[at], events, random),
        }
        if lines.len() < 5 {
            break;
        }
    }
    lines.join("\n")
}

/// The bytes with one changed, left out or added, sometimes several; or with the rest cut off.
pub fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(damaged.len());
        match random.below(6) {
            0 => damaged.truncate(at),
            1 => drop(damaged.remove(at)),
            2 => damaged.insert(at, damaged[random.below(damaged.len())]),
            3 => damaged[at] ^= 1 << random.below(8),
            4 => damaged[at] = damaged[at].wrapping_add(1),
            _ => damaged[at] = damaged[at].wrapping_sub(1),
        }
        if damaged.is_empty() {
            break;
        }
    }
    damaged
}
