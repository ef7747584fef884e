//! Document 000: an Intel X25-E before and after a torture.
//!
//! The tests of the article go through a file system and a page cache; here each goes to the drive.
//! What differs by the page cache alone (a second read, the C library) is measured once.

use super::Published::{Range, Value};
use super::Tolerance::{Points, Share};
use super::{Document, Figure, Load, Role, predicted};
use crate::load::{Bench, KIB, MIB, operations, random, sequential, virtual_seconds};
use crate::measures::{changed_by_torture, mib_per_s};
use drivelab_core::plan::{Mix, Pattern, Stream};
use drivelab_core::units::Size;

pub const DOCUMENT: Document = Document {
    name: "000",
    title: "an Intel X25-E before and after a torture (IT168, 4 January 2011)",
    left_out: "create, stat and utime (9 figures): a host and a file system, see `study torture`",
    loads: &[IOR, TORTURE, HALF_A_PASS],
};

const IOR: Load = Load {
    profile: "x25-e",
    state: "filled",
    state_source: "ten repetitions over the same files",
    load: "sequential 256 KiB, four workers",
    figures: &[
        predicted("IOR, second summary", "written MiB/s", Value(197.79), Share(0.03))
            .of_role(Role::Fitted("firmware_write_unit_ns")),
        predicted("IOR, second summary", "read MiB/s", Value(241.56), Share(0.03))
            .of_role(Role::Fitted("link_bytes_per_s")),
    ],
    measure: four_workers,
};

const fn changed(place: &'static str, what: &'static str, low: f64, high: f64) -> Figure {
    predicted(place, what, Range(low, high), Points(5.0))
}

const fn unchanged(place: &'static str, what: &'static str) -> Figure {
    changed(place, what, 0.0, 0.0)
}

/// The 18 changed figures, then the 50 others by test.
const TORTURE: Load = Load {
    profile: "x25-e",
    state: "fresh",
    state_source: "\"a clean disk\"",
    load: "a file of 256 MiB; IOR writes 48.8 and 54.7 GiB, twice each; change in %",
    figures: &[
        changed("figure 3", "rewrite 4 MiB", -3.5, -3.4),
        changed("figure 6", "random read 4 MiB", -15.0, -11.5),
        changed("figure 6", "random read 8 MiB", -15.0, -11.5),
        changed("figure 6", "random read 16 MiB", -15.0, -11.5),
        changed("figure 7", "random write 4 MiB", -20.0, -16.7),
        changed("figure 8", "backward read 4 MiB", -20.0, -14.5),
        changed("figure 8", "backward read 8 MiB", -20.0, -14.5),
        changed("figure 8", "backward read 16 MiB", -20.0, -14.5),
        changed("figure 10", "strided read 4 MiB", -23.0, -18.0),
        changed("figure 10", "strided read 8 MiB", -23.0, -18.0),
        changed("figure 10", "strided read 16 MiB", -23.0, -18.0),
        changed("figure 14", "freread 4 MiB", -13.0, -8.3),
        changed("figure 14", "freread 8 MiB", -13.0, -8.3),
        changed("figure 14", "freread 16 MiB", -13.0, -8.3),
        changed("figure 17", "random write IOPS 32 KiB", -10.82, -9.8),
        changed("figure 17", "random write IOPS 64 KiB", -8.73, -8.0),
        predicted("figure 18", "random read IOPS 32 KiB", Value(14.26), Points(5.0)),
        predicted("figure 18", "random read IOPS 64 KiB", Value(12.6), Points(5.0)),
        unchanged("figure 3", "rewrite 1, 8, 16 MiB, the most"),
        unchanged("figure 4", "read 1 to 16 MiB, the most"),
        unchanged("figure 6", "random read 1 MiB"),
        unchanged("figure 7", "random write 1, 8, 16 MiB, the most"),
        unchanged("figure 8", "backward read 1 MiB"),
        unchanged("figure 9", "record rewrite 1 to 16 MiB, the most"),
        unchanged("figure 10", "strided read 1 MiB"),
        unchanged("figure 15", "write IOPS 4 to 64 KiB, the most"),
        unchanged("figure 16", "read IOPS 4 to 64 KiB, the most"),
        unchanged("figure 17", "random write IOPS 4, 8 KiB, the most"),
        unchanged("figure 18", "random read IOPS 4, 8 KiB, the most"),
        unchanged("figures 2, 11, 12", "write, fwrite, frewrite").of_role(SAME_AS_REWRITE),
        unchanged("figures 5, 13", "reread, fread").of_role(SAME_AS_READ),
        unchanged("figure 14", "freread 1 MiB").of_role(SAME_AS_READ),
    ],
    measure: tortured,
};

const SAME_AS_REWRITE: Role = Role::Restates("rewrite: no page cache here");
const SAME_AS_READ: Role = Role::Restates("read: no page cache here");

/// An earlier stand-in for the torture, whose bands were written down before its first run.
const HALF_A_PASS: Load = Load {
    profile: "x25-e",
    state: "",
    state_source: "",
    load: "after half a pass at random in place of the torture, change in %",
    figures: &[
        changed("figure 6", "random read 4 MiB", -15.0, -11.5).of_role(STAND_IN).expecting(
            -20.0,
            0.0,
            "a record lies unevenly on the dies, but the link is near its limit and hides part of \
             that",
        ),
        unchanged("figure 4", "sequential read 256 KiB, four workers").of_role(STAND_IN).expecting(
            -6.0,
            1.0,
            "four records in flight even out what one alone would lose; the link decides",
        ),
        changed("figure 17", "random write IOPS 32 KiB", -10.82, -9.8).of_role(STAND_IN).expecting(
            -45.0,
            -3.0,
            "the drive filled in order still has its spare, the other must collect",
        ),
        changed("figure 18", "random read IOPS 32 KiB", 14.26, 14.26).of_role(STAND_IN).expecting(
            -10.0,
            1.0,
            "nothing in the model makes reads faster after a torture: expected to be missed",
        ),
        unchanged("figure 2", "sequential write 256 KiB, four workers")
            .of_role(STAND_IN)
            .expecting(
                -45.0,
                -5.0,
                "holed blocks are copied once while they are overwritten: expected to be missed",
            ),
    ],
    measure: |_| {
        let four = |mix| Stream { workers: 4, ..sequential(mix, 256 * KIB, 1) };
        let streams = [
            random(Mix::READ, 4 * MIB, 1),
            four(Mix::READ),
            random(Mix::WRITE, 32 * KIB, 1),
            random(Mix::READ, 32 * KIB, 1),
            four(Mix::WRITE),
        ];
        streams.iter().map(|stream| changed_by_torture("x25-e", stream)).collect()
    },
};

const STAND_IN: Role = Role::Restates("the rows of the torture");

fn four_workers(target: &str) -> Result<Vec<f64>, String> {
    let mut bench = Bench::of(target)?;
    [Mix::WRITE, Mix::READ]
        .map(|mix| {
            let workers = Stream { workers: 4, ..sequential(mix, 256 * KIB, 1) };
            let bounded = Stream { length: Some(Size(8192 * MIB)), ..workers };
            Ok(mib_per_s(&bench.run(bounded, virtual_seconds(30))?))
        })
        .into_iter()
        .collect()
}

const FILE: u64 = 256 * MIB;
const LARGE: [u64; 4] = [MIB, 4 * MIB, 8 * MIB, 16 * MIB];
const SMALL: [u64; 4] = [4 * KIB, 8 * KIB, 32 * KIB, 64 * KIB];
/// Bytes that the two lines of IOR write, and times that they do here.
const TORTURES: [(u64, u64); 2] =
    [(4 * KIB, 4 * 200_000 * 64 * KIB), (256 * KIB, 4 * 14_000 * MIB)];
const TIMES: u64 = 2;

/// Rates of the battery's tests, by record, in the order in which IOzone makes them.
struct Battery {
    rewrite: [f64; 4],
    read: [f64; 4],
    random_read: [f64; 4],
    random_write: [f64; 4],
    backward: [f64; 4],
    record_rewrite: [f64; 4],
    strided: [f64; 4],
    small_write: [f64; 4],
    small_read: [f64; 4],
    small_random_read: [f64; 4],
    small_random_write: [f64; 4],
}

fn battery(bench: &mut Bench) -> Result<Battery, String> {
    let mut large = [[0.0; 4]; 7];
    let mut small = [[0.0; 4]; 4];
    let mut rate = |mix, size: u64, pattern: Pattern| {
        let stream = sequential(mix, size, 1);
        let file = Stream { pattern, length: Some(Size(FILE)), ..stream };
        Ok::<f64, String>(bench.run(file, operations(FILE / size))?.iops())
    };
    for (index, size) in LARGE.into_iter().enumerate() {
        // A file is laid out before it is rewritten.
        rate(Mix::WRITE, size, Pattern::SEQUENTIAL)?;
        large[0][index] = rate(Mix::WRITE, size, Pattern::SEQUENTIAL)?;
        large[1][index] = rate(Mix::READ, size, Pattern::SEQUENTIAL)?;
        large[2][index] = rate(Mix::READ, size, Pattern::Permutation)?;
        large[3][index] = rate(Mix::WRITE, size, Pattern::Permutation)?;
        large[4][index] = rate(Mix::READ, size, Pattern::strided(-1))?;
        large[5][index] = rate(Mix::WRITE, size, Pattern::strided(0))?;
        large[6][index] = rate(Mix::READ, size, Pattern::strided(17))?;
    }
    for (index, size) in SMALL.into_iter().enumerate() {
        small[0][index] = rate(Mix::WRITE, size, Pattern::SEQUENTIAL)?;
        small[1][index] = rate(Mix::READ, size, Pattern::SEQUENTIAL)?;
        small[2][index] = rate(Mix::READ, size, Pattern::Permutation)?;
        small[3][index] = rate(Mix::WRITE, size, Pattern::Permutation)?;
    }
    let [rewrite, read, random_read, random_write, backward, record_rewrite, strided] = large;
    let [small_write, small_read, small_random_read, small_random_write] = small;
    Ok(Battery {
        rewrite,
        read,
        random_read,
        random_write,
        backward,
        record_rewrite,
        strided,
        small_write,
        small_read,
        small_random_read,
        small_random_write,
    })
}

fn torture(bench: &mut Bench) -> Result<(), String> {
    for (transfer, bytes) in TORTURES {
        let stream = Stream { workers: 4, ..sequential(Mix::WRITE, transfer, 1) };
        let files = Stream { length: Some(Size(bytes.min(bench.bytes()))), ..stream };
        for _ in 0..TIMES {
            bench.run(files.clone(), operations(bytes / transfer))?;
        }
    }
    Ok(())
}

/// Changes in per cent, in the order of the figures.
fn tortured(target: &str) -> Result<Vec<f64>, String> {
    let mut bench = Bench::of(target)?;
    let before = battery(&mut bench)?;
    torture(&mut bench)?;
    let after = battery(&mut bench)?;
    let change = |test: fn(&Battery) -> &[f64; 4], index: usize| {
        100.0 * (test(&after)[index] / test(&before)[index] - 1.0)
    };
    let most = |test: fn(&Battery) -> &[f64; 4], indices: &[usize]| {
        let changes = indices.iter().map(|index| change(test, *index));
        changes.fold(0.0, |most: f64, one| if one.abs() > most.abs() { one } else { most })
    };
    let mut all = vec![change(|it| &it.rewrite, 1)];
    all.extend([1, 2, 3].map(|index| change(|it| &it.random_read, index)));
    all.push(change(|it| &it.random_write, 1));
    all.extend([1, 2, 3].map(|index| change(|it| &it.backward, index)));
    all.extend([1, 2, 3].map(|index| change(|it| &it.strided, index)));
    all.extend([1, 2, 3].map(|index| change(|it| &it.read, index)));
    all.extend([2, 3].map(|index| change(|it| &it.small_random_write, index)));
    all.extend([2, 3].map(|index| change(|it| &it.small_random_read, index)));
    all.extend([
        most(|it| &it.rewrite, &[0, 2, 3]),
        most(|it| &it.read, &[0, 1, 2, 3]),
        change(|it| &it.random_read, 0),
        most(|it| &it.random_write, &[0, 2, 3]),
        change(|it| &it.backward, 0),
        most(|it| &it.record_rewrite, &[0, 1, 2, 3]),
        change(|it| &it.strided, 0),
        most(|it| &it.small_write, &[0, 1, 2, 3]),
        most(|it| &it.small_read, &[0, 1, 2, 3]),
        most(|it| &it.small_random_write, &[0, 1]),
        most(|it| &it.small_random_read, &[0, 1]),
        most(|it| &it.rewrite, &[0, 1, 2, 3]),
        most(|it| &it.read, &[0, 1, 2, 3]),
        change(|it| &it.read, 0),
    ]);
    Ok(all)
}
