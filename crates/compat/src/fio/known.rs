//! Every option of fio 3.33: how it is treated here, and what it changes.

use super::reading::{
    Given, above_zero, alignment, checksum, direction, distribution, engine, names_or_drive,
    percentiles, put, ranges, share_of_all, splits, synced,
};
use super::settings::{Settings, Wrong};
use super::shown::{Unified, Without};
use super::steadystate::criterion;
use super::value::{by_direction, number, size};
use crate::option::Care::{self, Ignored, InPart, Near, Same};
use crate::option::{self, Opt};
use drivelab_core::op::SECOND;
use drivelab_core::plan::{Content, Sync};

/// One option.
pub type Known = Opt<Own>;

/// What only fio has of an option.
#[derive(Debug, Clone, Copy)]
pub struct Own {
    /// It stands alone, or with `=`.
    pub bare: bool,
    /// How it changes the settings of a job.
    pub(super) set: Option<Set>,
}

pub(super) type Set = fn(&mut Settings, &Given<'_>) -> Result<(), Wrong>;

pub(super) const fn option(typed: &'static str, care: Care) -> Known {
    Opt { typed, meaning: "", care, own: Own { bare: false, set: None } }
}

pub(super) const fn bare(typed: &'static str, care: Care) -> Known {
    Opt { typed, meaning: "", care, own: Own { bare: true, set: None } }
}

impl Known {
    const fn sets(self, set: Set) -> Self {
        Opt { own: Own { set: Some(set), ..self.own }, ..self }
    }
}

pub(super) const fn no(why: &'static str) -> Care {
    Care::no(why)
}

pub(super) const fn instead(way: &'static str) -> Care {
    Care::instead(way)
}

const NO_PLACE: &str = "drivelab's own scheduling decides that";
const NO_ZONES: &str = "drivelab knows no zoned devices";
const OWN_STAMPS: &str = "blocks are checked by drivelab's own stamps (address, seed, checksum)";
const ALL_IS_READ: &str = "blocks are checked by drivelab's own stamps (address, seed, checksum), \
                           all of them; fio ends at the first wrong one";
const NO_FLOW: &str = "use rate or rate_iops; jobs run side by side, each at its own pace";
const TRACE: &str = "use `drivelab run --trace FILE TARGET`, which replays blktrace and iologs";
const ONE_CLOCK: &str = "every latency is recorded, from one calibrated clock";
const ERRORS_END: &str = "an error ends a step, and what was measured until then is kept";
const ONE_SIZE: &str = "one size; a range is refused";
const MAP_OF_SIZES: &str = "at random, places are drawn with repetition, where fio's map visits \
                            each block once; in order, the last request is not cut to the end of \
                            the region";
const ONE_SHARE: &str = "one share for all directions; random requests are drawn with repetition, \
                         where fio's map visits each block once";
const SYNCS: &str = "one of fsync, fdatasync and sync a job; in a mix fio syncs once more after \
                     each read until the next write, drivelab once every so many writes";
const OWN_ORDER: &str = "the order is as often the same as in fio, but it is one of ours";
const NOT_TWICE: &str =
    "refused beside fsync, fdatasync and sync, which sync the last writes anyhow";
const STEADY: &str = "each sample is a whole second from the beginning; fio's first one is shorter";
const DISTRIBUTIONS: &str =
    "zipf, pareto, normal and zoned, without a centre; zoned_abs is refused";

const DIRECTORY: &str = "of a simulated drive (`sim:x25-e`) each file is a region, end to end";

/// All of them.
pub const ALL: &[Known] = &[
    option("description", Same).sets(|to, it| put(&mut to.description, it.string().map(Some))),
    option("name", Same),
    option("wait_for", instead("use stonewall, which waits for all jobs before")),
    option("filename", InPart("files in directories, or one drive; several drives are refused"))
        .sets(|to, it| put(&mut to.filenames, names_or_drive(it))),
    option("lockfile", no("files are locked against other runs; jobs share them freely")),
    option("directory", InPart(DIRECTORY))
        .sets(|to, it| put(&mut to.directories, names_or_drive(it))),
    option("filename_format", Same)
        .sets(|to, it| put(&mut to.filename_format, it.string().map(Some))),
    bare("unique_filename", Ignored("there are no clients whose files could meet")),
    option("opendir", instead("name the files with filename")),
    option(
        "rw, readwrite",
        InPart("`:N` with randread, randwrite and randtrim alone, else refused"),
    )
    .sets(|to, it| put(&mut to.rw, direction(it.text()))),
    option(
        "bs, blocksize",
        InPart("in a random mix with a size for each direction places are drawn with repetition"),
    )
    .sets(|to, it| {
        to.bs = by_direction(it.text(), to.bs, |text| it.block(text))?;
        (to.bsrange, to.bssplit) = (None, None);
        Ok(())
    }),
    option(
        "ba, blockalign",
        InPart("one for all directions, a multiple of the largest request; others are refused"),
    )
    .sets(|to, it| put(&mut to.ba, alignment(it))),
    option("bsrange, blocksize_range", InPart(MAP_OF_SIZES))
        .sets(|to, it| put(&mut to.bsrange, ranges(it, to.bs))),
    option("bssplit", InPart(MAP_OF_SIZES))
        .sets(|to, it| put(&mut to.bssplit, splits(it, to.bs).map(Some))),
    bare("bs_unaligned, blocksize_unaligned", no("sizes are multiples of the smallest block here")),
    option("randrepeat", InPart(OWN_ORDER)).sets(|to, it| put(&mut to.randrepeat, it.yes())),
    option("randseed", InPart(OWN_ORDER))
        .sets(|to, it| put(&mut to.randseed, it.number().map(Some))),
    bare("norandommap", Same).sets(|to, it| put(&mut to.norandommap, it.yes())),
    bare("softrandommap", Ignored("the order of blocks takes no memory here")),
    option("ignore_error", no(ERRORS_END)),
    option("rw_sequencer", no("leave it out: rw=…:n goes on in order here, which is its default")),
    option(
        "ioengine",
        InPart("libaio, io_uring, sync, psync, vsync, pvsync, pvsync2, mmap and null"),
    )
    .sets(|to, it| put(&mut to.engine, engine(it.text()))),
    option("iodepth", Same).sets(|to, it| put(&mut to.depth, it.count())),
    option("iodepth_batch, iodepth_batch_submit", Same)
        .sets(|to, it| put(&mut to.batch_submit, it.count().map(Some))),
    option("iodepth_batch_complete_min, iodepth_batch_complete", Same)
        .sets(|to, it| put(&mut to.batch_complete, it.number().map(|least| Some(least as u32)))),
    option("iodepth_batch_complete_max", Ignored("all that is complete is taken")),
    option(
        "iodepth_low",
        instead("use iodepth_batch_complete_min; the queue is filled whenever there is room"),
    ),
    option("serialize_overlap", no("overlapping requests are in flight together here")),
    option("io_submit_mode", no("requests are submitted by the job itself (inline)")),
    option("size", InPart(ONE_SIZE)).sets(|to, it| put(&mut to.size, it.whole())),
    option("io_size, io_limit", Same).sets(|to, it| put(&mut to.io_size, it.whole())),
    option("fill_device, fill_fs", instead("say a size; the guard keeps room on file systems")),
    option("filesize", InPart(ONE_SIZE)).sets(|to, it| match it.text().contains('-') {
        true => Err(Wrong::NotHere(instead("say one size"))),
        false => put(&mut to.filesize, it.bytes().map(above_zero)),
    }),
    option("file_append", instead("say an offset")),
    option("offset", Same).sets(|to, it| put(&mut to.offset, it.amount())),
    option(
        "offset_increment",
        InPart("files of their own are all as large as that of the last job"),
    )
    .sets(|to, it| put(&mut to.offset_increment, it.amount())),
    option("offset_align", InPart("of an offset in bytes too; in fio of one in percent alone"))
        .sets(|to, it| put(&mut to.offset_align, it.bytes())),
    option("number_ios", Same).sets(|to, it| put(&mut to.number_ios, it.number().map(above_zero))),
    option("random_generator", Ignored("drivelab has generators of its own")),
    option("random_distribution", Near(DISTRIBUTIONS))
        .sets(|to, it| put(&mut to.distribution, distribution(it.text()))),
    option("percentage_random", InPart(ONE_SHARE))
        .sets(|to, it| put(&mut to.percentage_random, share_of_all(it))),
    option("allrandrepeat", InPart(OWN_ORDER)).sets(|to, it| put(&mut to.randrepeat, it.yes())),
    option("nrfiles", Same).sets(|to, it| put(&mut to.nrfiles, it.count())),
    option("file_service_type", Near("roundrobin:1 alone")).sets(|_, it| match it.text() {
        "roundrobin" | "roundrobin:1" => Ok(()),
        _ => Err(Wrong::NotHere(no("files are used in turn, one request each"))),
    }),
    option("openfiles", Ignored("all files are open")),
    option("fallocate", Same).sets(|to, it| {
        let done = ["native", "posix", "keep", "1"].map(|word| (word, true));
        let left = ["none", "0", "truncate"].map(|word| (word, false));
        put(&mut to.fallocates, it.one_of(&[done.as_slice(), &left].concat()))
    }),
    option("fadvise_hint", InPart("0 and 1; others are refused")).sets(|to, it| {
        let known = it.one_of(&[("0", false), ("", true), ("1", true)]);
        put(&mut to.advise, known.map_err(|_| Wrong::NotHere(no("0 and 1 alone are known"))))
    }),
    option("fsync", InPart(SYNCS))
        .sets(|to, it| synced(to, it.every()?.map_or(Sync::None, Sync::Fsync))),
    option("fdatasync", InPart(SYNCS))
        .sets(|to, it| synced(to, it.every()?.map_or(Sync::None, Sync::Fdatasync))),
    option("write_barrier", instead("use fsync or fdatasync")),
    option("sync_file_range", instead("use fsync or fdatasync")),
    option("direct", Same).sets(|to, it| put(&mut to.direct, it.yes())),
    option("atomic", no("drivelab does no atomic writes")),
    option("buffered", Same)
        .sets(|to, it| put(&mut to.direct, it.yes().map(|is_buffered| !is_buffered))),
    option("overwrite", Same).sets(|to, it| put(&mut to.overwrite, it.yes())),
    option("loops", Near("beside io_size or number_ios a loop goes on where the last one ended"))
        .sets(|to, it| put(&mut to.loops, it.count().map(u64::from))),
    option("numjobs", Same).sets(|to, it| put(&mut to.numjobs, it.count())),
    option("startdelay", instead("put a job with a stonewall before it")),
    option("runtime, timeout", Same).sets(|to, it| put(&mut to.runtime_ns, it.time_ns(SECOND))),
    bare("time_based", Same).sets(|to, it| put(&mut to.time_based, it.yes())),
    bare("verify_only", instead("use rw=read with verify")),
    option("ramp_time", Same).sets(|to, it| put(&mut to.ramp_ns, it.time_ns(SECOND))),
    option("clocksource", Ignored(ONE_CLOCK)),
    option("mem, iomem", Ignored("buffers are one mapping, aligned to pages")),
    option("verify", Near(ALL_IS_READ)).sets(|to, it| put(&mut to.verify, checksum(it.text()))),
    option("do_verify", Same).sets(|to, it| put(&mut to.do_verify, it.yes())),
    option("verify_interval", Ignored(OWN_STAMPS)),
    option("verify_offset", Ignored(OWN_STAMPS)),
    option("verify_pattern", no(OWN_STAMPS)),
    option(
        "verify_fatal",
        Ignored("all is read and every wrong block counted; fio ends at the first, with it or not"),
    ),
    option("verify_dump", Ignored("wrong blocks are listed in the run file")),
    option("verify_async", Ignored("blocks are checked by the job that read them")),
    option("verify_async_cpus", Ignored("blocks are checked by the job that read them")),
    option("verify_backlog", no("what was written is read back when the job is done")),
    option("verify_backlog_batch", no("it belongs to verify_backlog")),
    option("experimental_verify", Ignored("the order of the writes is drawn again")),
    option("verify_state_load", no("a run that was cut is not verified")),
    option("verify_state_save", Ignored("the run file has the plan, which says what is where")),
    option("trim_percentage", instead("use rw=trim or rw=randtrim")),
    option("trim_verify_zero", instead("use rw=trim or rw=randtrim")),
    option("trim_backlog", instead("use rw=trim or rw=randtrim")),
    option("trim_backlog_batch", instead("use rw=trim or rw=randtrim")),
    option("write_iolog", instead("the run file has the plan, which issues the same again")),
    option("read_iolog", instead(TRACE)),
    option("read_iolog_chunked", instead(TRACE)),
    option("replay_no_stall", instead(TRACE)),
    option("replay_redirect", instead(TRACE)),
    option("replay_scale", instead(TRACE)),
    option("replay_align", instead(TRACE)),
    option("replay_time_scale", instead(TRACE)),
    option("replay_skip", instead(TRACE)),
    option("merge_blktrace_file", instead(TRACE)),
    option("merge_blktrace_scalars", instead(TRACE)),
    option("merge_blktrace_iters", instead(TRACE)),
    option("exec_prerun", instead("call it before; drivelab runs no other programs")),
    option("exec_postrun", instead("call it afterwards; drivelab runs no other programs")),
    option("ioscheduler", instead("use `drivelab study tune`, which puts it back")),
    option("zonemode", no(NO_ZONES)),
    option("zonesize", no(NO_ZONES)),
    option("zonecapacity", no(NO_ZONES)),
    option("zonerange", no(NO_ZONES)),
    option("zoneskip", no(NO_ZONES)),
    option("read_beyond_wp", no(NO_ZONES)),
    option("max_open_zones", no(NO_ZONES)),
    option("job_max_open_zones", no(NO_ZONES)),
    option("ignore_zone_limits", no(NO_ZONES)),
    option("zone_reset_threshold", no(NO_ZONES)),
    option("zone_reset_frequency", no(NO_ZONES)),
    option("lockmem", instead("put the run into a control group with less memory")),
    option("rwmixread", Same).sets(|to, it| put(&mut to.rwmixread, it.percent().map(Some))),
    option("rwmixwrite", Same)
        .sets(|to, it| put(&mut to.rwmixread, it.percent().map(|share| Some(100 - share)))),
    option("nice", no(NO_PLACE)),
    option("prio", no(NO_PLACE)),
    option("prioclass", no(NO_PLACE)),
    option("thinktime", Same).sets(|to, it| put(&mut to.thinktime_ns, it.time_ns(1_000))),
    option("thinktime_spin", Ignored("the last part of every wait is spun")),
    option("thinktime_blocks", Same).sets(|to, it| put(&mut to.thinktime_blocks, it.count())),
    option("thinktime_blocks_type", Near("issue; complete comes to the same at depth 1"))
        .sets(|_, it| Ok(it.one_of(&[("complete", ()), ("issue", ())])?)),
    option("thinktime_iotime", instead("use thinktime_blocks")),
    option("rate", Near("an open loop: requests are due at equal times, and lateness is recorded"))
        .sets(|to, it| {
            to.rate = by_direction(it.text(), to.rate, |text| size(text, it.kb_base))?;
            Ok(())
        }),
    option("rate_min, ratemin", instead("look at the rate that was reached")),
    option("rate_process", Same)
        .sets(|to, it| put(&mut to.poisson, it.one_of(&[("linear", false), ("poisson", true)]))),
    option("rate_cycle, ratecycle", Ignored("rates are kept from request to request")),
    option("rate_ignore_thinktime", no("rate and thinktime do not go together here")),
    option(
        "rate_iops",
        Near("an open loop: requests are due at equal times, and lateness is recorded"),
    )
    .sets(|to, it| {
        to.rate_iops = by_direction(it.text(), to.rate_iops, number)?;
        Ok(())
    }),
    option("rate_iops_min", instead("look at the rate that was reached")),
    option("max_latency", instead("use --stuck-after of `drivelab run`, or look at the maximum")),
    option("latency_target", instead("use `drivelab study pts-lat`, which searches a depth")),
    option("latency_window", instead("use `drivelab study pts-lat`, which searches a depth")),
    option("latency_percentile", instead("use `drivelab study pts-lat`, which searches a depth")),
    option("latency_run", instead("use `drivelab study pts-lat`, which searches a depth")),
    option("invalidate", Same).sets(|to, it| put(&mut to.invalidate, it.yes())),
    option("sync", Near("sync is done as dsync: data is durable, times of the file are not")).sets(
        |to, it| {
            let of_each = ["1", "sync", "dsync"].map(|word| (word, Sync::Dsync));
            let none = ["0", "none"].map(|word| (word, Sync::None));
            synced(to, it.one_of(&[of_each.as_slice(), &none].concat())?)
        },
    ),
    option("write_hint", no("no hints are given to the drive")),
    option("create_serialize", Ignored("files are always made one after the other")),
    option("create_fsync", Ignored("what is laid out is always synced")),
    option("create_on_open", Ignored("files are always made before the jobs")),
    option("create_only", instead("use `drivelab run` with --keep, or a job of its own")),
    option("allow_file_create", instead("name files that exist; reading never makes any")),
    option("allow_mounted_write", no("the guard never lets a mounted device be written")),
    option("pre_read", Same).sets(|to, it| put(&mut to.pre_read, it.yes())),
    option("cpumask", instead("use cpus_allowed, which is a list")),
    option("cpus_allowed", Same)
        .sets(|to, it| put(&mut to.cpus, it.string().map(|cpus| cpus.replace(':', ",")))),
    option(
        "cpus_allowed_policy",
        Near("split: each job has one of the CPUs in turn, also where shared is asked for"),
    ),
    option("numa_cpu_nodes", instead("use cpus_allowed")),
    option("numa_mem_policy", instead("use cpus_allowed")),
    option("end_fsync", InPart(NOT_TWICE)).sets(|to, it| put(&mut to.end_fsync, it.yes())),
    option("fsync_on_close", InPart(NOT_TWICE)).sets(|to, it| put(&mut to.end_fsync, it.yes())),
    option("unlink", Same).sets(|to, it| put(&mut to.unlink, it.yes())),
    option("unlink_each_loop", no("files stay until the end")),
    bare("exitall", instead("a runtime ends all jobs at once")),
    option("exit_what", instead("a runtime ends all jobs at once")),
    bare("exitall_on_error", Ignored("an error of one job always ends all")),
    bare("stonewall, wait_for_previous", Same).sets(|to, it| put(&mut to.stonewall, it.yes())),
    bare("new_group", Same).sets(|to, it| put(&mut to.new_group, it.yes())),
    bare("thread", Same).sets(|to, it| put(&mut to.thread, it.yes())),
    option("per_job_logs", Same).sets(|to, it| put(&mut to.per_job_logs, it.yes())),
    option("write_bw_log", Near("one line each log_avg_msec"))
        .sets(|to, it| put(&mut to.logs[0], it.string().map(Some))),
    option("bwavgtime", Ignored("samples are the intervals of the run file")),
    option("write_lat_log", Near("one line each log_avg_msec, the mean of it"))
        .sets(|to, it| put(&mut to.logs[2], it.string().map(Some))),
    option("write_iops_log", Near("one line each log_avg_msec"))
        .sets(|to, it| put(&mut to.logs[1], it.string().map(Some))),
    option("iopsavgtime", Ignored("samples are the intervals of the run file")),
    option("log_entries", Ignored("lines take no memory beforehand")),
    option("log_avg_msec", Same).sets(|to, it| put(&mut to.log_avg_ms, it.number())),
    option("log_hist_msec", instead("the run file has the histogram of every interval")),
    option("log_hist_coarseness", instead("the run file has the histogram of every interval")),
    option("write_hist_log", instead("the run file has the histogram of every interval")),
    option("log_max_value", instead("the run file has the histogram of every interval")),
    option("log_offset", instead("the run file has the plan, which says what is where")),
    option("log_prio", no("no priorities are set")),
    option("log_compression", Ignored("logs are not compressed")),
    option("log_compression_cpus", Ignored("logs are not compressed")),
    option("log_store_compressed", no("logs are not compressed")),
    option("log_unix_epoch", no("times in logs count from the beginning")),
    option("log_alternate_epoch", no("times in logs count from the beginning")),
    option("log_alternate_epoch_clock_id", no("times in logs count from the beginning")),
    option("block_error_percentiles", no(ERRORS_END)),
    bare("group_reporting", Same).sets(|to, it| put(&mut to.group_reporting, it.yes())),
    option("stats", no("every job is recorded")),
    bare("zero_buffers", Same).sets(|to, it| {
        let content = |is_zero| if is_zero { Content::Zero } else { Content::Random };
        put(&mut to.content, it.yes().map(content))
    }),
    bare("refill_buffers", Ignored("no two written blocks are ever the same here")),
    option("scramble_buffers", Ignored("no two written blocks are ever the same here")),
    option("buffer_pattern", instead("use zero_buffers or buffer_compress_percentage")),
    option("buffer_compress_percentage", Same).sets(|to, it| {
        let content = |share| match share {
            0 => Content::Random,
            100 => Content::Zero,
            share => Content::Compressible(share),
        };
        put(&mut to.content, it.percent().map(content))
    }),
    option("buffer_compress_chunk", Ignored("the compressible part is of each 4 KiB")),
    option("dedupe_percentage", no("no two written blocks are ever the same here")),
    option("dedupe_mode", no("no two written blocks are ever the same here")),
    option("dedupe_working_set_percentage", no("no two blocks are ever the same here")),
    option("dedupe_global", no("no two written blocks are ever the same here")),
    option("clat_percentiles", Same).sets(|to, it| put(&mut to.with_percentiles[0], it.yes())),
    option("lat_percentiles", Same).sets(|to, it| put(&mut to.with_percentiles[1], it.yes())),
    option("slat_percentiles", Same).sets(|to, it| put(&mut to.with_percentiles[2], it.yes())),
    option("percentile_list", Same).sets(|to, it| put(&mut to.percentiles, percentiles(it.text()))),
    option("significant_figures", Ignored("four, as is fio's own habit")),
    option("disk_util", Ignored("what the kernel counted is always printed")),
    option("gtod_reduce", Near("left out of what is printed; the run file has it")).sets(
        |to, it| {
            if it.yes()? {
                to.without = Without { submission: true, completion: true, total: true };
            }
            Ok(())
        },
    ),
    option("disable_lat", Near("left out of what is printed; the run file has it"))
        .sets(|to, it| put(&mut to.without.total, it.yes())),
    option("disable_clat", Near("left out of what is printed; the run file has it"))
        .sets(|to, it| put(&mut to.without.completion, it.yes())),
    option("disable_slat", Near("left out of what is printed; the run file has it"))
        .sets(|to, it| put(&mut to.without.submission, it.yes())),
    option("disable_bw_measurement, disable_bw", Ignored(ONE_CLOCK)),
    option("gtod_cpu", Ignored(ONE_CLOCK)),
    option("unified_rw_reporting", Same).sets(|to, it| {
        let words = [("none", Unified::None), ("mixed", Unified::Mixed), ("both", Unified::Both)];
        let numbers = [("0", Unified::None), ("1", Unified::Mixed), ("2", Unified::Both)];
        put(&mut to.unified, it.one_of(&[words, numbers].concat()))
    }),
    option("continue_on_error", no(ERRORS_END)),
    option("error_dump", Ignored("errors are in the run file")),
    option("profile", instead("use the studies of drivelab")),
    option("cgroup", instead("put the run into the control group")),
    option("cgroup_nodelete", instead("put the run into the control group")),
    option("cgroup_weight", instead("put the run into the control group")),
    option("uid", instead("run it as that user")),
    option("gid", instead("run it as that group")),
    option("kb_base", Same)
        .sets(|to, it| put(&mut to.kb_base, it.one_of(&[("1024", 1024), ("1000", 1000)]))),
    option("unit_base", Same)
        .sets(|to, it| put(&mut to.unit_base, it.one_of(&[("0", 0), ("1", 1), ("8", 8)]))),
    option("hugepage-size", Ignored("buffers are one mapping, aligned to pages")),
    option("flow_id", instead(NO_FLOW)),
    option("flow", instead(NO_FLOW)),
    option("flow_sleep", instead(NO_FLOW)),
    option("steadystate, ss", Near(STEADY)).sets(|to, it| {
        to.steadystate.is_given = true;
        put(&mut to.steadystate.criterion, criterion(it.text()))
    }),
    option("steadystate_duration, ss_dur", Same)
        .sets(|to, it| put(&mut to.steadystate.window_ns, it.time_ns(SECOND))),
    option("steadystate_ramp_time, ss_ramp", Same)
        .sets(|to, it| put(&mut to.steadystate.after_ns, it.time_ns(SECOND))),
    bare("userspace_reap", Ignored("completions are taken through the kernel")),
    bare("hipri", Same).sets(|to, it| put(&mut to.hipri, it.yes())),
    bare("fixedbufs", Ignored("buffers are registered whenever the kernel takes them")),
    bare("registerfiles", Ignored("files are registered whenever the kernel takes them")),
    bare("sqthread_poll", Same).sets(|to, it| put(&mut to.sqthread_poll, it.yes())),
    option("sqthread_poll_cpu", no("the kernel places its thread")),
    option("nonvectored", Ignored("requests are never vectored")),
    option("uncached", instead("use direct=1")),
    option("force_async", no("the kernel decides what it hands to its threads")),
    option("nowait", no("the kernel decides what may wait")),
    option("cmdprio_percentage", no("no priorities are set")),
    option("cmdprio_class", no("no priorities are set")),
    option("cmdprio", no("no priorities are set")),
    option("cmdprio_bssplit", no("no priorities are set")),
];

/// The option of that name.
pub fn find(name: &str) -> Option<&'static Known> {
    option::find(ALL.iter(), name)
}

/// The option whose name begins so, if there is one alone: getopt takes what cannot be mistaken.
pub fn find_by_beginning(beginning: &str) -> Option<&'static Known> {
    if let Some(known) = find(beginning) {
        return Some(known);
    }
    let begins = |known: &&Known| known.names().any(|name| name.starts_with(beginning));
    let mut fitting = ALL.iter().filter(begins);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    let row = |known: &'static Known| (vec![option::spelt(known)], &known.care);
    option::table("| option | here | |", ALL.iter().map(row))
}
