//! Options of fio 3.42, and of engines that are not here: known, so that a line that has them is
//! not taken for mistyped.

use super::*;

/// In the order of fio's own list.
pub(super) const ALL: &[Known] = &[
    option(
        "log_window_value, log_max_value",
        InPart("the largest completion latency is that of the whole request"),
    )
    .sets(|to, it| put(&mut to.log_lines.window, window(it.text()))),
    option("log_issue_time", Same).sets(|to, it| put(&mut to.log_lines.with_issue, it.yes())),
    option("job_start_clock_id", Ignored("times of day are those of the machine's clock")),
    option("ramp_size", instead("use ramp_time")).off(),
    option("end_syncfs", instead("use end_fsync")).off(),
    option("random_sequence_stride", InPart("of a job that goes over its file once"))
        .sets(|to, it| put(&mut to.turns.stride, it.yes())),
    option("num_range", no("a trim has one range")).unless(&["0", "1"]),
    option("sprandom, spr_num_regions, spr_op, spr_cs", instead(PREPARED)).off(),
    option("recover_zbd_write_error", no("a write that fails ends the job")).off(),
    option("write_zone_remainder", no("a zone is filled by requests of one size")).off(),
    option("write_mode", InPart("write, and zone_append with zonemode=zbd; others are refused"))
        .sets(|to, it| match it.text() {
            "write" | "zone_append" => {
                to.turns.zones.appends = it.text() == "zone_append";
                Ok(())
            }
            _ => Err(Wrong::NotHere(no("writes are those that carry data to be kept"))),
        }),
    option("fdp, dataplacement, data_placement", no(NO_PLACEMENT)).unless(&["0", "none"]),
    option("fdp_pli, plids, fdp_pli_select, plid_select, dp_scheme", Ignored(OF_PLACEMENT)),
    option("filetype", no("files, devices and directories are what they are found to be")),
    option("bs_is_seq_rand", instead("use bs=READ,WRITE, or two jobs")).off(),
    option("comm", Ignored("drivelab keeps its own name")),
    option("thinkcycles", Ignored("processors do nothing between requests")).off(),
    option("rwmixcycle", Ignored("fio itself no longer uses it")),
    option("cpuload, cpumode, cpuchunks, exit_on_io_done", no("ioengine=cpuio issues no I/O")),
    option(
        "port, hostname, listen, protocol, proto, nodelay, interface, ttl, pingpong, \
         window_size, mss, netfilename",
        no("an option of ioengine=net, which measures no drive"),
    ),
    option("cmd_type", InPart("nvme, of io_uring_cmd; others are refused"))
        .sets(|_, it| Ok(it.one_of(&[("nvme", ())])?)),
    option(
        "md_per_io_size, pi_act, pi_chk, apptag, apptag_mask, verify_mode, \
         readfua, writefua, stream_id",
        no("an option of io_uring_cmd and sg, which send commands of their own to a drive"),
    ),
    option("donorname, inplace", no("an option of ioengine=e4defrag, which moves files")),
    option(
        "rbdname, clustername, pool, clientname, busy_poll, touch_objects, namenode, chunk_size, \
         single_instance, volume, brick, uri, initiator",
        no("an option of an engine for storage over a network"),
    ),
    option(
        "http_host, http_user, http_pass, https, http_mode, http_verbose, http_object_mode, \
         http_s3_key, http_s3_keyid, http_s3_region, http_s3_security_token, \
         http_s3_storage_class, http_s3_sse_customer_key, http_s3_sse_customer_algorithm, \
         http_swift_auth_token, verb, bindname, lat_clients",
        no("an option of an engine for storage over a network"),
    ),
    option("program, arguments, grace_time, std_redirect", no("drivelab runs no other programs")),
    option("stat_type", InPart("stat, of ioengine=filestat and dirstat; others are refused")).sets(
        |_, it| match it.text() {
            "stat" => Ok(()),
            "lstat" | "statx" => Err(Wrong::NotHere(instead("say stat_type=stat"))),
            _ => Err(BadValue::wants("stat, lstat or statx").into()),
        },
    ),
    option("libblkio_driver, libblkio_path, libblkio_pre_connect_props", no(NO_LIBRARY)),
    option(
        "libblkio_num_entries, libblkio_queue_size, libblkio_pre_start_props, \
         libblkio_wait_mode, libblkio_vectored, libblkio_write_zeroes_on_trim",
        no(NO_LIBRARY),
    ),
    option("gpu_dev_ids, cuda_io, rocm_io, gpu_dev_id", no(NO_LIBRARY)),
    option("ime_psync, ime_aio, cont, object_class, svc, dfs_pool", no(NO_LIBRARY)),
    option("xnvme_be, xnvme_async, xnvme_sync, xnvme_admin, xnvme_mem, xnvme_dev_nsid", no(XNVME)),
    option("xnvme_iovec, xnvme_dev_subnqn, xnvme_adrfam, xnvme_dif", no(XNVME)),
    option("nfs_url, spdk_conf, spdk_json_conf, skip_bad, hdfsdirectory", no(NO_LIBRARY)),
];

const PREPARED: &str = "use `drivelab study steady`, which brings the drive there and proves it";
const NO_PLACEMENT: &str = "no placement hints are given to the drive";
const OF_PLACEMENT: &str = "they belong to fdp or dataplacement, which is refused";
const NO_LIBRARY: &str = "an option of an engine that needs a library of its own, and is not here";
const XNVME: &str = "an option of ioengine=xnvme, which is not here";
