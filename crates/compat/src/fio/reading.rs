//! What is given to options of fio, read.

use super::known::{instead, no};
use super::settings::{Direction, Distribution, Settings, Wrong};
use super::value::{Amount, BadValue, amount, boolean, by_direction, number, size, time_ns};
use drivelab_core::plan::{Engine, Sync};

/// More than that is a typing error.
const COUNT_MAX: u64 = 1 << 20;

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

    /// A number.
    pub fn number(&self) -> Result<u64, BadValue> {
        number(self.text())
    }

    /// At least 1, and not absurd.
    pub fn count(&self) -> Result<u32, BadValue> {
        let value = self.number()?;
        if value == 0 || value > COUNT_MAX { Err(BadValue) } else { Ok(value as u32) }
    }

    /// At most 100.
    pub fn percent(&self) -> Result<u32, BadValue> {
        u32::try_from(self.number()?).ok().filter(|share| *share <= 100).ok_or(BadValue)
    }

    /// Every so many; 0 is never.
    pub fn every(&self) -> Result<Option<u32>, BadValue> {
        let every = u32::try_from(self.number()?).map_err(|_| BadValue)?;
        Ok(Some(every).filter(|every| *every > 0))
    }

    /// Bytes.
    pub fn bytes(&self) -> Result<u64, BadValue> {
        size(self.text(), self.kb_base)
    }

    /// Bytes of a request, in a part of what was given.
    pub fn block(&self, part: &str) -> Result<u64, BadValue> {
        size(part, self.kb_base).and_then(|bytes| above_zero(bytes).ok_or(BadValue))
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
        found.map(|(_, meaning)| *meaning).ok_or(BadValue)
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

/// `bsrange`: from one size to another.
pub fn ranges(it: &Given<'_>, bs: [u64; 3]) -> Result<Option<[(u64, u64); 3]>, BadValue> {
    let range = |text: &str| {
        let (low, high) = text.split_once(['-', ':']).ok_or(BadValue)?;
        let (low, high) = (it.block(low)?, it.block(high)?);
        if low <= high { Ok((low, high)) } else { Err(BadValue) }
    };
    by_direction(it.text(), bs.map(|bs| (bs, bs)), range).map(Some)
}

/// `percentage_random`: one for all directions.
pub fn share_of_all(it: &Given<'_>) -> Result<u64, Wrong> {
    let percent = by_direction(it.text(), [100; 3], number)?;
    if percent.iter().any(|one| *one > 100) {
        return Err(Wrong::Value);
    }
    if percent[0] != percent[1] {
        return Err(Wrong::NotHere(instead("say one share for all directions")));
    }
    Ok(percent[0])
}

/// `percentile_list`, in order.
pub fn percentiles(text: &str) -> Result<Vec<f64>, BadValue> {
    let one = |text: &str| -> Result<f64, BadValue> {
        let value: f64 = text.trim().parse().map_err(|_| BadValue)?;
        if (0.0..=100.0).contains(&value) { Ok(value) } else { Err(BadValue) }
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
    if names.iter().any(String::is_empty) { Err(Wrong::Value) } else { Ok(names) }
}

/// The same, or one simulated drive, whose name has a colon.
pub fn names_or_drive(it: &Given<'_>) -> Result<Vec<String>, Wrong> {
    if it.text().starts_with("sim:") { Ok(vec![it.text().to_owned()]) } else { names(it) }
}

/// The name of a checksum; `0` is none.
pub fn checksum(text: &str) -> Result<Option<String>, Wrong> {
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

/// `rw`.
pub fn direction(text: &str) -> Result<Direction, Wrong> {
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

/// `ioengine`, in fio's word, and what stands for it.
pub fn engine(text: &str) -> Result<(String, Engine), Wrong> {
    let engine = match text {
        "libaio" => Engine::Libaio,
        "io_uring" => Engine::IoUring,
        "psync" | "sync" | "vsync" | "pvsync" | "pvsync2" => Engine::Psync,
        "mmap" => Engine::Mmap,
        "null" => Engine::Null,
        _ => {
            let way = "use libaio, io_uring, psync, sync, pvsync2, mmap, null";
            return Err(Wrong::NotHere(instead(way)));
        }
    };
    Ok((text.to_owned(), engine))
}

/// A parameter, `usual` where there is none.
fn within(text: &str, usual: &str, is_meant: fn(f64) -> bool) -> Result<f64, Wrong> {
    let number: f64 = if text.is_empty() { usual } else { text }.parse().map_err(|_| BadValue)?;
    if is_meant(number) { Ok(number) } else { Err(Wrong::Value) }
}

/// `random_distribution`.
pub fn distribution(text: &str) -> Result<Distribution, Wrong> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    Ok(match kind {
        "random" => Distribution::Random,
        "zipf" | "pareto" | "normal" if rest.contains(':') => {
            return Err(Wrong::NotHere(instead(
                "leave the centre out: places are scattered at random",
            )));
        }
        "pareto" => Distribution::Pareto(within(rest, "0.2", |it| it > 0.0 && it < 1.0)?),
        "normal" => Distribution::Normal(within(rest, "0", |it| (0.0..100.0).contains(&it))?),
        "zipf" => Distribution::Zipf(within(rest, "1.1", |it| (0.0..5.0).contains(&it))?),
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
pub fn splits(it: &Given<'_>, bs: [u64; 3]) -> Result<[Vec<(u64, u32)>; 3], Wrong> {
    let list = |text: &str| -> Result<Vec<(u64, u32)>, BadValue> {
        let mut entries: Vec<(u64, Option<u32>)> = Vec::new();
        for part in text.split(':') {
            let (bytes, share) = part.split_once('/').unwrap_or((part, ""));
            let share = match share {
                "" => None,
                text => Some(text.parse::<u32>().map_err(|_| BadValue)?),
            };
            entries.push((it.block(bytes)?, share));
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
    let parts: Vec<&str> = it.text().split(',').collect();
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
