//! What is done: files, sizes, places, order, engine.

use super::*;
const ALL_TAKEN: &str = "all that is complete is taken in one call, where fio takes one by \
                         default: what it has not taken yet still counts as in flight there";
const ERRORS_END: &str =
    "the same without errors; here one ends the job, and what was measured until then is kept";
const OWN_ORDER: &str = "the order is as often the same as in fio, but it is one of ours";
const DIRECTORY: &str = "of a simulated drive (`sim:x25-e`) each file is a region, end to end";
const ONE_SIZE: &str = "one size; a range is refused";
const MAP_OF_SIZES: &str = "sizes are one list for all directions that have a map, else places \
                            are drawn with repetition; of a range of many sizes a part stands \
                            for all";
const ONE_SHARE: &str = "one share for all directions; random requests are drawn with repetition, \
                         where fio's map visits each block once";
const SYNCS: &str = "one of fsync, fdatasync and sync a job; in a mix fio syncs once more after \
                     each read until the next write, drivelab once every N writes";
const DISTRIBUTIONS: &str =
    "zipf, pareto and normal without a centre, zoned and sequence; zoned_abs is refused";

const FILLED: &str = "a device is written to its end; of a file a size has to be said, as room \
                      is kept on file systems";

/// In the order of fio's own list.
pub(super) const ALL: &[Known] = &[
    option("description", Same).sets(|to, it| put(&mut to.description, it.string().map(Some))),
    option("name", Same),
    option(
        "wait_for",
        InPart("the only job that runs then; where others go on running it is refused"),
    )
    .sets(|to, it| put(&mut to.turns.wait_for, it.string().map(Some))),
    option("filename", InPart("files in directories, or one drive; several drives are refused"))
        .sets(|to, it| put(&mut to.filenames, names_or_drive(it))),
    option("lockfile", no("files are locked against other runs; jobs share them freely"))
        .unless(&["none"]),
    option("directory", InPart(DIRECTORY))
        .sets(|to, it| put(&mut to.directories, names_or_drive(it))),
    option("filename_format", Same)
        .sets(|to, it| put(&mut to.filename_format, it.string().map(Some))),
    bare("unique_filename", Ignored("there are no clients whose files could collide")),
    option("opendir", instead("name the files with filename")),
    option(
        "rw, readwrite",
        InPart("`:N` with one direction alone, and in order a multiple of bs, else refused"),
    )
    .sets(|to, it| put(&mut to.rw, direction(it))),
    option(
        "bs, blocksize",
        InPart("in a random mix with a size for each direction places are drawn with repetition"),
    )
    .sets(|to, it| {
        to.bs = blocks(it, to.bs)?;
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
    bare("bs_unaligned, blocksize_unaligned", no("sizes are multiples of the smallest block here"))
        .off(),
    option("randrepeat", InPart(OWN_ORDER)).sets(|to, it| put(&mut to.randrepeat, it.yes())),
    option("randseed", InPart(OWN_ORDER))
        .sets(|to, it| put(&mut to.randseed, it.number().map(Some))),
    bare("norandommap", Same).sets(|to, it| put(&mut to.norandommap, it.first_yes())),
    bare("softrandommap", Ignored("the order of blocks takes no memory here")),
    option("ignore_error", Near(ERRORS_END)),
    option(
        "rw_sequencer",
        no("leave it out: rw=…:n continues sequentially here, which is its \
                               default"),
    ),
    option(
        "ioengine",
        InPart(
            "libaio, io_uring, io_uring_cmd (of NVMe), sync, psync, vsync, pvsync, pvsync2, \
             posixaio, mmap, null, falloc, ftruncate, and filecreate, filestat, filedelete, \
             dircreate, dirstat, dirdelete",
        ),
    )
    .sets(|to, it| {
        to.turns.names = Work::of(it.text());
        put(&mut to.engine, engine(it.text()))
    }),
    option("iodepth", Same).sets(|to, it| put(&mut to.depth, it.count())),
    option("iodepth_batch, iodepth_batch_submit", Same)
        .sets(|to, it| put(&mut to.batch_submit, it.count().map(Some))),
    option("iodepth_batch_complete_min, iodepth_batch_complete", Same)
        .sets(|to, it| put(&mut to.batch_complete, it.number().map(|least| Some(least as u32)))),
    option("iodepth_batch_complete_max", Ignored(ALL_TAKEN)),
    option("iodepth_low", InPart("all that is complete by then is taken in one call"))
        .sets(|to, it| put(&mut to.turns.depth_low, it.count().map(Some))),
    option("serialize_overlap", InPart("where no two requests can overlap; else it is refused"))
        .sets(|to, it| put(&mut to.turns.no_overlap, it.yes())),
    option("io_submit_mode", Near("requests are submitted by the job itself (inline)"))
        .unless(&["inline"]),
    option("size", InPart(ONE_SIZE)).sets(|to, it| put(&mut to.size, it.whole())),
    option("io_size, io_limit", Same).sets(|to, it| put(&mut to.io_size, it.whole())),
    option("fill_device, fill_fs", InPart(FILLED))
        .sets(|to, it| put(&mut to.turns.fills, it.yes())),
    option("filesize", InPart(ONE_SIZE)).sets(|to, it| put(&mut to.filesize, file_sizes(it))),
    option("file_append", instead("say an offset")).off(),
    option("offset, fileoffset", Same).sets(|to, it| put(&mut to.offset, it.amount())),
    option(
        "offset_increment",
        InPart("files of their own are all as large as that of the last job"),
    )
    .sets(|to, it| put(&mut to.offset_increment, it.amount())),
    option("offset_align", InPart("of an offset in bytes too; in fio of one in percent alone"))
        .sets(|to, it| put(&mut to.offset_align, it.bytes())),
    option("number_ios", Same).sets(|to, it| put(&mut to.number_ios, it.number().map(above_zero))),
    option(
        "random_generator",
        InPart("lfsr comes to each block once; the order is drivelab's own"),
    )
    .sets(|to, it| put(&mut to.turns.lfsr, is_lfsr(it.text()))),
    option("random_distribution", Near(DISTRIBUTIONS))
        .sets(|to, it| put(&mut to.distribution, distributions(it))),
    option("percentage_random", InPart(ONE_SHARE))
        .sets(|to, it| put(&mut to.percentage_random, shares(it))),
    option("allrandrepeat", InPart(OWN_ORDER)).sets(|to, it| put(&mut to.randrepeat, it.yes())),
    option("nrfiles, nr_files", Same).sets(|to, it| put(&mut to.nrfiles, it.count())),
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
        put(&mut to.advise, known.map_err(|_| Wrong::NotHere(no("only 0 and 1 are supported"))))
    }),
    option("fsync", InPart(SYNCS))
        .sets(|to, it| synced(to, it.every()?.map_or(Sync::None, Sync::Fsync))),
    option("fdatasync", InPart(SYNCS))
        .sets(|to, it| synced(to, it.every()?.map_or(Sync::None, Sync::Fdatasync))),
    option("write_barrier", instead("use fsync or fdatasync")).off(),
    option("sync_file_range", instead("use fsync or fdatasync")).unless(&["", "none"]),
    option("direct", Same).sets(|to, it| put(&mut to.direct, it.yes())),
    option("atomic", InPart("direct writes of libaio, io_uring and pvsync2; others are refused"))
        .sets(|to, it| put(&mut to.turns.atomic, it.yes())),
    option("buffered", Same)
        .sets(|to, it| put(&mut to.direct, it.yes().map(|is_buffered| !is_buffered))),
    option("overwrite", Same).sets(|to, it| put(&mut to.overwrite, it.yes())),
];
