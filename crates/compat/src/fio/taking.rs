//! How each option changes the settings, by subject.

use super::known::{instead, no};
use super::settings::{Direction, Distribution, Settings, Wrong};
use super::shown::{Unified, Without};
use super::value::{Amount, BadValue, amount, boolean, by_direction, number, size, time_ns};
use drivelab_core::plan::{Content, Engine, Sync};

/// More than that is a typing error.
const COUNT_MAX: u64 = 1 << 20;

fn count(text: &str) -> Result<u32, BadValue> {
    let value = number(text)?;
    if value == 0 || value > COUNT_MAX { Err(BadValue) } else { Ok(value as u32) }
}

fn whole(amount: Amount) -> Option<Amount> {
    // 0 means all there is, as if it had not been said.
    (amount != Amount::Bytes(0)).then_some(amount)
}

impl Settings {
    pub(super) fn take_place(
        &mut self,
        name: &str,
        text: &str,
        kb_base: u64,
    ) -> Result<bool, Wrong> {
        let bytes = |text: &str| size(text, kb_base);
        match name {
            "directory" => self.directories = names(text)?,
            "filename" if text.starts_with("sim:") => self.filenames = vec![text.to_string()],
            "filename" => self.filenames = names(text)?,
            "filename_format" => self.filename_format = Some(text.to_string()),
            "size" => self.size = whole(amount(text, kb_base)?),
            "io_size" => self.io_size = whole(amount(text, kb_base)?),
            "filesize" => {
                if text.contains('-') {
                    return Err(Wrong::NotHere(instead("say one size")));
                }
                self.filesize = Some(bytes(text)?).filter(|bytes| *bytes > 0);
            }
            "offset" => self.offset = amount(text, kb_base)?,
            "offset_increment" => self.offset_increment = amount(text, kb_base)?,
            "offset_align" => self.offset_align = bytes(text)?,
            "nrfiles" => self.nrfiles = count(text)?,
            "file_service_type" => {
                if !matches!(text, "roundrobin" | "roundrobin:1") {
                    return Err(Wrong::NotHere(no("files are used in turn, one request each")));
                }
            }
            "fallocate" => {
                self.fallocates = match text {
                    "none" | "0" | "truncate" => false,
                    "native" | "posix" | "keep" | "1" => true,
                    _ => return Err(Wrong::Value),
                }
            }
            "ba" => {
                let each = by_direction(text, [0; 3], bytes)?;
                if each.iter().any(|one| *one != each[0]) {
                    return Err(Wrong::NotHere(instead("say one alignment")));
                }
                self.ba = Some(each[0]).filter(|ba| *ba > 0);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn take_load(
        &mut self,
        name: &str,
        value: Option<&str>,
        kb_base: u64,
    ) -> Result<bool, Wrong> {
        let text = value.unwrap_or_default();
        let bytes = |text: &str| match size(text, kb_base)? {
            0 => Err(BadValue),
            bytes => Ok(bytes),
        };
        match name {
            "rw" => self.rw = direction(text)?,
            "bs" => {
                self.bs = by_direction(text, self.bs, bytes)?;
                (self.bsrange, self.bssplit) = (None, None);
            }
            "bsrange" => {
                let before = self.bs.map(|bs| (bs, bs));
                let range = |text: &str| {
                    let (low, high) = text.split_once(['-', ':']).ok_or(BadValue)?;
                    let (low, high) = (bytes(low)?, bytes(high)?);
                    if low <= high { Ok((low, high)) } else { Err(BadValue) }
                };
                self.bsrange = Some(by_direction(text, before, range)?);
            }
            "bssplit" => self.bssplit = Some(splits(text, self.bs, kb_base)?),
            "ioengine" => self.engine = (text.to_string(), engine(text)?),
            "iodepth" => self.depth = count(text)?,
            "iodepth_batch" => self.batch_submit = Some(count(text)?),
            "iodepth_batch_complete_min" => self.batch_complete = Some(number(text)? as u32),
            "numjobs" => self.numjobs = count(text)?,
            "number_ios" => self.number_ios = Some(number(text)?).filter(|count| *count > 0),
            "random_distribution" => self.distribution = distribution(text)?,
            "percentage_random" => {
                let percent = by_direction(text, [100; 3], number)?;
                if percent.iter().any(|one| *one > 100) {
                    return Err(Wrong::Value);
                }
                if percent[0] != percent[1] {
                    return Err(Wrong::NotHere(instead("say one share for all directions")));
                }
                self.percentage_random = percent[0];
            }
            "norandommap" => self.norandommap = boolean(value)?,
            "rwmixread" | "rwmixwrite" => {
                let share = number(text)?;
                let share = u32::try_from(share).ok().filter(|share| *share <= 100);
                let share = share.ok_or(BadValue)?;
                self.rwmixread = Some(if name == "rwmixread" { share } else { 100 - share });
            }
            "rate" => self.rate = by_direction(text, self.rate, |text| size(text, kb_base))?,
            "rate_iops" => self.rate_iops = by_direction(text, self.rate_iops, number)?,
            "rate_process" => {
                self.poisson = match text {
                    "linear" => false,
                    "poisson" => true,
                    _ => return Err(Wrong::Value),
                }
            }
            "hipri" => self.hipri = boolean(value)?,
            "sqthread_poll" => self.sqthread_poll = boolean(value)?,
            "cpus_allowed" => self.cpus = text.replace(':', ","),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn take_time(&mut self, name: &str, value: Option<&str>) -> Result<bool, Wrong> {
        const SECOND: u64 = 1_000_000_000;
        let text = value.unwrap_or_default();
        match name {
            "runtime" => self.runtime_ns = time_ns(text, SECOND)?,
            "time_based" => self.time_based = boolean(value)?,
            "ramp_time" => self.ramp_ns = time_ns(text, SECOND)?,
            "loops" => self.loops = u64::from(count(text)?),
            "thinktime" => self.thinktime_ns = time_ns(text, 1_000)?,
            "thinktime_blocks" => self.thinktime_blocks = count(text)?,
            "thinktime_blocks_type" => {
                if !matches!(text, "complete" | "issue") {
                    return Err(Wrong::Value);
                }
            }
            "stonewall" => self.stonewall = boolean(value)?,
            "new_group" => self.new_group = boolean(value)?,
            "thread" => self.thread = boolean(value)?,
            "randrepeat" | "allrandrepeat" => self.randrepeat = boolean(value)?,
            "randseed" => self.randseed = Some(number(text)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// fio has a variable for each of fsync, fdatasync and sync; here a job has one of them.
    fn take_sync(&mut self, sync: Sync) -> Result<(), Wrong> {
        let is_of_one_kind = std::mem::discriminant(&self.sync) == std::mem::discriminant(&sync);
        match (self.sync, sync) {
            (Sync::None, _) => self.sync = sync,
            (_, Sync::None) => {}
            _ if is_of_one_kind => self.sync = sync,
            _ => {
                return Err(Wrong::NotHere(instead(
                    "give one of fsync, fdatasync and sync to a job",
                )));
            }
        }
        Ok(())
    }

    pub(super) fn take_data(&mut self, name: &str, value: Option<&str>) -> Result<bool, Wrong> {
        let text = value.unwrap_or_default();
        match name {
            "direct" | "buffered" => {
                let is_set = boolean(value)?;
                self.direct = is_set == (name == "direct");
            }
            "fsync" | "fdatasync" => {
                let every = u32::try_from(number(text)?).map_err(|_| BadValue)?;
                self.take_sync(match (every, name) {
                    (0, _) => Sync::None,
                    (every, "fsync") => Sync::Fsync(every),
                    (every, _) => Sync::Fdatasync(every),
                })?;
            }
            "sync" => {
                self.take_sync(match text {
                    "0" | "none" => Sync::None,
                    "1" | "sync" | "dsync" => Sync::Dsync,
                    _ => return Err(Wrong::Value),
                })?;
            }
            "end_fsync" | "fsync_on_close" => self.end_fsync = boolean(value)?,
            "fadvise_hint" => {
                self.advise = match text {
                    "0" => false,
                    "" | "1" => true,
                    _ => return Err(Wrong::NotHere(no("0 and 1 alone are known"))),
                }
            }
            "overwrite" => self.overwrite = boolean(value)?,
            "invalidate" => self.invalidate = boolean(value)?,
            "pre_read" => self.pre_read = boolean(value)?,
            "unlink" => self.unlink = boolean(value)?,
            "zero_buffers" => {
                self.content = if boolean(value)? { Content::Zero } else { Content::Random };
            }
            "buffer_compress_percentage" => {
                let share = u32::try_from(number(text)?).ok().filter(|share| *share <= 100);
                self.content = match share.ok_or(BadValue)? {
                    0 => Content::Random,
                    100 => Content::Zero,
                    share => Content::Compressible(share),
                };
            }
            "verify" => self.verify = checksum(text)?,
            "do_verify" => self.do_verify = boolean(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn take_report(&mut self, name: &str, value: Option<&str>) -> Result<(), Wrong> {
        let text = value.unwrap_or_default();
        match name {
            "description" => self.description = Some(text.to_string()),
            "group_reporting" => self.group_reporting = boolean(value)?,
            "per_job_logs" => self.per_job_logs = boolean(value)?,
            "write_bw_log" => self.logs[0] = Some(text.to_string()),
            "write_iops_log" => self.logs[1] = Some(text.to_string()),
            "write_lat_log" => self.logs[2] = Some(text.to_string()),
            "log_avg_msec" => self.log_avg_ms = number(text)?,
            "clat_percentiles" => self.with_percentiles[0] = boolean(value)?,
            "lat_percentiles" => self.with_percentiles[1] = boolean(value)?,
            "slat_percentiles" => self.with_percentiles[2] = boolean(value)?,
            "percentile_list" => {
                let one = |text: &str| -> Result<f64, BadValue> {
                    let value: f64 = text.trim().parse().map_err(|_| BadValue)?;
                    if (0.0..=100.0).contains(&value) { Ok(value) } else { Err(BadValue) }
                };
                self.percentiles = text.split(':').map(one).collect::<Result<_, _>>()?;
                self.percentiles.sort_by(f64::total_cmp);
            }
            "unified_rw_reporting" => {
                self.unified = match text {
                    "none" | "0" => Unified::None,
                    "mixed" | "1" => Unified::Mixed,
                    "both" | "2" => Unified::Both,
                    _ => return Err(Wrong::Value),
                }
            }
            "disable_lat" => self.without.total = boolean(value)?,
            "disable_clat" => self.without.completion = boolean(value)?,
            "disable_slat" => self.without.submission = boolean(value)?,
            "gtod_reduce" if boolean(value)? => {
                self.without = Without { submission: true, completion: true, total: true };
            }
            "unit_base" => {
                self.unit_base = match text {
                    "0" => 0,
                    "1" => 1,
                    "8" => 8,
                    _ => return Err(Wrong::Value),
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Names between colons; `\:` is a colon.
fn names(text: &str) -> Result<Vec<String>, Wrong> {
    let mut names = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(':')) => {
                letters.next();
                names.iter_mut().last().into_iter().for_each(|name| name.push(':'));
            }
            (':', _) => names.push(String::new()),
            _ => names.iter_mut().last().into_iter().for_each(|name| name.push(letter)),
        }
    }
    if names.iter().any(String::is_empty) { Err(Wrong::Value) } else { Ok(names) }
}

/// The name of a checksum; `0` is none.
fn checksum(text: &str) -> Result<Option<String>, Wrong> {
    const KNOWN: [&str; 17] = [
        "md5",
        "crc64",
        "crc32c",
        "crc32c-intel",
        "crc32",
        "crc16",
        "crc7",
        "xxhash",
        "sha512",
        "sha256",
        "sha1",
        "sha3-224",
        "sha3-256",
        "sha3-384",
        "sha3-512",
        "meta",
        "1",
    ];
    match text {
        "0" => Ok(None),
        "pattern" | "pattern_hdr" | "null" => {
            Err(Wrong::NotHere(no("blocks are checked by drivelab's own stamps")))
        }
        known if KNOWN.contains(&known) => Ok(Some(known.to_string())),
        _ => Err(Wrong::Value),
    }
}

fn direction(text: &str) -> Result<Direction, Wrong> {
    let (text, run) = match text.split_once(':') {
        Some((random @ ("randread" | "randwrite" | "randtrim"), count)) => (random, number(count)?),
        _ => (text, 1),
    };
    if run == 0 {
        return Err(Wrong::NotHere(instead("say rw=read or the like: nothing would be random")));
    }
    let (random, kinds) = match text {
        "read" => (false, [true, false, false]),
        "write" => (false, [false, true, false]),
        "trim" => (false, [false, false, true]),
        "rw" | "readwrite" => (false, [true, true, false]),
        "randread" => (true, [true, false, false]),
        "randwrite" => (true, [false, true, false]),
        "randtrim" => (true, [false, false, true]),
        "randrw" => (true, [true, true, false]),
        "trimwrite" => (false, [false, true, true]),
        "randtrimwrite" => (true, [false, true, true]),
        other if other.contains(':') => {
            return Err(Wrong::NotHere(no(
                "`:N` goes with randread, randwrite and randtrim alone; leave it out",
            )));
        }
        _ => return Err(Wrong::Value),
    };
    let word = if text == "readwrite" { "rw" } else { text };
    Ok(Direction { word: word.to_string(), random, run, kinds })
}

fn engine(text: &str) -> Result<Engine, Wrong> {
    Ok(match text {
        "libaio" => Engine::Libaio,
        "io_uring" => Engine::IoUring,
        "psync" | "sync" | "vsync" | "pvsync" | "pvsync2" => Engine::Psync,
        "mmap" => Engine::Mmap,
        "null" => Engine::Null,
        _ => {
            return Err(Wrong::NotHere(instead(
                "use libaio, io_uring, psync, sync, pvsync2, mmap, null",
            )));
        }
    })
}

fn distribution(text: &str) -> Result<Distribution, Wrong> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    Ok(match kind {
        "random" => Distribution::Random,
        "zipf" | "pareto" | "normal" if rest.contains(':') => {
            return Err(Wrong::NotHere(instead(
                "leave the centre out: places are scattered at random",
            )));
        }
        "pareto" => {
            let power = if rest.is_empty() { "0.2" } else { rest };
            let power: f64 = power.parse().map_err(|_| BadValue)?;
            if !(power > 0.0 && power < 1.0) {
                return Err(Wrong::Value);
            }
            Distribution::Pareto(power)
        }
        "normal" => {
            let deviation = if rest.is_empty() { "0" } else { rest };
            let deviation: f64 = deviation.parse().map_err(|_| BadValue)?;
            if !(0.0..100.0).contains(&deviation) {
                return Err(Wrong::Value);
            }
            Distribution::Normal(deviation)
        }
        "zipf" => {
            let theta = if rest.is_empty() { "1.1" } else { rest };
            let theta: f64 = theta.parse().map_err(|_| BadValue)?;
            if !(0.0..5.0).contains(&theta) {
                return Err(Wrong::Value);
            }
            Distribution::Zipf(theta)
        }
        "zoned" => {
            let one = |part: &str| -> Result<(f64, f64), BadValue> {
                let (accesses, addresses) = part.split_once('/').ok_or(BadValue)?;
                let share = |text: &str| text.trim().parse::<f64>().map_err(|_| BadValue);
                Ok((share(accesses)?, share(addresses)?))
            };
            if rest.contains(',') {
                return Err(Wrong::NotHere(instead("say one list of zones for all directions")));
            }
            Distribution::Zoned(rest.split(':').map(one).collect::<Result<_, _>>()?)
        }
        "zoned_abs" => return Err(Wrong::NotHere(instead("use zones by zoned:A/B:…"))),
        _ => return Err(Wrong::Value),
    })
}

/// `4k/10:64k/90`, by direction; a share that is missing is what is left, divided.
fn splits(text: &str, bs: [u64; 3], kb_base: u64) -> Result<[Vec<(u64, u32)>; 3], Wrong> {
    let list = |text: &str| -> Result<Vec<(u64, u32)>, BadValue> {
        let mut entries: Vec<(u64, Option<u32>)> = Vec::new();
        for part in text.split(':') {
            let (bytes, share) = part.split_once('/').unwrap_or((part, ""));
            let share = match share {
                "" => None,
                text => Some(text.parse::<u32>().map_err(|_| BadValue)?),
            };
            let bytes = size(bytes, kb_base)?;
            if bytes == 0 {
                return Err(BadValue);
            }
            entries.push((bytes, share));
        }
        let shares = entries.iter().filter_map(|(_, share)| *share);
        let given = shares.fold(0u32, u32::saturating_add);
        let open = entries.iter().filter(|(_, share)| share.is_none()).count() as u32;
        let rest = 100u32.checked_sub(given).ok_or(BadValue)?;
        let one = rest.checked_div(open).unwrap_or(0);
        if given == 0 && open == 0 {
            return Err(BadValue);
        }
        Ok(entries.into_iter().map(|(bytes, share)| (bytes, share.unwrap_or(one))).collect())
    };
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(Wrong::Value);
    }
    let mut lists = bs.map(|bs| vec![(bs, 100)]);
    for (place, part) in parts.iter().enumerate() {
        if !part.is_empty() {
            let read = list(part)?;
            lists[place..].fill(read);
        }
    }
    Ok(lists)
}
