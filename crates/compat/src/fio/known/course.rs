//! When and for how long: time, checks, traces, zones, pace, ends.

use super::super::{priorities, threads};
use super::*;
const LEAST: &str = "with verify or exitall_on_error, and of a mix with rate, it is refused";
const ZONES: &str = "zbd: reads, and writes in order of one job, over the zones that a drive \
                     tells; strided: one kind in order, or random requests of one bs; zones that \
                     do not lie whole in the file are left out";
const EACH_RESET: &str = "of jobs that read, where they ask for nothing; refused of writes, \
                          before which each zone is reset";
const OWN_STAMPS: &str = "blocks are checked by drivelab's own stamps (address, seed, checksum)";
const IOLOG: &str = "one job with one file, else it is refused; the first 1,048,576 requests";
const NO_BACKLOG: &str =
    "what was written is read back when the job is done, not after this many blocks";
const TRACE: &str = "once, of one file or drive; requests that find no room are late, and that is \
                     counted";
const CHANGED: &str = "change the trace itself: one line is one request";
const ONE_CLOCK: &str = "every latency is recorded, from one calibrated clock";
const OF_TARGET: &str = "they belong to latency_target, which is refused";
const ALL_END: &str = "`all` where jobs would follow is refused, and one group of several jobs \
                       next to others";
const NOT_TWICE: &str =
    "refused together with fsync, fdatasync and sync, which sync the last writes anyway";
const ALL_IS_READ: &str = "pattern compares bytes, as fio does; by the other words blocks are \
                           checked by drivelab's own stamps (address, seed, checksum); all blocks \
                           are checked, where fio ends at the first wrong one";
const PATTERN: &str = "with verify=pattern; by the other words blocks carry drivelab's own stamps \
                       and not these bytes";
const OPEN_LOOP: &str = "an open loop: requests are due at equal times, and lateness is recorded; \
                         the directions of a mix are drawn, each with its share of both rates";

/// In the order of fio's own list.
pub(super) const ALL: &[Known] = &[
    option("loops", Near("with io_size or number_ios a loop continues where the last one ended"))
        .sets(|to, it| put(&mut to.loops, it.loops())),
    option("numjobs", Same).sets(|to, it| put(&mut to.numjobs, it.count())),
    option("startdelay", InPart("one delay; a range, from which fio draws one, is refused"))
        .sets(|to, it| put(&mut to.turns.start_ns, start_delay(it))),
    option("runtime, timeout", Same).sets(|to, it| put(&mut to.runtime_ns, it.time_ns(SECOND))),
    bare("time_based", Same).sets(|to, it| put(&mut to.time_based, it.yes())),
    bare("verify_only", Same).sets(|to, it| put(&mut to.marks.only, it.yes())),
    option("ramp_time", Same).sets(|to, it| put(&mut to.ramp_ns, it.time_ns(SECOND))),
    option("clocksource", Ignored(ONE_CLOCK)),
    option("mem, iomem", Ignored("buffers are one mapping, aligned to pages")),
    option("iomem_align, mem_align", Ignored("buffers are one mapping, aligned to pages")),
    option("verify", Near(ALL_IS_READ))
        .sets(|to, it| put(&mut to.marks.verify, checksum(it.text()))),
    option("do_verify", Same).sets(|to, it| put(&mut to.marks.reads_back, it.yes())),
    option("verify_interval", Ignored(OWN_STAMPS)),
    option("verify_offset", Ignored(OWN_STAMPS)),
    option("verify_pattern", InPart(PATTERN))
        .sets(|to, it| put(&mut to.marks.expected, bytes(it.text()).map(Some))),
    option(
        "verify_fatal",
        Ignored("all is read and every wrong block counted; fio ends at the first, with it or not"),
    ),
    option("verify_dump", Ignored("wrong blocks are listed in the run file")),
    option("verify_async", Ignored("blocks are checked by the job that read them")),
    option("verify_async_cpus", Ignored("blocks are checked by the job that read them")),
    option("verify_backlog", Near(NO_BACKLOG)).off(),
    option("verify_backlog_batch", Ignored("it belongs to verify_backlog")),
    option("experimental_verify", Ignored("the order of the writes is drawn again")),
    option(
        "verify_state_load",
        Near("all that the job covers is checked, not only what a state file lists as written"),
    )
    .off(),
    option("verify_state_save", Ignored("the run file has the plan, which says what is where")),
    option("trim_percentage", instead("use rw=trim or rw=randtrim")).off(),
    option(
        "trim_verify_zero, trim_backlog, trim_backlog_batch",
        Ignored("they belong to trim_percentage: fio looks at none of the trims of rw=trim"),
    ),
    option("verify_header_seed", Ignored("stamps carry the seed of the plan")),
    option("verify_pattern_interval", InPart(PATTERN))
        .sets(|to, it| put(&mut to.marks.every, it.number())),
    bare("verify_write_sequence", Ignored("the order of the writes is drawn again")),
    option("verify_policy", Ignored("what was written is known from the plan")),
    option("verifysort, verifysort_nr", Ignored("fio itself no longer uses them")),
    option("write_iolog", InPart(IOLOG)).sets(|to, it| put(&mut to.logs[3], it.string().map(Some))),
    option("read_iolog", Near(TRACE))
        .sets(|to, it| put(&mut to.turns.replay.path, it.string().map(Some))),
    option("read_iolog_chunked", Ignored("a trace is read whole, up to 256 MiB of it")),
    bare("replay_no_stall", Same).sets(|to, it| put(&mut to.turns.replay.no_stall, it.yes())),
    option("replay_redirect", Same)
        .sets(|to, it| put(&mut to.turns.replay.redirect, it.string().map(Some))),
    option("replay_time_scale", Same).sets(|to, it| put(&mut to.turns.replay.percent, it.count())),
    option("replay_scale, replay_align, replay_skip", instead(CHANGED)).off(),
    option(
        "merge_blktrace_file, merge_blktrace_scalars, merge_blktrace_iters",
        instead("replay each trace in a line of its own"),
    ),
    option("exec_prerun", instead("call it before; drivelab runs no other programs")),
    option("exec_postrun", instead("call it afterwards; drivelab runs no other programs")),
    option("ioscheduler", instead("use `drivelab study tune`, which puts it back")),
    option("zonemode", InPart(ZONES)).sets(|to, it| {
        let known = [("zbd", ZoneMode::Drive), ("strided", ZoneMode::Strided)];
        let words = [known.as_slice(), &[("none", ZoneMode::None)]].concat();
        to.turns.zones.is_said = true;
        put(&mut to.turns.zones.mode, it.one_of(&words))
    }),
    option("zonesize", InPart("of strided; a drive is asked for its own"))
        .sets(|to, it| put(&mut to.turns.zones.bytes, it.bytes())),
    option("zonecapacity", Ignored("a drive is asked for it")),
    option("zonerange", Same).sets(|to, it| put(&mut to.turns.zones.range, it.bytes())),
    option("zoneskip", Same).sets(|to, it| put(&mut to.turns.zones.skip, it.bytes())),
    option("read_beyond_wp", Ignored("what was read behind write pointers is told, and suspect")),
    option("max_open_zones, job_max_open_zones", Ignored("a job writes one zone at a time")),
    option("ignore_zone_limits", no("the limits of a drive are kept")).off(),
    option("zone_reset_threshold, zone_reset_frequency", InPart(EACH_RESET))
        .unless(&["0", "0.0"])
        .sets(|to, _| put(&mut to.turns.zones.resets, Ok::<bool, Wrong>(true))),
    option("lockmem", instead("put the run into a control group with less memory")).off(),
    option("rwmixread", Same).sets(|to, it| put(&mut to.rwmixread, it.percent().map(Some))),
    option("rwmixwrite", Same)
        .sets(|to, it| put(&mut to.rwmixread, it.percent().map(|share| Some(100 - share)))),
    option("nice", Same).off().sets(threads::nice),
    option("prio", Same).sets(threads::prio),
    option("prioclass", Same).off().sets(threads::prioclass),
    option("priohint", Near(HINTS)).off().sets(priorities::hint_of_all),
    option("thinktime", Same).sets(|to, it| put(&mut to.thinktime_ns, it.time_ns(1_000))),
    option("thinktime_spin", Ignored("the last part of every wait is spun")),
    option("thinktime_blocks", Same).sets(|to, it| put(&mut to.thinktime_blocks, it.count())),
    option("thinktime_blocks_type", Near("issue; complete comes to the same at depth 1"))
        .sets(|_, it| Ok(it.one_of(&[("complete", ()), ("issue", ())])?)),
    option("thinktime_iotime", instead("use thinktime_blocks")).off(),
    option("rate", Near(OPEN_LOOP)).sets(|to, it| {
        to.rate = by_direction(it.text(), to.rate, |text| size(text, it.kb_base))?;
        Ok(())
    }),
    option("rate_min, ratemin", InPart(LEAST)).sets(|to, it| {
        let least = &mut to.turns.least;
        least.bytes = by_direction(it.text(), least.bytes, |text| size(text, it.kb_base))?;
        Ok(())
    }),
    option("rate_process", Same)
        .sets(|to, it| put(&mut to.poisson, it.one_of(&[("linear", false), ("poisson", true)]))),
    option("rate_cycle, ratecycle", Same)
        .sets(|to, it| put(&mut to.turns.least.cycle_ms, it.count())),
    option("rate_ignore_thinktime", no("rate and thinktime do not go together here")).off(),
    option("rate_iops", Near(OPEN_LOOP)).sets(|to, it| {
        to.rate_iops = by_direction(it.text(), to.rate_iops, number)?;
        Ok(())
    }),
    option("rate_iops_min", InPart(LEAST)).sets(|to, it| {
        let least = &mut to.turns.least;
        least.operations = by_direction(it.text(), least.operations, number)?;
        Ok(())
    }),
    option("max_latency", instead("use --stuck-after of `drivelab run`, or look at the maximum"))
        .off(),
    option(
        "latency_target",
        instead(
            "run it at several rates, `drivelab run … --rate 20000 --poisson`, and compare p99",
        ),
    )
    .off(),
    option("latency_window, latency_percentile, latency_run", Ignored(OF_TARGET)),
    option("invalidate", Same).sets(|to, it| put(&mut to.invalidate, it.yes())),
    option("sync", Near("sync is done as dsync: data is durable, times of the file are not")).sets(
        |to, it| {
            let of_each = ["1", "sync", "dsync"].map(|word| (word, Sync::Dsync));
            let none = ["0", "none"].map(|word| (word, Sync::None));
            synced(to, it.one_of(&[of_each.as_slice(), &none].concat())?)
        },
    ),
    option("write_hint", no("no hints are given to the drive")).unless(&["none"]),
    option("create_serialize", Ignored("files are always made one after the other")),
    option("create_fsync", Ignored("what is laid out is always synced")),
    option("create_on_open", Ignored("files are always made before the jobs")),
    option("create_only", InPart("of all jobs of a line together"))
        .sets(|to, it| put(&mut to.turns.create_only, it.yes())),
    option("allow_file_create", Same).sets(|to, it| put(&mut to.turns.files_exist, it.no())),
    option("allow_mounted_write", no("the guard never lets a mounted device be written")).off(),
    option("pre_read", Same).sets(|to, it| put(&mut to.pre_read, it.yes())),
    option("cpumask", Same).sets(|to, it| put(&mut to.cpus, mask_of_cpus(it))),
    option("cpus_allowed", Same)
        .sets(|to, it| put(&mut to.cpus, it.string().map(|cpus| cpus.replace(':', ",")))),
    option(
        "cpus_allowed_policy",
        Near("split: each job has one of the CPUs in turn, also where shared is asked for"),
    ),
    option("numa_cpu_nodes", Same).sets(threads::cpu_nodes),
    option("numa_mem_policy", InPart("interleave names its nodes")).sets(threads::memory),
    option("end_fsync", InPart(NOT_TWICE)).sets(|to, it| put(&mut to.end_fsync, it.yes())),
    option("fsync_on_close", InPart(NOT_TWICE)).sets(|to, it| put(&mut to.end_fsync, it.yes())),
    option("unlink", Same).sets(|to, it| put(&mut to.unlink, it.yes())),
    option("unlink_each_loop", no("files stay until the end")).off(),
    bare("exitall", InPart(ALL_END)).sets(|to, it| put(&mut to.turns.exitall, it.yes())),
    option("exit_what", InPart(ALL_END)).sets(|to, it| {
        let words = [("group", Ends::Group), ("stonewall", Ends::Stonewall), ("all", Ends::All)];
        put(&mut to.turns.exit_what, it.one_of(&words))
    }),
    bare("exitall_on_error", Ignored("an error of one job always ends all")),
    bare("stonewall, wait_for_previous", Same).sets(|to, it| put(&mut to.stonewall, it.yes())),
    bare("new_group", Same).sets(|to, it| put(&mut to.turns.new_group, it.yes())),
    bare("thread, threads", Same).sets(|to, it| put(&mut to.thread, it.yes())),
    option("per_job_logs", Same).sets(|to, it| put(&mut to.per_job_logs, it.yes())),
];
