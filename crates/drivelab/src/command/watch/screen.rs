//! `watch` on a terminal: devices, and the run that is being written meanwhile, full screen.

use super::draw::{Order, Screen};
use super::followed::Follower;
use super::traced::Traced;
use crate::outcome::{Failure, Status};
use drivelab_io::facts::System;
use drivelab_io::{counters, sensors, signal};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Keys and Ctrl-C are seen within this time.
const NAP: Duration = Duration::from_millis(50);
/// A run file is read that often: reading a large one takes time that its run may need.
const FOLLOW_EVERY: Duration = Duration::from_secs(2);

/// What is watched, and how often.
pub struct Watched {
    /// The machine.
    pub system: System,
    /// Its devices.
    pub devices: Vec<drivelab_io::facts::DeviceNumber>,
    /// Between two looks.
    pub every: Duration,
    /// Where run files are written.
    pub runs: Option<PathBuf>,
}

/// Draws until a key or Ctrl-C ends it. The terminal is as before afterwards, also after a panic.
pub fn run(watched: &Watched, traced: Option<&mut Traced>) -> Result<Status, Failure> {
    let mut terminal = ratatui::try_init()
        .map_err(|error| Failure::invalid(format!("the terminal cannot be used: {error}")))?;
    let ended = follow(&mut terminal, watched, traced);
    ratatui::restore();
    ended
}

fn follow(
    terminal: &mut DefaultTerminal,
    watched: &Watched,
    mut traced: Option<&mut Traced>,
) -> Result<Status, Failure> {
    let count = || {
        let found = counters::snapshot(&watched.system, &watched.devices);
        found.map_err(|error| super::unreadable(&error))
    };
    let begin = Instant::now();
    let (mut before, mut since) = (count()?, begin);
    let mut screen = Screen::default();
    screen.is_traced = traced.is_some();
    let mut follower = Follower::new(watched.runs.clone(), FOLLOW_EVERY);
    loop {
        let due = since + watched.every;
        draw(terminal, &screen)?;
        while Instant::now() < due {
            if signal::interrupted() {
                return Ok(Status::interruption());
            }
            let left = due.saturating_duration_since(Instant::now());
            match key(left.min(NAP))? {
                Some(Key::Quit) => return Ok(Status::Fine),
                Some(Key::Pause) => screen.is_paused = !screen.is_paused,
                Some(Key::Sort) => screen.order = screen.order.next(),
                None => continue,
            }
            draw(terminal, &screen)?;
        }
        let (now, at) = (count()?, Instant::now());
        if !screen.is_paused {
            let celsius = sensors::temperatures(&watched.system, &watched.devices);
            let counted = now.since(&before).devices;
            let mut lines: Vec<super::Line> =
                counted.iter().map(|it| super::line(it, at - since, at - begin)).collect();
            if let Some(traced) = traced.as_mut() {
                traced.add_to(&mut lines).map_err(|why| super::untraced(&why))?;
            }
            for line in lines {
                let found = celsius.iter().find(|it| it.device == line.device);
                screen.see(line, found.map(|it| it.celsius));
            }
            if let Some(seen) = follower.look(at) {
                screen.run = seen;
            }
        }
        (before, since) = (now, at);
    }
}

fn draw(terminal: &mut DefaultTerminal, screen: &Screen) -> Result<(), Failure> {
    let drawn = terminal.draw(|frame| screen.draw(frame));
    drawn.map(drop).map_err(|error| Failure::invalid(format!("the terminal is gone: {error}")))
}

enum Key {
    Quit,
    Pause,
    Sort,
}

/// What is pressed within this time.
fn key(patience: Duration) -> Result<Option<Key>, Failure> {
    let lost = |error| Failure::invalid(format!("the keyboard cannot be read: {error}"));
    if !event::poll(patience).map_err(lost)? {
        return Ok(None);
    }
    let Event::Key(key) = event::read().map_err(lost)? else { return Ok(None) };
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Ok(match key.code {
        _ if key.kind == KeyEventKind::Release => None,
        KeyCode::Char('c') if is_control => Some(Key::Quit),
        KeyCode::Char('q') | KeyCode::Esc => Some(Key::Quit),
        KeyCode::Char('p' | ' ') => Some(Key::Pause),
        KeyCode::Char('s') => Some(Key::Sort),
        _ => None,
    })
}

impl Order {
    fn next(self) -> Self {
        match self {
            Order::Name => Order::Rate,
            Order::Rate => Order::Busy,
            Order::Busy => Order::Name,
        }
    }
}
