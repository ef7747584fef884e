//! A network between the host and a drive: a round trip and a rate in each direction.

use crate::drive::{Drive, Ends, Ticket, Way};
use drivelab_core::inside::{Cause, Inside};
use drivelab_core::op::{Action, DataOp, Time};
use drivelab_core::stages::Stage;
use drivelab_stats::Random;
use serde::{Deserialize, Serialize};

/// The parameters of a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkParameters {
    /// Time there and back of an empty message.
    pub round_trip_ns: u64,
    /// Most that is added to a round trip: each way adds from 0 to half of it, uniform.
    pub jitter_ns: u64,
    /// Rate of data that are written.
    pub to_drive_bytes_per_s: u64,
    /// Rate of data that are read.
    pub from_drive_bytes_per_s: u64,
}

impl NetworkParameters {
    /// Whether every value is in its range.
    ///
    /// # Errors
    /// Names the first that is not, and its constraint.
    pub fn validate(&self) -> Result<(), String> {
        for (name, value, least, most) in [
            ("round_trip_ns", self.round_trip_ns, 0, 60_000_000_000),
            ("jitter_ns", self.jitter_ns, 0, 60_000_000_000),
            ("to_drive_bytes_per_s", self.to_drive_bytes_per_s, 1_000, 1 << 50),
            ("from_drive_bytes_per_s", self.from_drive_bytes_per_s, 1_000, 1 << 50),
        ] {
            if value < least || value > most {
                return Err(format!("{name} must be from {least} to {most}; it is {value}"));
            }
        }
        Ok(())
    }
}

/// A drive behind a network.
#[derive(Debug)]
pub struct Network<D> {
    parameters: NetworkParameters,
    drive: D,
    /// Operations that will reach the drive.
    under_way: Ends,
    /// Ends on the side of the drive.
    far_ends: Ends,
    /// Operations in flight, by ticket.
    sent: Vec<Sent>,
    to_free_at: Time,
    from_free_at: Time,
    random: Random,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    op: DataOp,
    way: Way,
    at: Time,
    arrived_at: Time,
}

impl<D: Drive> Network<D> {
    /// A network in front of `drive`; the seed draws the jitter.
    ///
    /// # Errors
    /// Names the parameter that is out of range and its constraint.
    pub fn new(parameters: NetworkParameters, drive: D, seed: u64) -> Result<Self, String> {
        parameters.validate()?;
        Ok(Self {
            parameters,
            drive,
            under_way: Ends::default(),
            far_ends: Ends::default(),
            sent: Vec::new(),
            to_free_at: 0,
            from_free_at: 0,
            random: Random::new(seed),
        })
    }

    /// The drive behind it.
    pub fn drive(&self) -> &D {
        &self.drive
    }

    fn one_way_ns(&mut self) -> u64 {
        self.parameters.round_trip_ns / 2 + self.random.below(self.parameters.jitter_ns / 2 + 1)
    }

    fn deliver(&mut self, now: Time, ticket: Ticket) {
        let sent = &mut self.sent[ticket as usize];
        sent.arrived_at = now;
        self.drive.submit_by(now, ticket, &sent.op, sent.way, &mut self.far_ends);
    }

    fn bring_back(&mut self, now: Time, ticket: Ticket, cause: Cause, ends: &mut Ends) {
        let sent = self.sent[ticket as usize];
        let mut left_at = now;
        if sent.op.action == Action::Read {
            let rate = self.parameters.from_drive_bytes_per_s;
            left_at = self.from_free_at.max(now) + carry_ns(sent.op.len, rate);
            self.from_free_at = left_at;
        }
        let end = left_at + self.one_way_ns();
        let inside_ns = now - sent.arrived_at;
        let outside_ns = end - sent.at - inside_ns;
        let cause = if outside_ns > inside_ns { Cause::Network } else { cause };
        ends.tell(
            ticket,
            end - sent.at,
            &[(Stage::Array, inside_ns), (Stage::Network, outside_ns)],
        );
        ends.push(end, ticket, cause);
    }
}

fn carry_ns(bytes: u32, bytes_per_s: u64) -> u64 {
    (u64::from(bytes) * 1_000_000_000).div_ceil(bytes_per_s)
}

impl<D: Drive> Drive for Network<D> {
    fn bytes(&self) -> u64 {
        self.drive.bytes()
    }

    fn submit_by(&mut self, now: Time, ticket: Ticket, op: &DataOp, way: Way, ends: &mut Ends) {
        self.advance(now, ends);
        if self.sent.len() <= ticket as usize {
            self.sent.resize(ticket as usize + 1, Sent::default());
        }
        self.sent[ticket as usize] = Sent { op: *op, way, at: now, arrived_at: now };
        let mut left_at = now;
        if op.action == Action::Write {
            let rate = self.parameters.to_drive_bytes_per_s;
            left_at = self.to_free_at.max(now) + carry_ns(op.len, rate);
            self.to_free_at = left_at;
        }
        let arrives_at = left_at + self.one_way_ns();
        self.under_way.push(arrives_at, ticket, Cause::Network);
        self.advance(now, ends);
    }

    fn next_event(&self) -> Time {
        self.under_way.next_at().min(self.far_ends.next_at()).min(self.drive.next_event())
    }

    fn advance(&mut self, now: Time, ends: &mut Ends) {
        loop {
            let at = self.next_event();
            if at > now {
                return;
            }
            if self.drive.next_event() <= at {
                self.drive.advance(at, &mut self.far_ends);
            }
            while let Some(end) = self.far_ends.pop(at) {
                self.bring_back(at, end.ticket, end.cause, ends);
            }
            while let Some(arrival) = self.under_way.pop(at) {
                self.deliver(at, arrival.ticket);
            }
        }
    }

    fn inside(&mut self, now: Time) -> Inside {
        self.drive.inside(now)
    }
}
