//! What `watch` draws: a row for each device, its last minute, and the run that goes on.

use super::Line;
use super::followed::Followed;
use drivelab_core::quantity::{bandwidth, digits, operations, percent};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line as Text, Span};
use ratatui::widgets::{Paragraph, Row, Sparkline, Table};
use std::collections::VecDeque;

/// Intervals that the small curves show.
const HISTORY: usize = 60;
/// Narrower screens have the curve below its row, where the rows then fill no more than half.
const CURVE: u16 = 20;
const HEADS: [&str; 9] =
    ["device", "reads", "rate", "wait", "writes", "rate", "wait", "queue", "busy"];
/// Columns of each of them; the temperature and the curve come behind.
const WIDTHS: [u16; 9] = [9, 6, 9, 7, 6, 9, 7, 5, 6];
const CELSIUS: u16 = 6;
const KEYS: &str = "q quit   p pause   s sort by ";

/// How rows are sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// By name.
    #[default]
    Name,
    /// The device that moves the most bytes first.
    Rate,
    /// The one that is busy the longest first.
    Busy,
}

impl Order {
    fn word(self) -> &'static str {
        match self {
            Order::Name => "name",
            Order::Rate => "rate",
            Order::Busy => "time busy",
        }
    }
}

/// A device with its last minute.
#[derive(Debug, Clone, Default)]
struct Device {
    line: Line,
    celsius: Option<f64>,
    history: VecDeque<u64>,
}

impl Device {
    fn bytes_per_second(&self) -> f64 {
        self.line.read.bytes_per_second + self.line.write.bytes_per_second
    }
}

/// All that is shown.
#[derive(Debug, Default)]
pub struct Screen {
    devices: Vec<Device>,
    /// The run that goes on, where one does.
    pub run: Option<Followed>,
    /// What is shown stays.
    pub is_paused: bool,
    /// Requests are traced: their p99 stands where their mean does else.
    pub is_traced: bool,
    /// How rows are sorted.
    pub order: Order,
}

impl Screen {
    /// A device did this in the last interval.
    pub fn see(&mut self, line: Line, celsius: Option<f64>) {
        let known = self.devices.iter_mut().position(|it| it.line.device == line.device);
        let at = known.unwrap_or_else(|| {
            self.devices.push(Device::default());
            self.devices.len() - 1
        });
        let device = &mut self.devices[at];
        (device.line, device.celsius) = (line, celsius);
        let rate = device.bytes_per_second() as u64;
        device.history.push_back(rate);
        if device.history.len() > HISTORY {
            device.history.pop_front();
        }
    }

    /// Draws it all.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let lines = self.devices.len() * usize::from(lines_each(frame.area(), self.devices.len()));
        let rows = u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(1);
        let [above, middle, below] = Layout::vertical([
            Constraint::Length(rows),
            Constraint::Fill(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        self.table(frame, above, lines_each(frame.area(), self.devices.len()));
        self.cells(frame, middle);
        let state = if self.is_paused { "   PAUSED" } else { "" };
        let keys = format!("{KEYS}{}{state}", self.order.word());
        frame.render_widget(Paragraph::new(keys).style(Modifier::DIM), below);
    }

    fn sorted(&self) -> Vec<&Device> {
        let mut devices: Vec<&Device> = self.devices.iter().collect();
        match self.order {
            Order::Name => devices.sort_by(|a, b| a.line.device.cmp(&b.line.device)),
            Order::Rate => {
                devices.sort_by(|a, b| b.bytes_per_second().total_cmp(&a.bytes_per_second()));
            }
            Order::Busy => devices.sort_by(|a, b| b.line.busy.total_cmp(&a.line.busy)),
        }
        devices
    }

    fn table(&self, frame: &mut Frame<'_>, area: Rect, lines_each: u16) {
        let devices = self.sorted();
        let widths: Vec<u16> = WIDTHS.iter().copied().chain([CELSIUS]).collect();
        let fixed = fixed();
        let is_beside = area.width >= fixed + CURVE;
        let room = Rect { width: area.width.min(fixed), ..area };
        let told = |head| if head == "wait" { super::takes(self.is_traced) } else { head };
        let heads = HEADS.iter().copied().chain(["temp"]).map(|head| flushed(head, told(head)));
        let rows = devices.iter().map(|device| row(device, self.is_traced).height(lines_each));
        let constraints = widths.iter().map(|width| Constraint::Length(*width));
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let table = Table::new(rows, constraints).header(Row::new(heads).style(bold));
        frame.render_widget(table.column_spacing(1), room);
        if !is_beside && lines_each == 1 {
            return;
        }
        for (at, device) in devices.iter().enumerate() {
            let first = u16::try_from(at).unwrap_or(u16::MAX).saturating_mul(lines_each);
            let y = first.saturating_add(lines_each);
            if y >= area.height {
                break;
            }
            let (x, y) = (if is_beside { fixed } else { WIDTHS[0] + 1 }, area.y + y);
            let place = Rect::new(area.x + x, y, area.width - x, 1);
            let shown = usize::from(place.width).min(device.history.len());
            let last: Vec<u64> =
                device.history.iter().skip(device.history.len() - shown).copied().collect();
            frame.render_widget(Sparkline::default().data(&last), place);
        }
    }

    fn cells(&self, frame: &mut Frame<'_>, area: Rect) {
        let Some(run) = &self.run else {
            let text = "\nNo run of drivelab is being written.";
            return frame.render_widget(Paragraph::new(text).style(Modifier::DIM), area);
        };
        let mut lines = vec![
            Text::default(),
            Text::styled(run.title.clone(), Modifier::BOLD),
            Text::raw(run.step.clone()),
        ];
        // The last cells are those that fill now.
        let room = usize::from(area.height).saturating_sub(lines.len());
        let mut cells: Vec<Text<'_>> = Vec::new();
        for (text, is_suspect) in &run.cells {
            let style = if *is_suspect { Style::new().bold() } else { Style::new() };
            let set = wrapped(text, usize::from(area.width));
            cells.extend(set.into_iter().map(|line| Text::from(Span::styled(line, style))));
        }
        lines.extend(cells.split_off(cells.len().saturating_sub(room)));
        frame.render_widget(Paragraph::new(lines), area);
    }
}

/// Columns of the numbers of a device.
fn fixed() -> u16 {
    WIDTHS.iter().chain([&CELSIUS]).map(|width| width + 1).sum()
}

/// Lines of each device: a second one for its curve, where there is no room beside it.
fn lines_each(area: Rect, devices: usize) -> u16 {
    let is_beside = area.width >= fixed() + CURVE;
    if !is_beside && area.width >= WIDTHS[0] + CURVE && 4 * devices <= usize::from(area.height) {
        2
    } else {
        1
    }
}

/// A cell in lines of this width, the words under each other.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::from(" ")];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.trim().is_empty() || line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(format!("      {word}"));
        }
    }
    lines
}

/// Text at the right edge of its column, names at the left.
fn flushed(head: &str, text: &str) -> Text<'static> {
    let text = Text::raw(text.to_owned());
    if head == HEADS[0] { text } else { text.right_aligned() }
}

fn row(device: &Device, is_traced: bool) -> Row<'static> {
    let line = &device.line;
    if !line.counted {
        let cells = [line.device.clone(), String::new(), "unknown".to_owned()];
        return Row::new(cells.map(Text::raw));
    }
    let nothing = || "–".to_owned();
    let rate = |flow: &super::Flow| {
        let bytes = bandwidth(flow.bytes_per_second);
        let count = operations(flow.per_second);
        // The heads say what it is; the unit would take the room of the number.
        let count = count.strip_suffix(" IOPS").unwrap_or(&count).to_owned();
        [count, bytes, flow.takes(is_traced)]
    };
    let [reads, read_rate, read_wait] = rate(&line.read);
    let [writes, write_rate, write_wait] = rate(&line.write);
    let celsius = device.celsius.map_or_else(nothing, |it| format!("{it:.0} °C"));
    let cells = [
        line.device.clone(),
        reads,
        read_rate,
        read_wait,
        writes,
        write_rate,
        write_wait,
        digits(line.queue),
        percent(line.busy),
    ];
    let cells = cells.into_iter().chain([celsius]);
    let heads = HEADS.iter().copied().chain(["temp"]);
    Row::new(cells.zip(heads).map(|(text, head)| flushed(head, &text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::watch::Flow;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn line(device: &str, bytes: f64, busy: f64) -> Line {
        let flow = Flow {
            per_second: bytes / 4096.0,
            bytes_per_second: bytes,
            mean_ns: Some(250_000.0),
            ..Flow::default()
        };
        Line {
            device: device.into(),
            counted: true,
            read: flow,
            queue: 3.96,
            busy,
            ..Line::default()
        }
    }

    fn drawn(screen: &Screen, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| screen.draw(frame)).expect("drawn");
        let buffer = terminal.backend().buffer().clone();
        let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| row(y).trim_end().to_owned()).collect()
    }

    fn two() -> Screen {
        let mut screen = Screen::default();
        screen.see(line("nvme0n1", 4_096_000_000.0, 0.2), Some(41.85));
        screen.see(line("sda", 4_096_000.0, 0.99), None);
        screen
    }

    #[test]
    fn each_device_has_its_numbers_at_80_columns() {
        let rows = drawn(&two(), 80, 24);
        for head in HEADS {
            assert!(rows[0].contains(head), "{head}: {}", rows[0]);
        }
        let fast = ["nvme0n1", "1.00M", "4.10 GB/s", "250 µs", "3.96", "20 %", "42 °C"];
        for word in fast {
            assert!(rows[1].contains(word), "{word}: {}", rows[1]);
        }
        assert!(rows[3].starts_with("sda") && rows[3].contains("99 %"), "{}", rows[3]);
        assert!(rows[23].contains("q quit") && rows[23].contains("sort by name"), "{}", rows[23]);
    }

    #[test]
    fn rows_are_sorted_as_asked() {
        let mut screen = two();
        let first = |screen: &Screen| drawn(screen, 80, 24)[1].clone();
        screen.order = Order::Busy;
        assert!(first(&screen).starts_with("sda"));
        screen.order = Order::Rate;
        assert!(first(&screen).starts_with("nvme0n1"));
    }

    #[test]
    fn the_last_minute_is_drawn_where_there_is_room() {
        let mut screen = two();
        for second in 0..100 {
            screen.see(line("nvme0n1", 1e9 * f64::from(second), 0.2), None);
        }
        assert_eq!(screen.devices[0].history.len(), HISTORY);
        let wide = drawn(&screen, 131, 24);
        assert!(wide[1].contains('█'), "{}", wide[1]);
        // Below its row on a narrow screen, and not at all where rows would fill it.
        let narrow = drawn(&screen, 80, 24);
        assert!(!narrow[1].contains('█') && narrow[2].contains('█'), "{narrow:?}");
        assert!(narrow[3].starts_with("sda"), "{narrow:?}");
        for device in 0..6 {
            screen.see(line(&format!("sd{device}"), 0.0, 0.2), None);
        }
        assert!(drawn(&screen, 80, 24)[2].starts_with("sd"));
    }

    #[test]
    fn a_device_without_counters_shows_no_zeros() {
        let mut screen = Screen::default();
        screen.see(Line { counted: false, ..line("dm-0", 0.0, 0.0) }, None);
        let row = drawn(&screen, 80, 24)[1].clone();
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["dm-0", "unknown"]);
    }

    #[test]
    fn a_run_is_shown_with_its_last_cells_and_a_pause_is_said() {
        let mut screen = two();
        let cells = (0..40).map(|cell| (format!("cell {cell}: 1.00k IOPS"), cell == 39));
        screen.run = Some(Followed {
            title: "wsat of /dev/sda  r".into(),
            step: "40 steps done".into(),
            cells: cells.collect(),
        });
        screen.is_paused = true;
        let long =
            "SUSPECT random read 4 KiB qd32: 69.5k IOPS, others moved 67 MiB on this one device";
        let run = screen.run.as_mut().expect("a run");
        run.cells.insert(39, (long.into(), true));
        let rows = drawn(&screen, 80, 24);
        assert_eq!(rows[6], "wsat of /dev/sda  r");
        let cut = [
            "  SUSPECT random read 4 KiB qd32: 69.5k IOPS, others moved 67 MiB on this one",
            "      device",
        ];
        assert_eq!(rows[20..22], cut);
        assert_eq!(rows[22], "  cell 39: 1.00k IOPS");
        assert!(rows[23].ends_with("PAUSED"), "{}", rows[23]);
    }
}
