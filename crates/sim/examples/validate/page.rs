//! Tables and numbers.

/// A table of Markdown.
pub struct Table {
    text: String,
    columns: usize,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &[&str]) -> Self {
        let mut table = Table { text: String::new(), columns: columns.len() };
        table.line(columns.iter().map(|column| (*column).to_owned()));
        table.line(columns.iter().map(|_| "---".to_owned()));
        table
    }

    fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> =
            cells.into_iter().map(|cell| cell.replace('\n', " ").replace('|', "\\|")).collect();
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }

    /// Adds a row; what it lacks is left empty.
    pub fn row(&mut self, cells: &[String]) {
        let empty = std::iter::repeat_n(String::new(), self.columns.saturating_sub(cells.len()));
        self.line(cells.iter().cloned().chain(empty));
    }

    /// The table as text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A number with four digits that count, thousands apart.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = 3 - libm::floor(libm::log10(value.abs())) as i32;
    let plain = format!("{value:.*}", digits.clamp(0, 9) as usize);
    let (whole, rest) = match plain.split_once('.') {
        Some((whole, rest)) => (whole.to_owned(), format!(".{rest}")),
        None => (plain, String::new()),
    };
    let places = whole.trim_start_matches('-').len();
    let mut apart = String::new();
    for (index, letter) in whole.trim_start_matches('-').chars().enumerate() {
        if index > 0 && (places - index).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(letter);
    }
    format!("{}{apart}{rest}", if value < 0.0 { "−" } else { "" })
}

/// How far `found` is from `expected`, in percent with sign.
pub fn difference(found: f64, expected: f64) -> String {
    signed_percent(found / expected - 1.0)
}

/// A share as percent with sign.
pub fn signed_percent(share: f64) -> String {
    format!("{:+.2} %", 100.0 * share).replace('-', "−").replace("−0.00", "+0.00")
}
