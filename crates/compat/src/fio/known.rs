//! Every option of fio 3.33, and how it is treated here.

use crate::option::{self, Care, Opt};

/// One option; what only fio has of it is whether it may stand alone.
pub type Known = Opt<bool>;

pub(super) const fn option(typed: &'static str, care: Care) -> Known {
    Opt { typed, meaning: "", care, own: false }
}

pub(super) const fn bare(typed: &'static str, care: Care) -> Known {
    Opt { typed, meaning: "", care, own: true }
}

pub(super) const fn no(why: &'static str) -> Care {
    Care::no(why)
}

pub(super) const fn instead(way: &'static str) -> Care {
    Care::instead(way)
}

use Care::{Ignored, InPart, Near, Same};

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
const SYNCS: &str = "one of fsync, fdatasync and sync a job; in a mix fio syncs once more after \
                     each read until the next write, drivelab once every so many writes";
const OWN_ORDER: &str = "the order is as often the same as in fio, but it is one of ours";
const NOT_TWICE: &str =
    "refused beside fsync, fdatasync and sync, which sync the last writes anyhow";
const STEADY: &str = "each sample is a whole second from the beginning; fio's first one is shorter";
const DISTRIBUTIONS: &str =
    "zipf, pareto, normal and zoned, without a centre; zoned_abs is refused";

/// All of them.
pub const ALL: &[Known] = &[
    option("description", Same),
    option("name", Same),
    option("wait_for", instead("use stonewall, which waits for all jobs before")),
    option("filename", InPart("files in directories, or one drive; several drives are refused")),
    option("lockfile", no("files are locked against other runs; jobs share them freely")),
    option("directory", Same),
    option("filename_format", Same),
    bare("unique_filename", Ignored("there are no clients whose files could meet")),
    option("opendir", instead("name the files with filename")),
    option(
        "rw, readwrite",
        InPart("`:N` with randread, randwrite and randtrim alone, else refused"),
    ),
    option(
        "bs, blocksize",
        InPart("in a random mix with a size for each direction places are drawn with repetition"),
    ),
    option(
        "ba, blockalign",
        InPart("one for all directions, a multiple of the largest request; others are refused"),
    ),
    option("bsrange, blocksize_range", InPart(MAP_OF_SIZES)),
    option("bssplit", InPart(MAP_OF_SIZES)),
    bare("bs_unaligned, blocksize_unaligned", no("sizes are multiples of the smallest block here")),
    option("randrepeat", InPart(OWN_ORDER)),
    option("randseed", InPart(OWN_ORDER)),
    bare("norandommap", Same),
    bare("softrandommap", Ignored("the order of blocks takes no memory here")),
    option("ignore_error", no(ERRORS_END)),
    option("rw_sequencer", no("leave it out: rw=…:n goes on in order here, which is its default")),
    option(
        "ioengine",
        InPart("libaio, io_uring, sync, psync, vsync, pvsync, pvsync2, mmap and null"),
    ),
    option("iodepth", Same),
    option("iodepth_batch, iodepth_batch_submit", Same),
    option("iodepth_batch_complete_min, iodepth_batch_complete", Same),
    option("iodepth_batch_complete_max", Ignored("all that is complete is taken")),
    option(
        "iodepth_low",
        instead("use iodepth_batch_complete_min; the queue is filled whenever there is room"),
    ),
    option("serialize_overlap", no("overlapping requests are in flight together here")),
    option("io_submit_mode", no("requests are submitted by the job itself (inline)")),
    option("size", InPart(ONE_SIZE)),
    option("io_size, io_limit", Same),
    option("fill_device, fill_fs", instead("say a size; the guard keeps room on file systems")),
    option("filesize", InPart(ONE_SIZE)),
    option("file_append", instead("say an offset")),
    option("offset", Same),
    option(
        "offset_increment",
        InPart("files of their own are all as large as that of the last job"),
    ),
    option("offset_align", InPart("of an offset in bytes too; in fio of one in percent alone")),
    option("number_ios", Same),
    option("random_generator", Ignored("drivelab has generators of its own")),
    option("random_distribution", Near(DISTRIBUTIONS)),
    option(
        "percentage_random",
        InPart(
            "one share for all directions; random requests are drawn with repetition, where fio's \
             map visits each block once",
        ),
    ),
    option("allrandrepeat", InPart(OWN_ORDER)),
    option("nrfiles", Same),
    option("file_service_type", Near("roundrobin:1 alone")),
    option("openfiles", Ignored("all files are open")),
    option("fallocate", Same),
    option("fadvise_hint", InPart("0 and 1; others are refused")),
    option("fsync", InPart(SYNCS)),
    option("fdatasync", InPart(SYNCS)),
    option("write_barrier", instead("use fsync or fdatasync")),
    option("sync_file_range", instead("use fsync or fdatasync")),
    option("direct", Same),
    option("atomic", no("drivelab does no atomic writes")),
    option("buffered", Same),
    option("overwrite", Same),
    option("loops", Near("beside io_size or number_ios a loop goes on where the last one ended")),
    option("numjobs", Same),
    option("startdelay", instead("put a job with a stonewall before it")),
    option("runtime, timeout", Same),
    bare("time_based", Same),
    bare("verify_only", instead("use rw=read with verify")),
    option("ramp_time", Same),
    option("clocksource", Ignored(ONE_CLOCK)),
    option("mem, iomem", Ignored("buffers are one mapping, aligned to pages")),
    option("verify", Near(ALL_IS_READ)),
    option("do_verify", Same),
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
    option("rwmixread", Same),
    option("rwmixwrite", Same),
    option("nice", no(NO_PLACE)),
    option("prio", no(NO_PLACE)),
    option("prioclass", no(NO_PLACE)),
    option("thinktime", Same),
    option("thinktime_spin", Ignored("the last part of every wait is spun")),
    option("thinktime_blocks", Same),
    option("thinktime_blocks_type", Near("issue; complete comes to the same at depth 1")),
    option("thinktime_iotime", instead("use thinktime_blocks")),
    option("rate", Near("an open loop: requests are due at equal times, and lateness is recorded")),
    option("rate_min, ratemin", instead("look at the rate that was reached")),
    option("rate_process", Same),
    option("rate_cycle, ratecycle", Ignored("rates are kept from request to request")),
    option("rate_ignore_thinktime", no("rate and thinktime do not go together here")),
    option(
        "rate_iops",
        Near("an open loop: requests are due at equal times, and lateness is recorded"),
    ),
    option("rate_iops_min", instead("look at the rate that was reached")),
    option("max_latency", instead("use --stuck-after of `drivelab run`, or look at the maximum")),
    option("latency_target", instead("use `drivelab study pts-lat`, which searches a depth")),
    option("latency_window", instead("use `drivelab study pts-lat`, which searches a depth")),
    option("latency_percentile", instead("use `drivelab study pts-lat`, which searches a depth")),
    option("latency_run", instead("use `drivelab study pts-lat`, which searches a depth")),
    option("invalidate", Same),
    option("sync", Near("sync is done as dsync: data is durable, times of the file are not")),
    option("write_hint", no("no hints are given to the drive")),
    option("create_serialize", Ignored("files are always made one after the other")),
    option("create_fsync", Ignored("what is laid out is always synced")),
    option("create_on_open", Ignored("files are always made before the jobs")),
    option("create_only", instead("use `drivelab run` with --keep, or a job of its own")),
    option("allow_file_create", instead("name files that exist; reading never makes any")),
    option("allow_mounted_write", no("the guard never lets a mounted device be written")),
    option("pre_read", Same),
    option("cpumask", instead("use cpus_allowed, which is a list")),
    option("cpus_allowed", Same),
    option(
        "cpus_allowed_policy",
        Near("split: each job has one of the CPUs in turn, also where shared is asked for"),
    ),
    option("numa_cpu_nodes", instead("use cpus_allowed")),
    option("numa_mem_policy", instead("use cpus_allowed")),
    option("end_fsync", InPart(NOT_TWICE)),
    option("fsync_on_close", InPart(NOT_TWICE)),
    option("unlink", Same),
    option("unlink_each_loop", no("files stay until the end")),
    bare("exitall", instead("a runtime ends all jobs at once")),
    option("exit_what", instead("a runtime ends all jobs at once")),
    bare("exitall_on_error", Ignored("an error of one job always ends all")),
    bare("stonewall, wait_for_previous", Same),
    bare("new_group", Same),
    bare("thread", Same),
    option("per_job_logs", Same),
    option("write_bw_log", Near("one line each log_avg_msec")),
    option("bwavgtime", Ignored("samples are the intervals of the run file")),
    option("write_lat_log", Near("one line each log_avg_msec, the mean of it")),
    option("write_iops_log", Near("one line each log_avg_msec")),
    option("iopsavgtime", Ignored("samples are the intervals of the run file")),
    option("log_entries", Ignored("lines take no memory beforehand")),
    option("log_avg_msec", Same),
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
    bare("group_reporting", Same),
    option("stats", no("every job is recorded")),
    bare("zero_buffers", Same),
    bare("refill_buffers", Ignored("no two written blocks are ever the same here")),
    option("scramble_buffers", Ignored("no two written blocks are ever the same here")),
    option("buffer_pattern", instead("use zero_buffers or buffer_compress_percentage")),
    option("buffer_compress_percentage", Same),
    option("buffer_compress_chunk", Ignored("the compressible part is of each 4 KiB")),
    option("dedupe_percentage", no("no two written blocks are ever the same here")),
    option("dedupe_mode", no("no two written blocks are ever the same here")),
    option("dedupe_working_set_percentage", no("no two blocks are ever the same here")),
    option("dedupe_global", no("no two written blocks are ever the same here")),
    option("clat_percentiles", Same),
    option("lat_percentiles", Same),
    option("slat_percentiles", Same),
    option("percentile_list", Same),
    option("significant_figures", Ignored("four, as is fio's own habit")),
    option("disk_util", Ignored("what the kernel counted is always printed")),
    option("gtod_reduce", Near("left out of what is printed; the run file has it")),
    option("disable_lat", Near("left out of what is printed; the run file has it")),
    option("disable_clat", Near("left out of what is printed; the run file has it")),
    option("disable_slat", Near("left out of what is printed; the run file has it")),
    option("disable_bw_measurement, disable_bw", Ignored(ONE_CLOCK)),
    option("gtod_cpu", Ignored(ONE_CLOCK)),
    option("unified_rw_reporting", Same),
    option("continue_on_error", no(ERRORS_END)),
    option("error_dump", Ignored("errors are in the run file")),
    option("profile", instead("use the studies of drivelab")),
    option("cgroup", instead("put the run into the control group")),
    option("cgroup_nodelete", instead("put the run into the control group")),
    option("cgroup_weight", instead("put the run into the control group")),
    option("uid", instead("run it as that user")),
    option("gid", instead("run it as that group")),
    option("kb_base", Same),
    option("unit_base", Same),
    option("hugepage-size", Ignored("buffers are one mapping, aligned to pages")),
    option("flow_id", instead(NO_FLOW)),
    option("flow", instead(NO_FLOW)),
    option("flow_sleep", instead(NO_FLOW)),
    option("steadystate, ss", Near(STEADY)),
    option("steadystate_duration, ss_dur", Same),
    option("steadystate_ramp_time, ss_ramp", Same),
    bare("userspace_reap", Ignored("completions are taken through the kernel")),
    bare("hipri", Same),
    bare("fixedbufs", Ignored("buffers are registered whenever the kernel takes them")),
    bare("registerfiles", Ignored("files are registered whenever the kernel takes them")),
    bare("sqthread_poll", Same),
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
    let mut fitting =
        ALL.iter().filter(|known| known.names().any(|name| name.starts_with(beginning)));
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// Every option with how it is treated, as a table in Markdown: what the documentation shows.
pub fn table() -> String {
    let row = |known: &'static Known| (vec![option::spelt(known)], &known.care);
    option::table("| option | here | |", ALL.iter().map(row))
}
