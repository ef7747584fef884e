//! One job's options as values, the last of a name wins.

use super::known;
use super::least;
use super::marks::Marks;
use super::names::Work;
use super::priorities::Priorities;
use super::reading::Given;
use super::repeats::Repeats;
use super::replay::Replay;
use super::shown::{Unified, Without};
use super::steadystate;
use super::value::{Amount, BadValue};
use super::words::{Job, STATUS, refusal, takes_effect, unsupported};
use super::zones::Zones;
use crate::front::{Note, Refusal};
use crate::option::Care;
use drivelab_core::plan::{Content, Engine, Flow, IoPriority, Sync, ThreadSettings};

/// What a job asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// `directory`, parsed at its colons: clones use them in turn.
    pub directories: Vec<String>,
    /// `filename`, parsed at its colons.
    pub filenames: Vec<String>,
    /// `filename_format`.
    pub filename_format: Option<String>,
    /// `rw`.
    pub rw: Direction,
    /// `bs`, of reads, writes and trims.
    pub bs: [u64; 3],
    /// `bsrange`.
    pub bsrange: Option<[(u64, u64); 3]>,
    /// `bssplit`: sizes with their shares.
    pub bssplit: Option<[Vec<(u64, u32)>; 3]>,
    /// `ba`.
    pub ba: Option<u64>,
    /// `ioengine`, in fio's word, and what stands for it.
    pub engine: (String, Engine),
    /// `iodepth`.
    pub depth: u32,
    /// `iodepth_batch`.
    pub batch_submit: Option<u32>,
    /// `iodepth_batch_complete_min`.
    pub batch_complete: Option<u32>,
    /// `size`.
    pub size: Option<Amount>,
    /// `io_size`.
    pub io_size: Option<Amount>,
    /// `filesize`.
    pub filesize: Option<u64>,
    /// `offset`.
    pub offset: Amount,
    /// `offset_increment`.
    pub offset_increment: Amount,
    /// `offset_align`.
    pub offset_align: u64,
    /// `number_ios`.
    pub number_ios: Option<u64>,
    /// `random_distribution`, of reads, writes and trims.
    pub distribution: [Distribution; 3],
    /// `percentage_random`, of reads, writes and trims.
    pub percentage_random: [u64; 3],
    /// `norandommap`.
    pub norandommap: bool,
    /// `nrfiles`.
    pub nrfiles: u32,
    /// `numjobs`.
    pub numjobs: u32,
    /// `fallocate`: whether blocks are set aside.
    pub fallocates: bool,
    /// `fsync` or `fdatasync`, `sync`.
    pub sync: Sync,
    /// `end_fsync` or `fsync_on_close`.
    pub end_fsync: bool,
    /// `direct`, `buffered`: one variable.
    pub direct: bool,
    /// `overwrite`.
    pub overwrite: bool,
    /// `loops`.
    pub loops: u64,
    /// `fadvise_hint`.
    pub advise: bool,
    /// `runtime`.
    pub runtime_ns: u64,
    /// `time_based`.
    pub time_based: bool,
    /// `ramp_time`.
    pub ramp_ns: u64,
    /// `steadystate` and what belongs to it.
    pub steadystate: steadystate::Asked,
    /// `verify` and what belongs to it.
    pub marks: Marks,
    /// `thinktime`.
    pub thinktime_ns: u64,
    /// `thinktime_blocks`.
    pub thinktime_blocks: u32,
    /// `rate`, bytes a second of reads, writes and trims.
    pub rate: [u64; 3],
    /// `rate_iops`.
    pub rate_iops: [u64; 3],
    /// `rate_process=poisson`.
    pub poisson: bool,
    /// `invalidate`.
    pub invalidate: bool,
    /// `pre_read`.
    pub pre_read: bool,
    /// `cpus_allowed`.
    pub cpus: String,
    /// `unlink`.
    pub unlink: bool,
    /// `stonewall`.
    pub stonewall: bool,
    /// When it begins, waits and ends, and whom it ends; and what but `rw` says where it goes.
    pub turns: Turns,
    /// `thread`.
    pub thread: bool,
    /// `group_reporting`.
    pub group_reporting: bool,
    /// What is written.
    pub content: Content,
    /// `prio`, `prioclass`, `nice`, `numa_cpu_nodes`, `numa_mem_policy`.
    pub kernel: ThreadSettings,
    /// `randseed`.
    pub randseed: Option<u64>,
    /// `randrepeat`, `allrandrepeat`.
    pub randrepeat: bool,
    /// `rwmixread`.
    pub rwmixread: Option<u32>,
    /// `hipri`.
    pub hipri: bool,
    /// `sqthread_poll`.
    pub sqthread_poll: bool,
    /// `write_bw_log`, `write_iops_log`, `write_lat_log`: prefixes; `write_iolog`: where.
    pub logs: [Option<String>; 4],
    /// `log_avg_msec` and `log_offset`.
    pub log_lines: LogLines,
    /// `per_job_logs`.
    pub per_job_logs: bool,
    /// `percentile_list`.
    pub percentiles: Vec<f64>,
    /// `clat_percentiles`, `lat_percentiles`, `slat_percentiles`.
    pub with_percentiles: [bool; 3],
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// `description`.
    pub description: Option<String>,
    /// `unit_base`.
    pub unit_base: u32,
    /// `kb_base`.
    pub kb_base: u32,
    /// `disable_lat`, `disable_clat`, `disable_slat`, `gtod_reduce`.
    pub without: Without,
}

/// `rw`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direction {
    /// fio's word.
    pub word: String,
    /// Random order.
    pub random: bool,
    /// Requests one behind the other before the next place is drawn; 1 is none of it.
    pub run: u64,
    /// Bytes that are left out behind each request in order; negative: it goes back by as much.
    pub hole: i64,
    /// Reads, writes, trims.
    pub kinds: [bool; 3],
    /// They are those of a trace.
    pub is_traced: bool,
}

impl Default for Direction {
    fn default() -> Self {
        Direction {
            word: "read".into(),
            random: false,
            run: 1,
            hole: 0,
            kinds: [true, false, false],
            is_traced: false,
        }
    }
}

impl Direction {
    /// Reads and writes are drawn.
    pub fn is_mixed(&self) -> bool {
        self.kinds[0] && self.kinds[1]
    }

    /// Whether each block is trimmed before it is written.
    pub fn is_trimmed_first(&self) -> bool {
        self.kinds[1] && self.kinds[2] && !self.is_traced
    }
}

/// When a job begins, waits and ends, and whom it ends; and what but `rw` says where it goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turns {
    /// What its engine does with names; `None`: it moves data.
    pub names: Option<Work>,
    /// `zonemode` and what belongs to it.
    pub zones: Zones,
    /// `read_iolog` and what belongs to it.
    pub replay: Replay,
    /// `rate_min` and what belongs to it.
    pub least: least::Asked,
    /// `new_group`.
    pub new_group: bool,
    /// `wait_for`.
    pub wait_for: Option<String>,
    /// `create_only`.
    pub create_only: bool,
    /// `allow_file_create=0`: its files are there, and large enough, or it fails.
    pub files_exist: bool,
    /// `exitall`.
    pub exitall: bool,
    /// `exit_what`.
    pub exit_what: Ends,
    /// `startdelay`.
    pub start_ns: u64,
    /// `iodepth_low`.
    pub depth_low: Option<u32>,
    /// `serialize_overlap`.
    pub no_overlap: bool,
    /// `flow` and what belongs to it; of weight 0: none.
    pub flow: Flow,
    /// `dedupe_percentage` and what belongs to it.
    pub repeats: Repeats,
    /// `random_sequence_stride`.
    pub stride: bool,
    /// `fill_device`.
    pub fills: bool,
    /// `atomic`.
    pub atomic: bool,
    /// `cmdprio_percentage` and what belongs to it.
    pub priorities: Priorities,
    /// `random_generator=lfsr`, which needs no map to come to each block once.
    pub lfsr: bool,
}

/// What the lines of logs stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogLines {
    /// Milliseconds between two; 0: each request has one.
    pub every_ms: u64,
    /// Whether they say where.
    pub with_offset: bool,
    /// Whether the priority is the number that the kernel takes, and no mark.
    pub with_priority: bool,
    /// The priority of the job's I/O, in the kernel's number.
    pub priority: u16,
    /// Whether they say when a request was issued.
    pub with_issue: bool,
    /// What a line of several requests says of them.
    pub window: Window,
    /// Whether the file is compressed.
    pub packed: bool,
}

/// `log_window_value`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Window {
    /// Their mean.
    #[default]
    Average,
    /// The largest of them.
    Maximum,
    /// One after the other.
    Both,
}

/// `exit_what`: whom the end of a job ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ends {
    /// Those of its reporting group.
    #[default]
    Group,
    /// All that run together.
    Stonewall,
    /// Those that would follow, too.
    All,
}

/// `random_distribution`.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Each block alike.
    Random,
    /// Zipf with this exponent.
    Zipf(f64),
    /// Pareto with this power.
    Pareto(f64),
    /// Normal with this deviation, as fio takes it.
    Normal(f64),
    /// Shares of accesses and of addresses, in percent.
    Zoned(Vec<(f64, f64)>),
    /// These blocks, one after the other.
    Sequence(Vec<u64>),
}

/// Percentiles that fio prints.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

impl Default for Settings {
    fn default() -> Self {
        Settings {
            directories: Vec::new(),
            filenames: Vec::new(),
            filename_format: None,
            rw: Direction::default(),
            bs: [4096; 3],
            bsrange: None,
            bssplit: None,
            ba: None,
            engine: ("psync".into(), Engine::Psync),
            depth: 1,
            batch_submit: None,
            batch_complete: None,
            size: None,
            io_size: None,
            filesize: None,
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            offset_align: 0,
            number_ios: None,
            distribution: [const { Distribution::Random }; 3],
            percentage_random: [100; 3],
            norandommap: false,
            nrfiles: 1,
            numjobs: 1,
            fallocates: true,
            sync: Sync::None,
            end_fsync: false,
            direct: false,
            overwrite: false,
            loops: 1,
            advise: true,
            runtime_ns: 0,
            time_based: false,
            ramp_ns: 0,
            steadystate: steadystate::Asked::default(),
            marks: Marks::default(),
            thinktime_ns: 0,
            thinktime_blocks: 1,
            rate: [0; 3],
            rate_iops: [0; 3],
            poisson: false,
            invalidate: true,
            pre_read: false,
            cpus: String::new(),
            unlink: false,
            stonewall: false,
            turns: Turns::default(),
            thread: false,
            group_reporting: false,
            content: Content::Random,
            kernel: ThreadSettings::default(),
            randseed: None,
            randrepeat: true,
            rwmixread: None,
            hipri: false,
            sqthread_poll: false,
            logs: [None, None, None, None],
            log_lines: LogLines::default(),
            per_job_logs: true,
            percentiles: PERCENTILES.to_vec(),
            with_percentiles: [true, false, false],
            unified: Unified::None,
            description: None,
            unit_base: 0,
            kb_base: 1024,
            without: Without::default(),
        }
    }
}

/// Why an option's value does not do.
pub(super) enum Wrong {
    /// fio does not take it either: what it would take.
    Value(String),
    /// fio does, and here it is not supported.
    NotHere(Care),
}

impl From<BadValue> for Wrong {
    fn from(BadValue(form): BadValue) -> Self {
        Wrong::Value(form.into_owned())
    }
}

/// The settings of a job; all that is wrong with it is added to `refusals`.
pub fn of(job: &Job, notes: &mut Vec<Note>, refusals: &mut Vec<Refusal>) -> Settings {
    let mut settings = Settings::default();
    for word in job.words() {
        let Some(known) = known::find(word.name) else { continue };
        if known.is_off(word.value.as_deref()) {
            continue;
        }
        let shown = format!("--{}", word.typed);
        match takes_effect(known, &shown, notes) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(refusal) => {
                refusals.push(refusal);
                continue;
            }
        }
        let Some(set) = known.own.set else { continue };
        let given = Given { value: word.value.as_deref(), kb_base: u64::from(settings.kb_base) };
        refusals.extend(set(&mut settings, &given).err().and_then(|wrong| match wrong {
            Wrong::Value(form) => Some(failed_parsing(&word.typed, given.text(), &form)),
            Wrong::NotHere(care) => refusal(&format!("{shown}={}", given.text()), care),
        }));
    }
    settings.norandommap &= !settings.turns.lfsr;
    let priority = settings.kernel.io_priority.map_or(0, IoPriority::number);
    settings.log_lines.priority = priority;
    let lines = settings.log_lines;
    if lines.packed && (lines.with_issue || lines.window == Window::Both) {
        refusals.push(unsupported(
            "log_store_compressed with log_issue_time or log_window_value=both",
            "leave one of them out: a stored line has no place for it",
        ));
    }
    settings.turns.zones = settings.turns.zones.with_usual_mode();
    // Zones whose size is said are bytes.
    let of_zone = settings.turns.zones.zone_bytes();
    for amount in [&mut settings.offset, &mut settings.offset_increment]
        .into_iter()
        .chain(&mut settings.size)
        .chain(&mut settings.io_size)
    {
        if let (Amount::Zones(zones), Some(bytes)) = (*amount, of_zone) {
            *amount = Amount::Bytes(zones.saturating_mul(bytes));
        }
    }
    settings
}

fn failed_parsing(name: &str, value: &str, form: &str) -> Refusal {
    Refusal::new(
        STATUS,
        format!("fio: failed parsing {name}={value}"),
        format!("`{value}` is not a value of {name}: give {form}."),
    )
}

impl Settings {
    /// Whether it goes past the page cache: it says so, or its engine cannot do otherwise.
    pub fn is_direct(&self) -> bool {
        self.direct || self.engine.1.traits().is_passthrough
    }

    /// `random_distribution` of the first of its directions.
    pub fn first_distribution(&self) -> &Distribution {
        let first = self.rw.kinds.iter().position(|is_issued| *is_issued);
        &self.distribution[first.unwrap_or(0)]
    }

    /// Whether one of its directions has a rate; `rate_iops=100,` is of reads alone.
    pub fn has_rate(&self, of: &[u64; 3]) -> bool {
        of.iter().zip(self.rw.kinds).any(|(rate, is_issued)| is_issued && *rate > 0)
    }

    /// Whom its end ends, if anybody.
    pub fn ends_others(&self) -> Option<Ends> {
        self.turns.exitall.then_some(self.turns.exit_what)
    }

    /// Whether it begins again at the end of its files.
    pub fn goes_round(&self) -> bool {
        self.loops > 1 || (self.time_based && self.runtime_ns > 0)
    }
}
