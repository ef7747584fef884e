//! What help says of each study beyond its question: how it is done, and how its answer reads.

/// One study in a few lines.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// Its name on the command line.
    pub name: &'static str,
    /// How it is done.
    pub lines: [&'static str; 3],
    /// A sentence such as its verdict has.
    pub answer: &'static str,
}

/// The method of the study of this name.
pub fn of(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

const fn method(name: &'static str, lines: [&'static str; 3], answer: &'static str) -> Method {
    Method { name, lines, answer }
}

/// One entry a study, in the order of the help.
pub const METHODS: &[Method] = &[
    method(
        "aa",
        [
            "Measures one drive in one state as if it were two drives.",
            "The two sides take turns in shuffled order and are compared.",
            "Any difference it finds is a false alarm.",
        ],
        "No difference was found where there is none.",
    ),
    method(
        "wsat",
        [
            "Empties the drive and writes 4 KiB at random until the rate falls.",
            "Fills it in order, then writes at random until it has settled.",
            "A fall counts as the cliff if it lasts and comes at once.",
        ],
        "The write cliff comes after 1.39 GB of random writes, 1.30 × its capacity. Settled, it \
         writes 35 % of what it did before.",
    ),
    method(
        "trim",
        [
            "Brings the drive to its steady state of random writes and measures.",
            "Trims everything, timing each size of request, and measures again.",
            "Trim works if reads or writes became faster by more than the band.",
        ],
        "TRIM works: random writes are 2.8 times as fast after it.",
    ),
    method(
        "pts-iops",
        [
            "Empties the drive and writes twice its capacity in order.",
            "Runs rounds of 56 loads until SNIA's steady-state window holds.",
            "Each figure is the mean over the five rounds of that window.",
        ],
        "In the steady state: random read 4 KiB 402k IOPS, random write 4 KiB 61.5k IOPS.",
    ),
    method(
        "pts-tp",
        [
            "Empties the drive and writes twice its capacity in order.",
            "Reads and writes in order until SNIA's steady-state window holds.",
            "Each figure is the mean over the five rounds of that window.",
        ],
        "In the steady state: sequential read 3.31 GB/s, sequential write 1.02 GB/s.",
    ),
    method(
        "pts-lat",
        [
            "Empties the drive and writes twice its capacity in order.",
            "One operation at a time until SNIA's steady-state window holds.",
            "Mean and longest latency are those of the window.",
        ],
        "In the steady state a random write of 4 KiB takes 31 µs on average, at worst 6.1 ms.",
    ),
    method(
        "rank",
        [
            "Puts the same seven loads, from one seed, to each drive.",
            "The place goes by the geometric mean of the ratios to the fastest.",
            "Neighbours within 5 %, or too noisy to tell, share a place.",
        ],
        "From the fastest to the slowest: nvme-tlc > sata-mlc > san ≈ sas-raid5.",
    ),
    method(
        "patterns",
        [
            "Eleven patterns: size, alignment, pauses, bursts, jumps, mixes …",
            "Each is held against the plain load that it is a variant of.",
            "The ratios are judged as one family and shown as heat maps.",
        ],
        "Sequential writes that are not aligned to 4 KiB take 2.34 times as long.",
    ),
    method(
        "mix",
        [
            "Reads alone, writes alone, then reads with 0.1 to 50 % of writes.",
            "Ideal: every operation takes the time that it takes alone.",
            "F is what a write really costs by what it costs alone.",
        ],
        "At 1 % of random writes, one write takes as long as 52.3 reads. F = 17.7; more than 5 is \
         bad.",
    ),
    method(
        "under",
        [
            "Two loads alone, then while a database runs or imports (--load).",
            "The other load comes at its own rate, however slow the drive is.",
            "What is left of each, and what each operation of the other took.",
        ],
        "Under oltp, random reads and writes at queue depth 64 keep 67 % of their rate.",
    ),
    method(
        "steady",
        [
            "Fills the drive and measures sequential loads.",
            "Writes at random until settled and measures random loads.",
            "Compares 8 workers of depth 1 with one worker of depth 8.",
        ],
        "The drive was in its steady state of random writes: settled after 20 rounds.",
    ),
    method(
        "fs",
        [
            "The same loads on the same blocks, by the device and by a file there.",
            "Device and file take turns; layout and first writes are kept apart.",
            "--mkfs makes the file system, --mount uses one that is there.",
        ],
        "The file system takes, against the same blocks of the device: sequential write \
         equivalent, random read -12 % [-14, -10].",
    ),
    method(
        "stride",
        [
            "Random reads at multiples of each stride from 16 KiB to 16 MiB.",
            "Each is held against random reads anywhere.",
            "A row of strips is named only if all its multiples are slowed.",
        ],
        "Reads with a stride of 512 KiB meet on one part of the drive: × 0.13 of the rate.",
    ),
    method(
        "stutter",
        [
            "One reader of 4 KiB at random next to one random writer.",
            "A freeze is a wait of 100 ms or longer of that reader.",
            "The grade, A to F, follows from freezes a minute and their share.",
        ],
        "Grade A: a reader next to random writes never waited 10 ms or longer in 186 s.",
    ),
    method(
        "apps",
        [
            "Twelve open models of programs, each at its own rate and pauses.",
            "Each has a fixed piece of work; its time is the figure.",
            "Several drives get scores against the first or --reference.",
        ],
        "Boot: 20,000 requests in 2.10 s, the longest wait 2.57 ms.",
    ),
    method(
        "modes",
        [
            "Random reads and writes: direct, buffered, each also with dsync.",
            "Before each, the pages of the target are written back and dropped.",
            "Bytes that did not reach the drive were answered by memory.",
        ],
        "Buffered random read at queue depth 1: 100 % was answered by RAM.",
    ),
    method(
        "endurance",
        [
            "Simulated flash: writes in order and at random until settled.",
            "Counts programs and erases, and takes wear as even.",
            "A real drive: writes nothing, reads what it tells of its wear.",
        ],
        "Random write, 4 KiB: each byte of the host costs 2.46 of flash, so 1.07 GB a day leave \
         it 1566 days.",
    ),
    method(
        "files",
        [
            "One file, written and read in IOzone's thirteen ways.",
            "Records of 1 to 16 MiB by bytes, of 4 to 64 KiB by operations.",
            "Each way is held against reading or rewriting in order.",
        ],
        "The way matters: 7 of 26 cells are slower than in order, most of all random read 4 KiB.",
    ),
    method(
        "ior",
        [
            "Four workers write and read, as IOR does.",
            "N-N: a file for each worker. N-1: one file, blocks take turns.",
            "The two layouts are compared for each size of block and transfer.",
        ],
        "In 2 of 4 cells one file for all is the same as a file each, within 5.0 %.",
    ),
    method(
        "meta",
        [
            "Creates, opens, finds, renames and removes names, one by one.",
            "1, 2 and 4 workers; in one directory and in one each.",
            "fsync of a new name says what a durable name costs.",
        ],
        "Names at best: made 89.3k, found 1.58M, renamed 184k, removed 227k a second.",
    ),
    method(
        "torture",
        [
            "Measures the cells of `files` and `meta` on an emptied drive.",
            "Four workers fill and read it over and over, then measures again.",
            "--legs idle,trim,purge: what brings back what was lost?",
        ],
        "Of 8 cells 4 are slower, 0 faster and 4 the same within 5.0 % on this cycle.",
    ),
    method(
        "anatomy",
        [
            "Random 4 KiB at depths 1 to 64, with and without the kernel's tracer.",
            "Splits each I/O into submit, kernel queue, device and wake-up.",
            "A simulated drive is split into its own stages.",
        ],
        "At the median the device takes 31.3 of 41.7 µs.",
    ),
    method(
        "tune",
        [
            "Scheduler, rq_affinity and read-ahead: each value in turn.",
            "Four loads each, against what is set now; one setting at a time.",
            "Every setting is put back and read again.",
        ],
        "Of 19 comparisons with what is set now, 3 differ by more than 5.0 %.",
    ),
    method(
        "zones",
        [
            "Writes zones in order, to one zone and to several open at once.",
            "Fills zones, reads them at random, then resets and finishes each.",
            "Each round has all of it; several win if they gain the band or more.",
        ],
        "Several zones at once write faster than one: 4 zones write 4.47 times [4.02, 4.96] as \
         fast.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::STUDIES;

    #[test]
    fn each_study_has_a_method_and_each_method_a_study() {
        let of_studies: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
        let of_methods: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        assert_eq!(of_methods, of_studies, "in the same order");
        for method in METHODS {
            let is_sentence = |line: &&str| line.ends_with(['.', '…', '?']) && line.len() > 20;
            assert!(method.lines.iter().all(is_sentence), "{method:?}");
            let fits = |line: &&str| line.chars().count() <= 76;
            assert!(method.lines.iter().all(fits), "{method:?}");
            assert!(of(method.name).is_some_and(|found| found.answer.ends_with('.')));
        }
        assert!(of("nonesuch").is_none());
    }
}
