//! What a line of IOR really measures.

use super::check::Test;
use super::place::Places;
use super::plan::gives_back;
use super::settings::{Era, Interface, Packet};
use crate::front::{Note, Scale, Treatment, World};

/// The notes of all tests, each once.
pub fn of(tests: &[Test], places: &Places, era: Era, world: &dyn World) -> Vec<Note> {
    let mut notes = Vec::new();
    for test in tests {
        let whole = Whole { test, places, era };
        if test.settings.is_dummy() {
            whole.nowhere(&mut notes);
            whole.orders(&mut notes);
            whole.walls(&mut notes);
            whole.figures(&mut notes);
            continue;
        }
        whole.caches(&mut notes);
        whole.orders(&mut notes);
        whole.walls(&mut notes);
        whole.data(&mut notes);
        whole.figures(&mut notes);
        whole.places(&mut notes);
    }
    let placed: Vec<&Test> = tests.iter().filter(|test| !test.settings.is_dummy()).collect();
    let keeps_blocks = placed.iter().any(|test| test.writes && !test.settings.existing);
    if keeps_blocks && placed.len() > 1 && !places.is_drive && !gives_back(tests, places) {
        let text = "Files are not removed between the tests of this script, so that what is to \
                    stay is not lost; later tests may overwrite them in place.";
        notes.push(Note::new("overwrites_in_place", "-f", Treatment::Approximated, text));
    }
    let scale = world.scale();
    if scale != Scale::WHOLE {
        let text = format!(
            "Segments, or blocks where there are too few, are {}/{} of what the line says.",
            scale.numerator, scale.denominator
        );
        notes.push(Note::new("scaled", "--scale-size", Treatment::Approximated, text));
    }
    once(notes)
}

/// Each sentence once, in the order in which they came.
pub fn once(notes: Vec<Note>) -> Vec<Note> {
    let mut kept: Vec<Note> = Vec::new();
    for note in notes {
        if !kept.contains(&note) {
            kept.push(note);
        }
    }
    kept
}

struct Whole<'a> {
    test: &'a Test,
    places: &'a Places,
    era: Era,
}

impl Whole<'_> {
    /// What is said of a test without I/O, instead of what is said of its data.
    fn nowhere(&self, notes: &mut Vec<Note>) {
        let settings = &self.test.settings;
        let text = "No I/O was done and no drive was measured: what is printed is the time of the \
                    program itself and of the waits that the line asks for. No file is looked at, \
                    made or removed.";
        notes.push(Note::new("no_drive", "-a DUMMY", Treatment::Same, text));
        if settings.transfer_delay_us > 0 {
            let text = "Each task waits before each transfer, IOR within it; the time of all is \
                        the same.";
            let about = "--dummy.delay-xfer";
            notes.push(Note::new("waits_before", about, Treatment::Approximated, text));
        }
    }

    fn caches(&self, notes: &mut Vec<Note>) {
        let settings = &self.test.settings;
        let mut say = |code, about: &str, treatment, text: &str| {
            notes.push(Note::new(code, about, treatment, text));
        };
        if self.test.writes && !settings.fsync && !settings.fsync_per_write && !settings.direct {
            let text = "Writing is timed without an fsync: as much of it as fits into memory only \
                        gets there. -e counts the time until it is on the drive.";
            say("no_fsync", "", Treatment::Same, text);
        }
        if self.test.reads && self.test.writes && !settings.direct {
            let text = "What is read was just written on this machine: as much of it as fits into \
                        memory comes from there, not from the drive.";
            say("read_from_cache", "", Treatment::Same, text);
        }
        if settings.direct && settings.fsync && self.test.writes {
            let text = "Direct writes bypass the page cache; -e adds one flush of the drive's own \
                        cache at the end.";
            say("direct_and_fsync", "-e", Treatment::Same, text);
        }
        if settings.fsync_per_write && settings.fsync {
            let text = "With -Y each write is followed by an fsync, so the one of -e at the end \
                        has nothing left to do; it is left out.";
            say("fsync_twice", "-e", Treatment::Approximated, text);
        }
    }

    fn orders(&self, notes: &mut Vec<Note>) {
        let (test, settings) = (self.test, &self.test.settings);
        let mut say = |code, about: &str, treatment, text: String| {
            notes.push(Note::new(code, about, treatment, text));
        };
        let is_read = test.reads || settings.checks();
        if (settings.reorder_constant || settings.reorder_random) && !is_read {
            let about = if settings.reorder_random { "-Z" } else { "-C" };
            let text = "Nothing is read, so there is no order to change.";
            say("without_effect", about, Treatment::Ignored, text.to_owned());
        }
        if settings.reorder_constant && is_read {
            let shift = settings.task_offset.saturating_mul(u64::from(test.tasks_per_node));
            let own = shift.is_multiple_of(u64::from(test.tasks.max(1)));
            let text = if own {
                "IOR shifts reads by whole nodes (-Q times the tasks of one). All tasks are on one \
                 machine here, so that each reads back its own data, as in IOR itself: it changes \
                 nothing, and reads still come from this machine's cache."
            } else {
                "Reads are shifted by -Q times the tasks of a node, as in IOR; all tasks are on \
                 one machine here, so that they still come from its cache."
            };
            say("reorder_on_one_node", "-C", Treatment::Same, text.to_owned());
        }
        if settings.reorder_random && is_read {
            let text = "IOR draws for each task whose data it reads, so some is read more than \
                        once and some never; here all tasks read that of the task the same number \
                        further on. On one machine it comes from the cache either way.";
            say("reorder_random_is_a_shift", "-Z", Treatment::Approximated, text.to_owned());
        }
        let is_drawn = settings.draws_blocks || settings.is_dummy();
        if settings.random && test.segments > 1 && self.era == Era::New && !is_drawn {
            let text = "One segment after the other, as in ior 4, which has the same order in all \
                        of them; here each has another one.";
            say("order_of_segments", "-z", Treatment::Approximated, text.to_owned());
        }
        if settings.draws_blocks {
            let text = "As in ior 4.1, for each of its segments a task draws a block of the file \
                        that is there, and reads it in order: some are read more than once and \
                        others never. The draws are drivelab's own and the same in every run.";
            say("drawn_blocks", "-z -z", Treatment::Approximated, text.to_owned());
        } else if settings.random && !settings.is_dummy() {
            let text = match settings.file_per_process {
                true => {
                    "Each transfer once, in random order all over the file of a task; \
                              the order is one of drivelab's own."
                }
                false => {
                    "Each transfer once, in random order all over the file, shared \
                               evenly among the tasks; IOR gives each transfer to a task at \
                               random, so that some have more to do than others."
                }
            };
            let treatment =
                if settings.file_per_process { Treatment::Same } else { Treatment::Approximated };
            say("random_order", "-z", treatment, text.to_owned());
        }
    }

    fn walls(&self, notes: &mut Vec<Note>) {
        let settings = &self.test.settings;
        if settings.deadline_s > 0 {
            let text = match settings.wear_out {
                false => {
                    "Each task ends at its time or when it is done; what was not reached stays \
                     unwritten or unread."
                }
                true => {
                    "Each task stops at its time, waits for the others, and goes on to as many \
                     transfers as the task that did most; all of that is in the time."
                }
            };
            notes.push(Note::new("stonewall", "-D", Treatment::Same, text));
        }
    }

    fn data(&self, notes: &mut Vec<Note>) {
        let (test, settings) = (self.test, &self.test.settings);
        let mut say = |code, about: &str, treatment, text: &str| {
            notes.push(Note::new(code, about, treatment, text));
        };
        if test.writes && test.counts_from.is_some() {
            let text = "The data is IOR's own: numbers that count up from -G, the same in each \
                        transfer, which compress and deduplicate well. It matters on drives that \
                        compress.";
            say("data_of_ior", "", Treatment::Same, text);
            if settings.signature == 0 {
                let text = "IOR takes the time for a number where -G gives none; here it is the \
                            same in every run, and another one in each repetition.";
                say("signature", "-G", Treatment::Approximated, text);
            }
        } else if test.writes && settings.packet != Packet::Random {
            let text = "IOR writes the same numbers again and again, which compress and \
                        deduplicate well; here as much of each block is zeros as gzip saved of it, \
                        the rest random. It matters on drives that compress.";
            say("compressible", "", Treatment::Approximated, text);
        }
        if test.writes && settings.packet == Packet::Random {
            let text = "Random numbers, and never the same twice; IOR writes one buffer of them \
                        again and again, which can be deduplicated.";
            say("incompressible", "-l", Treatment::Approximated, text);
        }
        if settings.checks() && test.counts_from.is_some() {
            let text = "Checked is all of what IOR writes for this number and these tasks, in \
                        files of IOR itself too. Every transfer of a task holds the same, so that \
                        one in the place of another is not seen, as in IOR; wrong data is counted \
                        in units of 4 KiB.";
            say("checked_by_data", "", Treatment::Same, text);
        }
        if test.stamps && settings.checks() {
            let text = "What is written carries address, seed, repetition and checksum, and that \
                        is what is checked; files that IOR itself wrote do not have them.";
            say("checked_by_stamps", "", Treatment::Approximated, text);
        }
        if settings.check_read && self.era == Era::Old {
            let text = "IOR reads twice more and compares both; here it is read once more and \
                        checked against what was written.";
            say("reread_once", "-R", Treatment::Approximated, text);
        }
        if settings.signature != 0 && test.counts_from.is_none() {
            let text = "The content is not that of IOR for this number, but the same in every run.";
            say("signature", "-G", Treatment::Approximated, text);
        }
        if settings.keep_with_error && settings.checks() {
            let text = "Files stay in any case, not only where wrong data was found.";
            say("keeps_always", "-K", Treatment::Approximated, text);
        } else if settings.keep_with_error {
            let text = "Nothing is checked, so no error is found.";
            say("without_effect", "-K", Treatment::Ignored, text);
        }
        if !test.writes && !settings.keep {
            let text = "IOR removes what it has read unless -k says otherwise, so that it would \
                        be there for one repetition only; here it stays.";
            say("read_files_stay", "", Treatment::Approximated, text);
        }
    }

    fn figures(&self, notes: &mut Vec<Note>) {
        let test = self.test;
        let mut say = |code, text: String| {
            notes.push(Note::new(code, "", Treatment::Same, text));
        };
        if test.writes || test.reads {
            let text = "Bandwidth is all bytes over the time from the earliest beginning to the \
                        latest end, so that the slowest task decides. Times of opening and closing \
                        are those of drivelab, which has the files open before.";
            say("slowest_task_decides", text.to_owned());
        }
        if self.era == Era::Old && test.segments > 1 {
            let text = format!(
                "The OPs columns leave out the segments, as in 2.10.3: the true rates are {} times \
                 as high.",
                test.segments
            );
            say("ops_without_segments", text);
        }
        if self.era == Era::New {
            let of_segments = match test.segments {
                1 => String::new(),
                _ if test.settings.deadline_s > 0 => ", and leaves out the segments, as in 4.0: \
                                                      divide it by those that were reached"
                    .to_owned(),
                segments => format!(
                    ", and leaves out the segments, as in 4.0: the true one is 1/{segments} of it"
                ),
            };
            let text = format!(
                "Latency(s) is the mean of the fastest task, not a percentile{of_segments}; \
                 opening and closing are in neither IOPS nor bw(MiB/s) here, and in the bw(MiB/s) \
                 of IOR."
            );
            say("latency_is_a_mean", text);
        }
        match test.repetitions {
            1 => {
                let text = "One repetition says nothing of how much results vary; its deviation \
                            is printed as 0.";
                say("one_sample", text.to_owned());
            }
            _ => {
                let text = "The standard deviation is that of the repetitions themselves (divided \
                            by n), which is too small as an estimate.";
                say("population_deviation", text.to_owned());
            }
        }
    }

    fn places(&self, notes: &mut Vec<Note>) {
        let settings = &self.test.settings;
        let mut say = |code, about: &str, treatment, text: &str| {
            notes.push(Note::new(code, about, treatment, text));
        };
        if self.places.is_drive && settings.file_per_process {
            let text = "There is no file on the drive: a file of a task's own is a region of it.";
            say("files_are_regions", "-F", Treatment::Approximated, text);
        }
        let is_in_place = settings.existing || settings.interface == Interface::Mmap;
        if self.test.writes && is_in_place && !settings.keep && !self.places.is_drive {
            let text = "A file that an earlier line kept is written in place and stays; IOR \
                        removes it unless -k says otherwise.";
            say("kept_files_stay", "", Treatment::Approximated, text);
        }
        if settings.unique_directory && !settings.file_per_process {
            let text = "A shared file is in no directory of a task's own.";
            say("without_effect", "-u", Treatment::Ignored, text);
        }
        if settings.verbose > 2 {
            let text = "Lines are printed as with -vv; each transfer and its times are not.";
            say("less_verbose", "-v", Treatment::Approximated, text);
        }
    }
}
