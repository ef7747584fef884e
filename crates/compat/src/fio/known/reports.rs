//! What is kept and shown, what is written, and what only some engines have.

use super::super::priorities;
use super::*;
const ONE_CLOCK: &str = "every latency is recorded, from one calibrated clock";
const ERRORS_END: &str =
    "the same without errors; here one ends the job, and what was measured until then is kept";
const NOT_CHECKED: &str = "refused with verify and buffer_pattern";
const NOT_IF_VERIFIED: &str = "with verify blocks carry what verify looks for instead";
const PAUSE: &str = "I/O in flight is not waited for before it";
const LOGS: &str =
    "one line each log_avg_msec, or one each request, of the first 1,048,576 of a step";
const STEADY: &str = "each sample is a whole second from the beginning; fio's first one is shorter";

const IN_MEMORY: &str = "it says how fio keeps logs in memory while it runs";
const ALL_DIFFER: &str = "no two written blocks are identical but those of dedupe_percentage";

/// In the order of fio's own list.
pub(super) const ALL: &[Known] = &[
    option("write_bw_log", Near(LOGS)).sets(|to, it| put(&mut to.logs[0], it.string().map(Some))),
    option("bwavgtime", Ignored("samples are the intervals of the run file")),
    option("write_lat_log", Near(LOGS)).sets(|to, it| put(&mut to.logs[2], it.string().map(Some))),
    option("write_iops_log", Near(LOGS)).sets(|to, it| put(&mut to.logs[1], it.string().map(Some))),
    option("iopsavgtime", Ignored("samples are the intervals of the run file")),
    option("log_entries", Ignored("lines take no memory beforehand")),
    option("log_avg_msec", Same).sets(|to, it| put(&mut to.log_lines.every_ms, it.number())),
    option("log_hist_msec", instead("the run file has the histogram of every interval")).off(),
    option("log_hist_coarseness", Ignored("it belongs to write_hist_log, which is refused")),
    option("write_hist_log", instead("the run file has the histogram of every interval")),
    option("log_offset", Same).sets(|to, it| put(&mut to.log_lines.with_offset, it.yes())),
    option("log_prio", Same).sets(|to, it| put(&mut to.log_lines.with_priority, it.yes())),
    option("log_compression", Ignored(IN_MEMORY)),
    option("log_compression_cpus", Ignored(IN_MEMORY)),
    bare("log_store_compressed", InPart("with log_issue_time or two values a line it is refused"))
        .sets(|to, it| put(&mut to.log_lines.packed, it.yes())),
    option("log_unix_epoch", no("times in logs count from the beginning")).off(),
    option("log_alternate_epoch", no("times in logs count from the beginning")).off(),
    option("log_alternate_epoch_clock_id", Ignored("it belongs to log_alternate_epoch")),
    option("block_error_percentiles", no("errors are in the run file")).off(),
    bare("group_reporting", Same).sets(|to, it| put(&mut to.group_reporting, it.yes())),
    option("stats", no("every job is recorded")).unless(&["1"]),
    bare("zero_buffers", Same).sets(|to, it| {
        let content = |is_zero| if is_zero { Content::Zero } else { Content::Random };
        put(&mut to.content, it.yes().map(content))
    }),
    bare("refill_buffers", Ignored(ALL_DIFFER)),
    option("scramble_buffers", Ignored(ALL_DIFFER)),
    option("buffer_pattern", InPart(NOT_IF_VERIFIED))
        .sets(|to, it| put(&mut to.marks.written, plain_bytes(it.text()).map(Some))),
    option("buffer_compress_percentage", Same).sets(|to, it| {
        let content = |share| match share {
            0 => Content::Random,
            100 => Content::Zero,
            share => Content::Compressible(share),
        };
        put(&mut to.content, it.percent().map(content))
    }),
    option("buffer_compress_chunk", Ignored("the compressible part is of each 4 KiB")),
    option("dedupe_percentage", InPart(NOT_CHECKED))
        .sets(|to, it| put(&mut to.turns.repeats.percent, it.percent())),
    option("dedupe_mode", Same).sets(|to, it| {
        put(&mut to.turns.repeats.of_set, it.one_of(&[("repeat", false), ("working_set", true)]))
    }),
    option("dedupe_working_set_percentage", Same)
        .sets(|to, it| put(&mut to.turns.repeats.set_percent, it.percent())),
    option("dedupe_global", Same).sets(|to, it| put(&mut to.turns.repeats.shared, it.yes())),
    option("clat_percentiles", Same).sets(|to, it| put(&mut to.with_percentiles[0], it.yes())),
    option("lat_percentiles", Same).sets(|to, it| put(&mut to.with_percentiles[1], it.yes())),
    option("slat_percentiles", Same).sets(|to, it| put(&mut to.with_percentiles[2], it.yes())),
    option("percentile_list", Same).sets(|to, it| put(&mut to.percentiles, percentiles(it.text()))),
    option("significant_figures", Ignored("four, as fio's own default")),
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
    option("continue_on_error", Near(ERRORS_END)).unless(&["none"]),
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
    option("flow_id", Same).sets(|to, it| put(&mut to.turns.flow.group, it.short())),
    option("flow", Same).sets(|to, it| put(&mut to.turns.flow.weight, it.weight())),
    option("flow_sleep", Near(PAUSE))
        .sets(|to, it| put(&mut to.turns.flow.pause.0, it.short().map(|us| u64::from(us) * 1000))),
    option("flow_watermark", Ignored("fio ignores it, too")),
    option("steadystate, ss", Near(STEADY)).sets(|to, it| {
        to.steadystate.is_given = true;
        put(&mut to.steadystate.criterion, criterion(it.text()))
    }),
    option("steadystate_duration, ss_dur", Same)
        .sets(|to, it| put(&mut to.steadystate.window_ns, it.time_ns(SECOND))),
    option("steadystate_ramp_time, ss_ramp", Same)
        .sets(|to, it| put(&mut to.steadystate.after_ns, it.time_ns(SECOND))),
    option("steadystate_check_interval, ss_interval", Same)
        .sets(|to, it| put(&mut to.steadystate.every_ns, it.time_ns(SECOND))),
    bare("userspace_reap", Ignored("completions are taken through the kernel")),
    bare("hipri", Same).sets(|to, it| put(&mut to.hipri, it.yes())),
    bare("fixedbufs", Ignored("buffers are registered whenever the kernel takes them")),
    bare("registerfiles", Ignored("files are registered whenever the kernel takes them")),
    bare("sqthread_poll", Same).sets(|to, it| put(&mut to.sqthread_poll, it.yes())),
    option("sqthread_poll_cpu", no("the kernel places its thread")).off(),
    option("nonvectored", Ignored("requests are never vectored")),
    option("uncached", instead("use direct=1")).off(),
    option("force_async", no("the kernel decides what it hands to its threads")).off(),
    option("nowait", no("the kernel decides what may wait")).off(),
    option("cmdprio_percentage", Same).sets(priorities::percentage),
    option("cmdprio_class", Same).sets(priorities::class),
    option("cmdprio", Same).sets(priorities::level),
    option("cmdprio_hint", Near(HINTS)).sets(priorities::hint),
    option("cmdprio_bssplit", InPart("each size with its share, which fio may leave out"))
        .sets(priorities::splits),
];
