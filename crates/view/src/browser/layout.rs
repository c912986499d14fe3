//! How the screen is divided.

/// Columns between lanes.
pub(crate) const GAP: usize = 1;
/// The width of a lane at least, if there is that much room at all.
const NARROWEST: usize = 18;
/// Wider lanes would only put the threads further apart.
const WIDEST: usize = 44;

/// The parts of the screen, in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Whether there is a line for the name of the trace.
    pub title: bool,
    /// Whether there is a line for the names of the threads.
    pub head: bool,
    /// Whether there is a line for messages and questions.
    pub status: bool,
    /// How many events are shown.
    pub rows: usize,
    /// The lines for details, with the one that parts them from the events.
    pub details: usize,
    /// The room for marks and numbers of events.
    pub numbers: usize,
    /// The room for one thread, without the gap before the next.
    pub lane: usize,
    /// How many lanes fit.
    pub lanes: usize,
    /// The room for locations; 0 if there is none.
    pub locations: usize,
}

impl Layout {
    /// Divides a screen for a trace with so many events and lanes.
    pub fn new(width: usize, height: usize, events: usize, lanes: usize) -> Layout {
        let (title, head, status) = (height >= 8, height >= 3, height >= 2);
        let details = match height {
            0..10 => 0,
            10..16 => 3,
            _ => (height / 3).clamp(6, 13),
        };
        let taken = usize::from(title) + usize::from(head) + usize::from(status) + details;
        let numbers = (events.to_string().len() + 3).min(width);
        let locations = if width >= 64 { (width / 6).clamp(12, 36) } else { 0 };
        let room = width - numbers - locations.min(width - numbers);
        let fit = (room / (NARROWEST + GAP)).clamp(1, lanes.max(1));
        let lane = (room / fit).saturating_sub(GAP).min(WIDEST);
        Layout {
            title,
            head,
            status,
            rows: height.saturating_sub(taken),
            details,
            numbers,
            lane,
            lanes: fit,
            locations,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fit_into_any_screen() {
        for width in 0..200 {
            for height in 0..60 {
                for (events, lanes) in [(1, 0), (17, 3), (4_000_000_000, 500)] {
                    let layout = Layout::new(width, height, events, lanes);
                    let lines =
                        [layout.title, layout.head, layout.status].map(usize::from).iter().sum::<usize>();
                    assert_eq!(lines + layout.rows + layout.details, height);
                    assert!(layout.numbers + layout.locations <= width.max(layout.numbers));
                    let lanes = layout.lanes * (layout.lane + GAP);
                    assert!(layout.lanes == 1 || layout.numbers + lanes + layout.locations <= width);
                }
            }
        }
    }

    #[test]
    fn a_usual_screen_shows_three_threads() {
        let layout = Layout::new(80, 24, 17, 3);
        assert_eq!((layout.lanes, layout.lane, layout.rows, layout.details), (3, 19, 13, 8));
    }
}
