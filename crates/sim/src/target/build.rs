//! From a target that was understood to a drive in its state, with a testbed for it.

use super::{SimTarget, State};
use crate::array::{Array, ArrayParameters};
use crate::attendant::Attendant;
use crate::block_map::BlockMapDrive;
use crate::disk::{Disk, DiskParameters};
use crate::drive::Drive;
use crate::flash::FlashDrive;
use crate::log_block::LogBlockDrive;
use crate::names::Named;
use crate::network::{Network, NetworkParameters};
use crate::profile::Model;
use crate::volume::Volume;
use drivelab_core::queue::Testbed;
use drivelab_stats::Domain;
use toml::Value;

/// How drives of the early kinds are brought into a state.
trait Early: Drive {
    fn fill(&mut self);
    fn fragment(&mut self, seed: u64);
}

impl Early for LogBlockDrive {
    fn fill(&mut self) {
        LogBlockDrive::fill(self);
    }
    fn fragment(&mut self, seed: u64) {
        LogBlockDrive::fragment(self, seed);
    }
}

impl Early for BlockMapDrive {
    fn fill(&mut self) {
        BlockMapDrive::fill(self);
    }
    fn fragment(&mut self, seed: u64) {
        BlockMapDrive::fragment(self, seed);
    }
}

impl SimTarget {
    /// The drive in its state, and a testbed for it.
    ///
    /// # Errors
    /// Parameters out of range or contradictory; a state that this kind of drive does not have.
    pub fn build(&self) -> Result<Box<dyn Testbed>, String> {
        self.build_for(&mut ())
    }

    /// The same while somebody waits, who may have kept its state.
    ///
    /// # Errors
    /// As [`SimTarget::build`].
    pub fn build_for(&self, attendant: &mut dyn Attendant) -> Result<Box<dyn Testbed>, String> {
        let seed = Domain::Drive.seed(self.seed, 0);
        if self.has_names {
            Named::check(self.bytes().unwrap_or(u64::MAX))?;
        }
        match self.profile.model {
            Model::Flash => {
                let mut drive =
                    FlashDrive::new(self.flash()?, seed).map_err(|e| self.placed(&e))?;
                let units = u64::from(drive.ftl().layout().logical_units);
                match self.state {
                    State::Fresh => {}
                    State::Filled => drive.ftl_mut().fill(),
                    State::RandomFilled => drive.ftl_mut().fill_at_random(seed),
                    State::Steady => drive.ftl_mut().steady_for(seed, attendant),
                    State::Fragmented => {
                        drive.ftl_mut().fill();
                        drive.ftl_mut().write_at_random_for(units / 2, seed, attendant);
                    }
                    State::Trimmed => {
                        drive.ftl_mut().steady_for(seed, attendant);
                        drive.ftl_mut().trim_all();
                    }
                }
                Ok(self.testbed(drive))
            }
            Model::LogBlock => {
                let parameters = self.profile.section("parameters")?;
                self.early(LogBlockDrive::new(parameters, seed), seed)
            }
            Model::BlockMap => {
                let parameters = self.profile.section("parameters")?;
                self.early(BlockMapDrive::new(parameters, seed), seed)
            }
            Model::Disk | Model::Volume | Model::Array
                if !matches!(self.state, State::Fresh | State::Filled) =>
            {
                Err(format!(
                    "state={}: `{}` is not a flash drive and supports only fresh and filled",
                    self.state.word(),
                    self.profile.name
                ))
            }
            Model::Disk => {
                let parameters = self.profile.section("parameters")?;
                let drive = Disk::new(parameters, seed).map_err(|e| self.placed(&e))?;
                Ok(self.testbed(drive))
            }
            Model::Volume => {
                let parameters = self.profile.section("parameters")?;
                let drive = Volume::new(parameters, seed).map_err(|e| self.placed(&e))?;
                Ok(self.testbed(drive))
            }
            Model::Array => self.array(seed),
        }
    }

    fn array(&self, seed: u64) -> Result<Box<dyn Testbed>, String> {
        let parameters: ArrayParameters = self.profile.section("parameters")?;
        let member: DiskParameters = self.profile.section("member")?;
        let members: Result<Vec<Disk>, String> = (0..parameters.members)
            .map(|place| Disk::new(member.clone(), Domain::Members.seed(seed, place)))
            .collect();
        let members = members.map_err(|error| self.profile.at_its_place("member", &error))?;
        let array = Array::new(parameters, members).map_err(|error| self.placed(&error))?;
        if !self.profile.sections.contains_key("network") {
            return Ok(self.testbed(array));
        }
        let network: NetworkParameters = self.profile.section("network")?;
        let network = Network::new(network, array, Domain::Network.seed(seed, 0))
            .map_err(|error| self.profile.at_its_place("network", &error))?;
        Ok(self.testbed(network))
    }

    /// A drive without page mapping in its state: filled and fragmented are all that it knows.
    fn early<D: Early + 'static>(
        &self,
        drive: Result<D, String>,
        seed: u64,
    ) -> Result<Box<dyn Testbed>, String> {
        let mut drive = drive.map_err(|error| self.placed(&error))?;
        if self.state != State::Fresh {
            drive.fill();
        }
        if !matches!(self.state, State::Fresh | State::Filled) {
            drive.fragment(seed);
        }
        Ok(self.testbed(drive))
    }

    fn testbed<D: Drive + 'static>(&self, drive: D) -> Box<dyn Testbed> {
        let facts = self.facts_of(Some(drive.bytes()));
        self.behind_all(drive, facts)
    }

    pub(crate) fn honours_trim(&self) -> bool {
        self.profile.get("honours_trim").and_then(Value::as_bool).unwrap_or(true)
    }
}
