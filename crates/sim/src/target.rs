//! `sim:PROFILE[,key=value…]`: from what is typed to a drive in its state.

mod build;
mod cells;
mod room;
mod scaling;
mod state;

pub use crate::state::State;
pub use scaling::Difference;

use crate::array::ArrayParameters;
use crate::block_map;
use crate::disk::DiskParameters;
use crate::file_system::FileSystemParameters;
use crate::flash;
use crate::fragmentation::Fragmentation;
use crate::keys::keys_of;
use crate::log_block;
use crate::names::{self, NamesParameters};
use crate::noise::Noise;
use crate::page_cache;
use crate::profile::{Model, Profile, value_of};
use crate::queue_delay::QueueDelay;
use crate::stalls::Stalls;
use crate::thermal::Thermal;
use crate::volume::VolumeParameters;
use drivelab_core::facts::{
    Bound, CacheState, Facts, FlashFacts, LinkRate, SimulatedFacts, TargetFacts, TargetKind,
};
use drivelab_core::units::Size;
use scaling::Full;
use toml::Value;

/// What begins the name of a simulated target.
pub const PREFIX: &str = "sim:";

/// What a log-block or block-mapped drive needs here for each flash page, roughly.
const PAGE_MEMORY_BYTES: u64 = 16;
/// What a page of a page cache needs here, roughly.
const CACHED_PAGE_MEMORY_BYTES: u64 = 160;

/// A simulated target that was understood and not built yet.
#[derive(Debug, Clone, PartialEq)]
pub struct SimTarget {
    /// As typed.
    pub name: String,
    /// The profile with what was typed behind it.
    pub profile: Profile,
    /// The state it begins in.
    pub state: State,
    /// That was typed, and is not left to whoever uses the drive.
    pub is_state_given: bool,
    /// Seed of everything random inside.
    pub seed: u64,
    /// Bytes of the page cache of the host in front of it; `None`: there is none.
    pub page_cache_bytes: Option<u64>,
    /// What a file system costs, where one is mounted; `None`: nothing.
    pub file_system: Option<FileSystemParameters>,
    /// The file system of names on it.
    pub names: NamesParameters,
    /// Whether there is one: a plan with names needs it.
    pub has_names: bool,
    /// How its map falls into pieces; `None`: it does not.
    pub fragmentation: Option<Fragmentation>,
    /// What settings of the kernel's queue cost.
    pub queue_delays: Vec<QueueDelay>,
    /// In what it is not what was typed, or not the drive of its profile.
    pub differences: Vec<Difference>,
    pub(crate) full: Option<Full>,
    /// When it stands still; `None`: never.
    pub stalls: Option<Stalls>,
    /// How it warms up; `None`: it stays cool.
    pub thermal: Option<Thermal>,
    /// What makes its times wander from run to run; empty: nothing.
    pub noise: Vec<Noise>,
}

impl SimTarget {
    /// Understands `sim:PROFILE[,key=value…]`; `read` gives the text of a profile file.
    ///
    /// # Errors
    /// What is wrong and the way out, in a sentence.
    ///
    /// ```
    /// use drivelab_sim::target::{SimTarget, State};
    ///
    /// let none = |_: &str| Err(String::new());
    /// let target = SimTarget::parse("sim:x25-e,state=filled,seed=3", none)?;
    /// assert_eq!((target.state, target.seed), (State::Filled, 3));
    /// assert!(SimTarget::parse("sim:x25e", none).unwrap_err().contains("did you mean `x25-e`"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(
        name: &str,
        read: impl Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let target = SimTarget::understood(name, &read)?;
        target.refuse_small(&read)?;
        Ok(target)
    }

    /// The same, whether or not its capacity leaves any room.
    fn understood(
        name: &str,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let rest = name.strip_prefix(PREFIX).unwrap_or(name);
        let mut parts = rest.split(',');
        let profile = parts.next().unwrap_or_default();
        let profile = match profile {
            "" => {
                return Err(
                    "name a simulated drive, as in sim:x25-e; `drivelab sim list` shows them"
                        .into(),
                );
            }
            file if file.contains('/') || file.ends_with(".toml") => {
                Profile::parse(&read(file)?, file)?
            }
            name => Profile::embedded(name)?,
        };
        let mut target = SimTarget {
            name: name.to_owned(),
            profile,
            state: State::Fresh,
            is_state_given: false,
            seed: 1,
            page_cache_bytes: None,
            file_system: None,
            names: NamesParameters::default(),
            has_names: false,
            fragmentation: None,
            queue_delays: Vec::new(),
            differences: Vec::new(),
            full: None,
            stalls: None,
            thermal: None,
            noise: Vec::new(),
        };
        let mut given = std::collections::BTreeSet::new();
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!(
                    "`{part}` is not key=value; write it as in \
                                    sim:textbook,spare=0.28"
                ));
            };
            let key = key.trim();
            if !given.insert(key) {
                return Err(format!("{key}= is given twice; leave one of them out"));
            }
            target.apply(key, value.trim())?;
        }
        target.settle_geometry();
        Ok(target)
    }

    fn apply(&mut self, key: &str, text: &str) -> Result<(), String> {
        match key {
            "seed" => {
                let wrong = |_| format!("seed={text} is not a whole number; use e.g. seed=7");
                self.seed = text.parse().map_err(wrong)?;
                Ok(())
            }
            "state" => self.set_state(text),
            "page_cache" => {
                let size: Size =
                    text.parse().map_err(|error| format!("page_cache={text}: {error}"))?;
                if size.0 < page_cache::BYTES_MIN {
                    return Err(format!("page_cache={text} is too small; give at least 16MiB"));
                }
                self.page_cache_bytes = Some(size.0);
                Ok(())
            }
            "file_system_ns" | "journal" => self.file_system.get_or_insert_default().set(key, text),
            key if key.starts_with(names::PREFIX) => self.names.set(key, text),
            "fragmentation" | "fragmentation_passes" => self.set_fragmentation(key, text),
            "setting_delay" => {
                self.queue_delays.push(QueueDelay::parse(text)?);
                Ok(())
            }
            "stall" => {
                self.stalls = Some(Stalls::parse(text)?);
                Ok(())
            }
            "thermal" => {
                self.thermal = Some(Thermal::parse(text)?);
                Ok(())
            }
            "noise" => {
                self.noise = Noise::parse(text)?;
                Ok(())
            }
            "spare" => self.set_spare(text),
            "capacity" => self.set_capacity(text),
            "d" => self.set("collector_choices", text),
            "bits_per_cell" => self.set_cells(text),
            key => self.set(key, text),
        }
    }

    fn set_fragmentation(&mut self, key: &str, text: &str) -> Result<(), String> {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let number = number.ok_or_else(|| format!("{key}={text} is not a number of 0 or more"))?;
        let how = self
            .fragmentation
            .get_or_insert(Fragmentation { loss: 0.0, passes: Fragmentation::PASSES });
        if key == "fragmentation_passes" {
            how.passes = number;
        } else if number > Fragmentation::LOSS_MAX {
            return Err(format!(
                "fragmentation={text} is the share of its rate that a reader loses; give at most \
                 {}",
                Fragmentation::LOSS_MAX
            ));
        } else {
            how.loss = number;
        }
        Ok(())
    }

    fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let value = value_of(key, text)?;
        match self.profile.set(key, value.clone()) {
            Ok(()) => Ok(()),
            // What a profile leaves to its default is known to the model alone.
            Err(unknown) if !self.keys().contains(&key) => Err(unknown),
            Err(_) => {
                let mut tried = self.clone();
                tried.profile.add(key, value);
                tried.check()?;
                *self = tried;
                Ok(())
            }
        }
    }

    pub(crate) fn flash(&self) -> Result<flash::Parameters, String> {
        self.profile.section("parameters")
    }

    /// The parameters that the model knows.
    fn keys(&self) -> &'static [&'static str] {
        match self.profile.model {
            Model::Flash => keys_of::<flash::Parameters>(),
            Model::LogBlock => keys_of::<log_block::Parameters>(),
            Model::BlockMap => keys_of::<block_map::Parameters>(),
            Model::Disk => keys_of::<DiskParameters>(),
            Model::Volume => keys_of::<VolumeParameters>(),
            Model::Array => keys_of::<ArrayParameters>(),
        }
    }

    /// What must be said wherever names are measured on it: their file system is a model.
    pub fn names_note(&self) -> String {
        format!(
            "The file system of the names is a model after ext4, with {}; the drive serves its \
             blocks, and its times for a CPU are not this machine's.",
            self.names.to_string().replace(',', ", ")
        )
    }

    /// Whether all parameters can be understood.
    ///
    /// # Errors
    /// The first that cannot.
    pub fn check(&self) -> Result<(), String> {
        let section = "parameters";
        match self.profile.model {
            Model::Flash => self.flash().map(drop),
            Model::LogBlock => self.profile.section::<log_block::Parameters>(section).map(drop),
            Model::BlockMap => self.profile.section::<block_map::Parameters>(section).map(drop),
            Model::Disk => self.profile.section::<DiskParameters>(section).map(drop),
            Model::Volume => self.profile.section::<VolumeParameters>(section).map(drop),
            Model::Array => {
                self.profile.section::<ArrayParameters>(section)?;
                self.profile.section::<DiskParameters>("member").map(drop)
            }
        }
    }

    pub(crate) fn placed(&self, error: &str) -> String {
        self.profile.at_its_place("parameters", error)
    }

    /// What is known of the target before it is built.
    pub fn facts(&self) -> Facts {
        self.facts_of(self.bytes())
    }

    fn facts_of(&self, bytes: Option<u64>) -> Facts {
        let target = TargetFacts {
            path: self.name.clone(),
            kind: TargetKind::Simulated,
            bytes,
            simulated: Some(SimulatedFacts {
                page_cache_bytes: self.page_cache_bytes,
                flash: self.flash_facts(),
                bound: self.bound(),
                has_file_system: self.file_system.is_some(),
                link: self.link(),
                array_cache: self.array_cache(),
            }),
            differences: self.differences.iter().map(|found| found.text.clone()).collect(),
            published_state: self.profile.published_state().map(|state| state.word().into()),
            price: self.profile.price.clone().filter(|_| self.is_unchanged()),
            ..TargetFacts::default()
        };
        Facts { target, ..Facts::default() }
    }

    /// Whether it is the drive of its profile, whatever state it begins in.
    fn is_unchanged(&self) -> bool {
        let mut words = self.name.split(',').skip(1).map(str::trim);
        words.all(|word| word.starts_with("state=") || word.starts_with("seed="))
    }

    fn array_cache(&self) -> Option<CacheState> {
        let parameters: ArrayParameters = (self.profile.model == Model::Array)
            .then(|| self.profile.section("parameters").ok())??;
        Some(parameters.cache_state)
    }

    /// The narrowest part of the way between host and drive.
    fn link(&self) -> Option<LinkRate> {
        let number = |section: &str, key: &str| {
            let parameter = self.profile.sections.get(section)?.get(key)?;
            u64::try_from(parameter.value.as_integer()?).ok()
        };
        let link = number("parameters", "link_bytes_per_s").filter(|_| self.noise.is_empty())?;
        let narrowest = |key| number("network", key).map_or(link, |rate| rate.min(link));
        let one_way = self.profile.get("link_is_half_duplex").and_then(Value::as_bool);
        Some(LinkRate {
            read_bytes_per_s: narrowest("from_drive_bytes_per_s"),
            write_bytes_per_s: narrowest("to_drive_bytes_per_s"),
            one_way: one_way.unwrap_or(false),
        })
    }

    /// What an operator of such a drive knows of it.
    fn bound(&self) -> Bound {
        match self.profile.model {
            Model::Flash | Model::LogBlock | Model::BlockMap => Bound::Flash,
            Model::Disk | Model::Array => Bound::Disk,
            Model::Volume => {
                let credits = self.profile.get("credits_max").and_then(Value::as_integer);
                if credits.unwrap_or(0) > 0 { Bound::Credits } else { Bound::Quota }
            }
        }
    }

    pub(crate) fn flash_facts(&self) -> Option<FlashFacts> {
        if self.profile.model != Model::Flash {
            return None;
        }
        let flash = self.flash().ok()?;
        let layout = flash.layout(0).ok()?;
        let units = u64::from(layout.blocks) * u64::from(layout.block_units);
        Some(FlashFacts {
            bytes: units * flash.map_unit_bytes,
            unit_bytes: flash.map_unit_bytes,
            cycles_left: flash.endurance_cycles.saturating_sub(flash.worn_cycles),
            cells: self.cell_facts(&flash),
        })
    }

    /// Bytes that a host can address, as far as the profile says it.
    pub fn bytes(&self) -> Option<u64> {
        match self.flash() {
            Ok(flash) if self.profile.model == Model::Flash => {
                let unit = flash.map_unit_bytes.max(1);
                Some(flash.user_bytes / unit * unit)
            }
            // Every other model is small: it is built, as new, to be asked.
            _ => {
                let fresh = SimTarget { state: State::Fresh, has_names: false, ..self.clone() };
                fresh.build().ok()?.facts().target.bytes
            }
        }
    }

    /// Bytes of memory that the drive needs here: its maps.
    ///
    /// # Errors
    /// Parameters out of range or contradictory.
    pub fn memory_bytes(&self) -> Result<u64, String> {
        let cached_pages = self.page_cache_bytes.unwrap_or(0) / 4096;
        let cache_bytes = cached_pages.saturating_mul(CACHED_PAGE_MEMORY_BYTES);
        Ok(self.map_memory_bytes()?.saturating_add(cache_bytes))
    }

    fn map_memory_bytes(&self) -> Result<u64, String> {
        let number = |key: &str| {
            let value = self.profile.get(key).and_then(Value::as_integer)?;
            u64::try_from(value).ok()
        };
        match self.profile.model {
            Model::Flash => {}
            Model::LogBlock | Model::BlockMap => {
                let pages =
                    number("user_bytes").unwrap_or(0) / number("page_bytes").unwrap_or(4096).max(1);
                return Ok(pages.saturating_mul(PAGE_MEMORY_BYTES));
            }
            Model::Disk | Model::Array | Model::Volume => return Ok(0),
        }
        let layout = self.flash()?.layout(0).map_err(|error| self.placed(&error))?;
        let flash_units = u64::from(layout.blocks) * u64::from(layout.block_units);
        Ok(4 * (u64::from(layout.logical_units) + flash_units))
    }
}
