//! What is given to options of fio, read.

use super::known::{instead, no};
use super::names::Work;
use super::sequence;
use super::settings::{Direction, Distribution, Settings, Window, Wrong};
use super::value::{Amount, BadValue, amount, boolean, by_direction, number, size, time_ns};
use drivelab_core::op::SECOND;
use drivelab_core::plan::{Engine, Sync};

/// More than that is a typing error.
const COUNT_MAX: u64 = 1 << 20;
/// The largest `flow`.
const WEIGHT_MAX: u32 = 1000;

const PERCENT: BadValue = BadValue::wants("a whole number from 0 to 100");
const BLOCK: BadValue = BadValue::wants("sizes of 1 byte or more: 512, 4k, 1m");
const RANGE: BadValue = BadValue::wants("a range, the smaller size first: 4k-64k");
const NAMES: BadValue = BadValue::wants("names between colons, none of them empty");
const SPLIT: BadValue = BadValue::wants("sizes with shares of 100 at most: 4k/60:64k/40");
const RW: BadValue = BadValue::wants(
    "read, write, trim, rw, randread, randwrite, randtrim, randrw, trimwrite or randtrimwrite",
);

/// What was given to an option.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// What stands behind the `=`.
    pub value: Option<&'a str>,
    /// `kb_base`, as far as it was said.
    pub kb_base: u64,
}

impl<'a> Given<'a> {
    /// What stands behind the `=`, or nothing.
    pub fn text(&self) -> &'a str {
        self.value.unwrap_or_default()
    }

    /// The same, as it is.
    pub fn string(&self) -> Result<String, BadValue> {
        Ok(self.text().to_owned())
    }

    /// Yes or no.
    pub fn yes(&self) -> Result<bool, BadValue> {
        boolean(self.value)
    }

    /// No or yes.
    pub fn no(&self) -> Result<bool, BadValue> {
        self.yes().map(|is_yes| !is_yes)
    }

    /// How often: as many as fio's own number holds.
    pub fn loops(&self) -> Result<u64, BadValue> {
        let loops = number(self.text()).ok().filter(|count| (1..1 << 32).contains(count));
        loops.ok_or(BadValue::wants("a whole number from 1 to 4294967295"))
    }

    /// The same of what stands before a comma, which is all that fio looks at.
    pub fn first_yes(&self) -> Result<bool, BadValue> {
        boolean(self.value.and_then(|text| text.split(',').next()))
    }

    /// A number.
    pub fn number(&self) -> Result<u64, BadValue> {
        number(self.text()).map_err(|_| BadValue::wants("a whole number, such as 16, 4k or 0x10"))
    }

    /// A number of 32 bits.
    pub fn short(&self) -> Result<u32, BadValue> {
        let short = number(self.text()).ok().and_then(|number| u32::try_from(number).ok());
        short.ok_or(BadValue::wants("a whole number below 4294967296"))
    }

    /// A weight; 0 is none.
    pub fn weight(&self) -> Result<u32, BadValue> {
        let weight = self.short().ok().filter(|weight| *weight <= WEIGHT_MAX);
        weight.ok_or(BadValue::wants("a whole number from 0 to 1000"))
    }

    /// At least 1, and not absurd.
    pub fn count(&self) -> Result<u32, BadValue> {
        let count = number(self.text()).ok().filter(|count| (1..=COUNT_MAX).contains(count));
        let wanted = BadValue::wants("a whole number from 1 to 1048576");
        count.map(|count| count as u32).ok_or(wanted)
    }

    /// At most 100. Of several values fio takes the last.
    pub fn percent(&self) -> Result<u32, BadValue> {
        let last = self.text().rsplit(',').next().unwrap_or_default();
        let share = number(last).ok().and_then(|share| u32::try_from(share).ok());
        share.filter(|share| *share <= 100).ok_or(PERCENT)
    }

    /// Every this many; 0 is never.
    pub fn every(&self) -> Result<Option<u32>, BadValue> {
        let every = u32::try_from(self.number()?)
            .map_err(|_| BadValue::wants("a whole number of writes; 0 is never"))?;
        Ok(Some(every).filter(|every| *every > 0))
    }

    /// Bytes.
    pub fn bytes(&self) -> Result<u64, BadValue> {
        size(self.text(), self.kb_base)
    }

    /// Bytes of a request, in a part of what was given.
    pub fn block(&self, part: &str) -> Result<u64, BadValue> {
        size(part, self.kb_base).map_err(|_| BLOCK).and_then(|bytes| above_zero(bytes).ok_or(BLOCK))
    }

    /// Bytes or percent.
    pub fn amount(&self) -> Result<Amount, BadValue> {
        amount(self.text(), self.kb_base)
    }

    /// The same; 0 means all there is, as if it had not been said.
    pub fn whole(&self) -> Result<Option<Amount>, BadValue> {
        Ok(Some(self.amount()?).filter(|amount| *amount != Amount::Bytes(0)))
    }

    /// A time; a number without a unit is in units of `plain_ns`.
    pub fn time_ns(&self, plain_ns: u64) -> Result<u64, BadValue> {
        time_ns(self.text(), plain_ns)
    }

    /// What one of these words means.
    pub fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, BadValue> {
        let found = words.iter().find(|(word, _)| *word == self.text());
        let known = words.iter().map(|(word, _)| *word).filter(|word| !word.is_empty());
        let form = || format!("one of {}", known.collect::<Vec<_>>().join(", "));
        found.map(|(_, meaning)| *meaning).ok_or_else(|| BadValue(form().into()))
    }
}

/// Puts what was read in its place.
pub fn put<T, E>(place: &mut T, read: Result<T, E>) -> Result<(), Wrong>
where
    Wrong: From<E>,
{
    *place = read?;
    Ok(())
}

/// 0 is as if it had not been said.
pub fn above_zero(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number > 0)
}

/// fio has a variable for each of fsync, fdatasync and sync; here a job has one of them.
pub fn synced(job: &mut Settings, sync: Sync) -> Result<(), Wrong> {
    let is_of_one_kind = std::mem::discriminant(&job.sync) == std::mem::discriminant(&sync);
    match (job.sync, sync) {
        (Sync::None, _) => job.sync = sync,
        (_, Sync::None) => {}
        _ if is_of_one_kind => job.sync = sync,
        _ => {
            let way = "give one of fsync, fdatasync and sync to a job";
            return Err(Wrong::NotHere(instead(way)));
        }
    }
    Ok(())
}

/// `ba`: one for all directions.
pub fn alignment(it: &Given<'_>) -> Result<Option<u64>, Wrong> {
    let each = by_direction(it.text(), [0; 3], |text| size(text, it.kb_base))?;
    match each.iter().all(|one| *one == each[0]) {
        true => Ok(above_zero(each[0])),
        false => Err(Wrong::NotHere(instead("say one alignment"))),
    }
}

/// `bs`: of `4k-8k` the first is of reads and the second of writes and trims, as fio has it.
pub fn blocks(it: &Given<'_>, bs: [u64; 3]) -> Result<[u64; 3], BadValue> {
    match it.text().split_once('-') {
        Some((read, write)) if !read.is_empty() => {
            let write = it.block(write)?;
            Ok([it.block(read)?, write, write])
        }
        _ => by_direction(it.text(), bs, |text| it.block(text)),
    }
}

/// `filesize`: one, or the smallest and the largest.
pub fn file_sizes(it: &Given<'_>) -> Result<Option<u64>, Wrong> {
    let (least, most) = it.text().split_once('-').unwrap_or((it.text(), it.text()));
    let (least, most) = (size(least, it.kb_base)?, size(most, it.kb_base)?);
    match least == most {
        true => Ok(above_zero(least)),
        false => Err(Wrong::NotHere(instead("say one size: fio draws one of the range"))),
    }
}

/// `startdelay`: one time; of a range fio draws one.
pub fn start_delay(it: &Given<'_>) -> Result<u64, Wrong> {
    match it.text().contains('-') {
        true => Err(Wrong::NotHere(instead("say one delay: fio draws one of the range"))),
        false => Ok(it.time_ns(SECOND)?),
    }
}

/// `cpumask`, as the list that `cpus_allowed` is.
pub fn mask_of_cpus(it: &Given<'_>) -> Result<String, BadValue> {
    let mask = it.number().ok().and_then(above_zero);
    let mask = mask.ok_or(BadValue::wants("a mask with a bit for each CPU: 3 or 0x3"))?;
    let cpus = (0..u64::BITS).filter(|cpu| mask >> cpu & 1 == 1);
    Ok(cpus.map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(","))
}

/// `bsrange`: from one size to another.
pub fn ranges(it: &Given<'_>, bs: [u64; 3]) -> Result<Option<[(u64, u64); 3]>, BadValue> {
    let range = |text: &str| {
        let (low, high) = text.split_once(['-', ':']).ok_or(RANGE)?;
        let (low, high) = (it.block(low)?, it.block(high)?);
        if low <= high { Ok((low, high)) } else { Err(RANGE) }
    };
    by_direction(it.text(), bs.map(|bs| (bs, bs)), range).map(Some)
}

/// `percentage_random`, of reads, writes and trims.
pub fn shares(it: &Given<'_>) -> Result<[u64; 3], BadValue> {
    let share = |text: &str| number(text).ok().filter(|share| *share <= 100).ok_or(PERCENT);
    by_direction(it.text(), [100; 3], share)
}

/// `percentile_list`, in order.
pub fn percentiles(text: &str) -> Result<Vec<f64>, BadValue> {
    let one = |text: &str| -> Result<f64, BadValue> {
        let value = text.trim().parse::<f64>().ok().filter(|it| (0.0..=100.0).contains(it));
        value.ok_or(BadValue::wants("percentiles from 0 to 100 between colons: 50:99:99.9"))
    };
    let mut found = text.split(':').map(one).collect::<Result<Vec<f64>, _>>()?;
    found.sort_by(f64::total_cmp);
    Ok(found)
}

/// Names between colons; `\:` is a colon.
pub fn names(it: &Given<'_>) -> Result<Vec<String>, Wrong> {
    let mut names = vec![String::new()];
    let mut letters = it.text().chars().peekable();
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
    if names.iter().any(String::is_empty) { Err(NAMES.into()) } else { Ok(names) }
}

/// The same, or one simulated drive, whose name has a colon.
pub fn names_or_drive(it: &Given<'_>) -> Result<Vec<String>, Wrong> {
    if it.text().starts_with("sim:") { Ok(vec![it.text().to_owned()]) } else { names(it) }
}

/// Whether a generator of random numbers comes to each block once before it comes to one again.
pub fn is_lfsr(text: &str) -> Result<bool, BadValue> {
    match text {
        "lfsr" => Ok(true),
        "tausworthe" | "tausworthe64" => Ok(false),
        _ => Err(BadValue::wants("tausworthe, tausworthe64 or lfsr")),
    }
}

/// What a line of a log says of the requests in its time.
pub fn window(text: &str) -> Result<Window, BadValue> {
    match text {
        "avg" | "0" => Ok(Window::Average),
        "max" | "1" => Ok(Window::Maximum),
        "both" => Ok(Window::Both),
        _ => Err(BadValue::wants("avg, max or both")),
    }
}

/// The checksum of `verify`; `None`: blocks are not checked.
pub fn checksum(text: &str) -> Result<Option<String>, Wrong> {
    const KNOWN: [&str; 20] = [
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
        "pattern",
        "pattern_hdr",
        "null",
        "1",
    ];
    match text {
        "0" => Ok(None),
        known if KNOWN.contains(&known) => Ok(Some(known.to_string())),
        _ => Err(Wrong::Value(format!("one of {}", KNOWN[..19].join(", ")))),
    }
}

/// `rw`: behind the colon stand how many requests follow each other before the next random one, or
/// the bytes that are left out behind each request in order.
pub fn direction(it: &Given<'_>) -> Result<Direction, Wrong> {
    let (text, more) = it.text().split_once(':').unwrap_or((it.text(), ""));
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
        _ => return Err(RW.into()),
    };
    let is_of_one = kinds.iter().filter(|is_issued| **is_issued).count() == 1;
    let (mut run, mut hole) = (1, 0);
    match (more, random, is_of_one) {
        ("", ..) => {}
        (_, _, false) => {
            return Err(Wrong::NotHere(no("`:N` goes with one direction alone; leave it out")));
        }
        (count, true, _) => run = number(count)?,
        (bytes, false, _) => {
            let left_out = size(bytes.trim_start_matches('-'), it.kb_base)?;
            let left_out = i64::try_from(left_out).map_err(|_| RW)?;
            hole = if bytes.starts_with('-') { -left_out } else { left_out };
        }
    }
    if run == 0 {
        return Err(Wrong::NotHere(instead("say rw=read or the like: nothing would be random")));
    }
    let word = if text == "readwrite" { "rw" } else { text };
    let word = word.to_string();
    Ok(Direction { word, random, run, hole, kinds, is_traced: false })
}

/// `ioengine`, in fio's word, and what stands for it.
pub fn engine(text: &str) -> Result<(String, Engine), Wrong> {
    let engine = match text {
        "libaio" => Engine::Libaio,
        "io_uring" => Engine::IoUring,
        "io_uring_cmd" => Engine::IoUringCmd,
        "psync" | "sync" | "vsync" | "pvsync" | "pvsync2" | "posixaio" => Engine::Psync,
        "mmap" => Engine::Mmap,
        "falloc" => Engine::Falloc,
        "ftruncate" => Engine::Ftruncate,
        "null" => Engine::Null,
        names if Work::of(names).is_some() => Engine::Psync,
        _ => {
            let way = "use libaio, io_uring, io_uring_cmd, psync, sync, pvsync2, posixaio, mmap, \
                       null, falloc, ftruncate, or filecreate and its like";
            return Err(Wrong::NotHere(instead(way)));
        }
    };
    Ok((text.to_owned(), engine))
}

/// A parameter, `usual` where there is none.
fn within(
    text: &str,
    usual: &str,
    (is_meant, form): (fn(f64) -> bool, &'static str),
) -> Result<f64, Wrong> {
    let number: Option<f64> = if text.is_empty() { usual } else { text }.parse().ok();
    Ok(number.filter(|number| is_meant(*number)).ok_or(BadValue::wants(form))?)
}

/// `random_distribution`, of reads, writes and trims.
pub fn distributions(it: &Given<'_>) -> Result<[Distribution; 3], Wrong> {
    if it.text().starts_with("zoned") && it.text().contains(',') {
        return Err(Wrong::NotHere(instead("say one list of zones for all directions")));
    }
    if let Some(list) = it.text().strip_prefix("sequence:") {
        let list = Distribution::Sequence(sequence::blocks(list)?);
        return Ok([list.clone(), list.clone(), list]);
    }
    let parts: Vec<&str> = it.text().split(',').collect();
    let of = |place: usize| distribution(parts.get(place).or(parts.last()).unwrap_or(&""));
    Ok([of(0)?, of(1)?, of(2)?])
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
        "pareto" => Distribution::Pareto(within(
            rest,
            "0.2",
            (|it| it > 0.0 && it < 1.0, "pareto:H with H above 0 and below 1"),
        )?),
        "normal" => Distribution::Normal(within(
            rest,
            "0",
            (|it| (0.0..100.0).contains(&it), "normal:D with D from 0 to below 100"),
        )?),
        "zipf" => Distribution::Zipf(within(
            rest,
            "1.1",
            (|it| (0.0..5.0).contains(&it), "zipf:THETA with THETA from 0 to below 5"),
        )?),
        "zoned" => Distribution::Zoned(zones(rest)?),
        "zoned_abs" => return Err(Wrong::NotHere(instead("use zones by zoned:A/B:…"))),
        _ => {
            let form = "random, zipf:THETA, pareto:H, normal:D, zoned:ACCESSES/ADDRESSES:… or \
                        sequence:BLOCKS";
            return Err(BadValue::wants(form).into());
        }
    })
}

/// Shares of accesses and addresses; those that are missing are what is left, divided.
fn zones(text: &str) -> Result<Vec<(f64, f64)>, BadValue> {
    const ZONES: BadValue = BadValue::wants("shares in percent: zoned:60/10:30/20:10/70");
    let share = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse::<f64>().map(Some).map_err(|_| ZONES),
    };
    let mut pairs = Vec::new();
    for part in text.split(':').filter(|part| !part.is_empty()) {
        let (accesses, addresses) = part.split_once('/').ok_or(ZONES)?;
        pairs.push((share(accesses)?.ok_or(ZONES)?, share(addresses)?));
    }
    let given: f64 = pairs.iter().filter_map(|(_, addresses)| *addresses).sum();
    let open = pairs.iter().filter(|(_, addresses)| addresses.is_none()).count();
    let rest = (100.0 - given) / open.max(1) as f64;
    Ok(pairs.into_iter().map(|(accesses, share)| (accesses, share.unwrap_or(rest))).collect())
}

/// `4k/10:64k/90`, by direction; a share that is missing is what is left, divided.
pub fn splits(it: &Given<'_>, bs: [u64; 3]) -> Result<[Vec<(u64, u32)>; 3], Wrong> {
    let list = |text: &str| -> Result<Vec<(u64, u32)>, BadValue> {
        let mut entries: Vec<(u64, Option<u32>)> = Vec::new();
        for part in text.split(':').filter(|part| !part.is_empty()) {
            let (bytes, share) = part.split_once('/').unwrap_or((part, ""));
            let share = match share {
                "" => None,
                text => Some(text.trim_end_matches('.').parse::<u32>().map_err(|_| SPLIT)?),
            };
            // Of a range, as traces have them, fio takes the smaller size.
            let least = bytes.split_once('-').map_or(bytes, |(least, _)| least);
            entries.push((it.block(least)?, share));
        }
        let shares = entries.iter().filter_map(|(_, share)| *share);
        let given = shares.fold(0u32, u32::saturating_add);
        let open = entries.iter().filter(|(_, share)| share.is_none()).count() as u32;
        let rest = 100u32.checked_sub(given).ok_or(SPLIT)?;
        let one = rest.checked_div(open).unwrap_or(0);
        if given == 0 && open == 0 {
            return Err(SPLIT);
        }
        Ok(entries.into_iter().map(|(bytes, share)| (bytes, share.unwrap_or(one))).collect())
    };
    let parts: Vec<&str> = it.text().split(',').collect();
    if parts.len() > 3 {
        return Err(SPLIT.into());
    }
    let mut lists = bs.map(|bs| vec![(bs, 100)]);
    for (place, part) in parts.iter().enumerate() {
        if !part.is_empty() {
            let end = if place + 1 == parts.len() { 3 } else { place + 1 };
            lists[place..end].fill(list(part)?);
        }
    }
    Ok(lists)
}
