//! What a line of mdtest really measures.

use super::check::{NAMES_MIN, Work};
use super::settings::Settings;
use crate::front::{Note, Scale, Treatment, World};

/// The notes of a line, in an order of their own.
pub fn of(settings: &Settings, work: &Work, world: &dyn World) -> Vec<Note> {
    let mut notes = Vec::new();
    if settings.dummy {
        let text = "No name was made or looked up and no drive was measured: what is printed is \
                    the time of the program itself.";
        notes.push(Note::new("no_drive", "-a DUMMY", Treatment::Same, text));
    } else {
        measured(settings, work, &mut notes);
    }
    differing(settings, work, &mut notes);
    going_on(settings, work, &mut notes);
    let scale = world.scale();
    if scale != Scale::WHOLE {
        let text = format!(
            "The number of items is {}/{} of what the line says.",
            scale.numerator, scale.denominator
        );
        notes.push(Note::new("scaled", "--scale-size", Treatment::Approximated, text));
    }
    notes
}

fn measured(settings: &Settings, work: &Work, notes: &mut Vec<Note>) {
    let mut say = |code, about: &str, text: &str| {
        notes.push(Note::new(code, about, Treatment::Same, text));
    };
    if work.stats || work.reads {
        let text = "What is looked at and read was just made on this machine: its cache answers, \
                    not the file system's server or drive.";
        say("names_from_cache", "", text);
    }
    if work.creates && !settings.sync {
        let text = "Nothing is made durable: what is created is in memory until the file system \
                    writes it. -y makes each file durable before it is closed.";
        say("no_fsync", "", text);
    }
    if work.reads && work.files && settings.read_bytes == 0 {
        let text = "WARNING: Read bytes is 0, thus, a read test will actually just open/close";
        say("read_is_open", "-e", text);
    }
    if settings.stride > 0 {
        let text = "Each phase works on the names of a later task: stat by -N, read by twice that, \
                    removal by three times that. That is meant to bypass a client's cache, and all \
                    tasks share one here.";
        say("stride_on_one_node", "-N", text);
    }
    let text = "A rate is all items over the time until the slowest task is done.";
    say("slowest_task_decides", "", text);
    if work.iterations == 1 {
        let text = "One iteration says nothing of how much results vary; its deviation is printed \
                    as 0.";
        say("one_sample", "", text);
    }
    if !work.removes {
        let text = "Without -r the names stay, and a second run of this line is refused until they \
                    are removed.";
        say("names_stay", "", text);
    }
}

fn differing(settings: &Settings, work: &Work, notes: &mut Vec<Note>) {
    let mut say = |code, about: &str, treatment, text: &str| {
        notes.push(Note::new(code, about, treatment, text));
    };
    if work.directories {
        let text = "mdtest 4 also renames directories around in a ring; that is left out, and its \
                    row is 0.";
        say("no_rename", "", Treatment::Approximated, text);
    }
    if settings.unique && !settings.stride.is_multiple_of(u64::from(first(work))) {
        let text = "mdtest creates each task's names in the tree of another one with -N; here they \
                    are in its own, and the later phases go to those of another.";
        say("names_in_own_tree", "-u", Treatment::Approximated, text);
    }
    if settings.times_unique && settings.unique {
        let text = "The directory of a task is counted with the tree only, not with the files in \
                    it as well.";
        say("unique_time_in_tree", "-t", Treatment::Approximated, text);
    } else if settings.times_unique {
        let text = "There are no directories of a task's own without -u.";
        say("without_effect", "-t", Treatment::Ignored, text);
    }
    if work.tree.with_items() * u64::from(work.trees) > 1 {
        let text = "All tasks go to the next directory together.";
        say("tree_by_steps", "-z", Treatment::Approximated, text);
    }
    if settings.leaves_only && settings.depth == 0 {
        let text = "A tree of one directory is its own leaf.";
        say("without_effect", "-L", Treatment::Ignored, text);
    }
    if settings.write_bytes > 0 && !settings.dummy {
        let (treatment, text) = match settings.signature {
            0 => (
                Treatment::Approximated,
                "Files hold numbers that count up, as mdtest's do; it takes the time for the first \
                 where -G gives none, and here that is 0.",
            ),
            _ => (Treatment::Same, "Files hold mdtest's own data: numbers that count up from -G."),
        };
        say("data_of_mdtest", "-w", treatment, text);
    }
    if settings.sync && settings.collective {
        let text = "Only what task 0 creates is made durable, as it writes all there is.";
        say("collective_fsync", "-y", Treatment::Same, text);
    }
    if settings.verbose > 0 {
        let text = "What mdtest says of its own functions is not printed.";
        say("less_verbose", "-v", Treatment::Approximated, text);
    }
}

/// What a line does that goes on where an earlier one ended, or has little to do.
fn going_on(settings: &Settings, work: &Work, notes: &mut Vec<Note>) {
    let mut say = |code, about: &str, treatment, text: &str| {
        notes.push(Note::new(code, about, treatment, text));
    };
    let directories = work.tree.with_items() * u64::from(work.trees);
    if directories > 1 && work.names > 0 && u64::from(work.names) < NAMES_MIN {
        let text = "There are few names in each of several directories: what is between one \
                    directory and the next is not in the time, as it is in that of mdtest.";
        say("few_names", "-I", Treatment::Approximated, text);
    }
    if settings.wall_s > 0 && work.names > 0 {
        let text = "Each task stops at its time, waits for the others, and goes on to as many \
                    items as the task that made most; all of that is in the time.";
        say("stonewall", "-W", Treatment::Same, text);
    }
    if settings.wall_s > 0 && work.names > 0 && work.directories && work.files {
        let text = "The time bounds the creation of files. mdtest ends that of directories then as \
                    well, and counts those that are missing; here all are made.";
        say("wall_of_files", "-W", Treatment::Approximated, text);
    }
    if settings.syncs_phases {
        let text = "mdtest makes all file systems of the machine durable, here it is the one of \
                    -d; it is in the time of each phase but those of the tree.";
        say("sync_of_one", "-Y", Treatment::Approximated, text);
    }
    if !work.creates && work.removes && !settings.dummy {
        let text = "Names are removed only in directories that drivelab has made, as an earlier \
                    line of it has left them.";
        say("own_names", "-r", Treatment::Approximated, text);
    }
    if work.names == 0 {
        let text = "There are no items (-n, -I): only the tree is made and removed, as in mdtest.";
        say("no_items", "-n", Treatment::Same, text);
    }
}

fn first(work: &Work) -> u32 {
    work.sweeps.iter().copied().max().unwrap_or(1).max(1)
}
