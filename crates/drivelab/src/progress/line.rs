//! Parts of a line that must not be wider than the terminal.

/// One part of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    text: String,
    /// Where the line is too wide, the part with the smallest number goes first.
    goes: Option<u8>,
}

impl Part {
    /// It stays whatever happens.
    pub fn kept(text: String) -> Self {
        Part { text, goes: None }
    }

    /// It goes where there is no room.
    pub fn dropped(order: u8, text: String) -> Self {
        Part { text, goes: Some(order) }
    }
}

/// The parts in one line of at most so many columns; the first one is cut where nothing else helps.
pub fn set(parts: &[Part], columns: usize) -> String {
    let mut parts = parts.to_vec();
    loop {
        let line: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        let line = line.join("  ");
        let wide = line.chars().count().saturating_sub(columns);
        if wide == 0 {
            return line;
        }
        let first = parts.iter().filter_map(|part| part.goes).min();
        match (first, parts.first_mut()) {
            (Some(first), _) => parts.retain(|part| part.goes != Some(first)),
            (None, Some(name)) => {
                let length = name.text.chars().count();
                let room = length.saturating_sub(wide + 1);
                let cut: String = name.text.chars().take(room).collect();
                if room == 0 || cut == name.text {
                    return line.chars().take(columns).collect();
                }
                name.text = format!("{}…", cut.trim_end());
            }
            (None, None) => return line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_least_goes_first_and_the_name_is_cut_last() {
        let parts = [
            Part::kept("1/2 random write".into()),
            Part::dropped(1, "[bar]".into()),
            Part::dropped(0, "spark".into()),
            Part::kept("0:10 left".into()),
        ];
        assert_eq!(set(&parts, 80), "1/2 random write  [bar]  spark  0:10 left");
        assert_eq!(set(&parts, 40), "1/2 random write  [bar]  0:10 left");
        assert_eq!(set(&parts, 30), "1/2 random write  0:10 left");
        assert_eq!(set(&parts, 22), "1/2 random…  0:10 left");
        assert_eq!(set(&parts, 5).chars().count(), 5);
    }
}
