//! From what was asked for to what can be done: contradictions, numbers of tasks and of names.

use super::settings::{FAILED, Settings, USAGE};
use super::tree::Tree;
use crate::front::{Found, Refusal, World};

/// Directories with items that can be gone through one after the other.
const DIRECTORIES_MAX: u64 = 128;
/// Longest -W in seconds.
const WALL_MAX: u64 = 365 * 86_400;
/// With several of them, the fewest names in each that say something of names: with fewer, much of
/// what a task does is to go from one to the next.
pub const NAMES_MIN: u64 = 64;
/// Longest -p in seconds.
const DELAY_MAX: u64 = 86_400;
/// Most directories of a tree.
const TREE_MAX: u64 = 1_024;

/// What will be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The directory that is there.
    pub target: String,
    /// What stands before all names: nothing, or a directory that is made, with its `/`.
    pub prefix: String,
    /// Numbers of tasks, one table each.
    pub sweeps: Vec<u32>,
    /// Iterations.
    pub iterations: u32,
    /// Test directories of one iteration, each with a tree.
    pub trees: u32,
    /// The tree.
    pub tree: Tree,
    /// Names that each task has in each directory with items.
    pub names: u32,
    /// Directories are items.
    pub directories: bool,
    /// Files are items.
    pub files: bool,
    /// Items are created.
    pub creates: bool,
    /// Items are looked up by stat(2).
    pub stats: bool,
    /// Files are read.
    pub reads: bool,
    /// Items are removed.
    pub removes: bool,
}

impl Work {
    /// Items of one kind that each task has.
    pub fn items_of_task(&self) -> u64 {
        u64::from(self.names) * self.tree.with_items() * u64::from(self.trees)
    }
}

/// Looks for what contradicts itself.
///
/// # Errors
/// In the words of the program, with ours next to them.
pub fn work(settings: &Settings, world: &dyn World) -> Result<Work, Refusal> {
    contradictions(settings)?;
    let (tree, trees, names) = names(settings, world)?;
    let sweeps = sweeps(settings, world.ranks().max(1))?;
    let (target, prefix) = match settings.dummy {
        // Where nothing is done nothing need be there.
        true => (".".to_owned(), String::new()),
        false => place(&settings.directory, world)?,
    };
    let all = !(settings.create || settings.stat || settings.read || settings.remove);
    let is_kept = all || settings.create || settings.dummy;
    if !is_kept && matches!(world.found(&target), Found::Simulated { .. }) {
        let text = "-T, -E and -r without -C need names that an earlier line left, and a simulated \
                    drive keeps none.";
        return Err(wrong(text, "Put -C into the same line, as in -C -T -r."));
    }
    let creates = all || settings.create;
    if !creates && !prefix.is_empty() {
        let text = format!("Unable to find test directory path {}", settings.directory);
        return Err(Refusal::new(FAILED, text, "Make names in it first, with -C."));
    }
    wall(settings, &tree, u64::from(trees), names)?;
    let names = if creates { names } else { names_left(settings, &tree, trees, names, world)? };
    if names == 0 && !creates && !settings.remove {
        let text = "0 files/directories: there is nothing to do.";
        return Err(wrong(text, "Give their number: -n (per task) or -I (per directory)."));
    }
    let iterations = u32::try_from(settings.iterations)
        .map_err(|_| wrong("too many iterations.", "Use a smaller -i."))?;
    let both = settings.directories_only == settings.files_only;
    Ok(Work {
        target,
        prefix,
        sweeps,
        iterations,
        trees,
        tree,
        names,
        directories: both || settings.directories_only,
        files: both || settings.files_only,
        creates,
        stats: all || settings.stat,
        reads: all || settings.read,
        removes: all || settings.remove,
    })
}

/// What a stonewall cannot be combined with here.
fn wall(settings: &Settings, tree: &Tree, trees: u64, names: u32) -> Result<(), Refusal> {
    if settings.wall_s == 0 || names == 0 {
        return Ok(());
    }
    let creates_alone = settings.create && !(settings.stat || settings.read || settings.remove);
    let found = [
        (settings.wall_s > WALL_MAX, "a -W of more than a year is too long.", "Use a smaller -W."),
        (
            !creates_alone || settings.iterations > 1 || settings.last > 0,
            "-W together with other phases than creation is not supported here: how many there \
             are to be looked up is known when they are made.",
            "Use -C -F -W SECONDS -x FILE, and lines of their own with -x FILE for -T, -E and -r.",
        ),
        (
            tree.with_items() * trees > 1 || settings.collective,
            "-W with several directories of items, or with -c, is not supported here.",
            "Use -z 0 and no -c.",
        ),
    ];
    match found.iter().find(|(is_so, _, _)| *is_so) {
        Some((_, text, advice)) => Err(wrong(text, advice)),
        None => Ok(()),
    }
}

/// How many names an earlier line left: what its status file says, or else what this line says.
fn names_left(
    settings: &Settings,
    tree: &Tree,
    trees: u32,
    names: u32,
    world: &dyn World,
) -> Result<u32, Refusal> {
    let Some(path) = &settings.status_file else { return Ok(names) };
    let read = world.text(path).ok().and_then(|text| text.trim().parse::<u32>().ok());
    match read.filter(|items| *items > 0) {
        Some(items) if items == names || u64::from(items) == settings.items => Ok(names),
        Some(_) if settings.directories_only == settings.files_only => Err(wrong(
            "a status file of less than all with directories and files is not supported here: it \
             holds for the files alone.",
            "Add -F, or leave -x out.",
        )),
        Some(items) if tree.with_items() * u64::from(trees) == 1 => Ok(items),
        Some(_) => Err(wrong(
            "a status file of less than all in several directories is not supported here.",
            "Leave -x out.",
        )),
        // mdtest warns, and takes what the line says.
        None => Ok(names),
    }
}

fn wrong(text: &str, advice: &str) -> Refusal {
    Refusal::new(USAGE, text, advice)
}

fn contradictions(settings: &Settings) -> Result<(), Refusal> {
    let keeps = settings.create && !settings.remove;
    let found: [(bool, &str, &str); 11] = [
        (
            settings.dummy && settings.verifies,
            "-X with -a DUMMY checks what was never written.",
            "Leave -X out, or use -a POSIX.",
        ),
        (
            settings.delay_s > DELAY_MAX,
            "a delay of more than a day is too long.",
            "Use a smaller -p.",
        ),
        (settings.iterations == 0, "no iterations, so nothing is done.", "Use -i 1 or more."),
        (
            settings.depth > 0 && settings.branching == 0,
            "branch factor must be greater than or equal to zero",
            "Use -b 1 or more with -z.",
        ),
        (
            settings.per_directory > 0 && !settings.items.is_multiple_of(settings.per_directory),
            "items must be a multiple of items per directory",
            "Use an -n that is a multiple of -I, or one of both.",
        ),
        (
            settings.read_bytes > settings.write_bytes,
            "When writing and reading files, read bytes must be smaller than write bytes",
            "Use a -w of at least the -e.",
        ),
        (
            settings.verifies && (settings.signature == 0 || settings.read_bytes == 0),
            "-X needs to know what is read.",
            "Add -G as it was written with, and -e with the bytes to read.",
        ),
        (
            settings.unique && settings.collective,
            "-u with -c is not supported here: mdtest 4.0 itself fails with both.",
            "Leave -c or -u out.",
        ),
        (
            settings.directory.contains('@'),
            "several directories (-d A@B) are not supported here.",
            "Run them as lines of their own: one target is one run.",
        ),
        (
            settings.last > 0 && keeps,
            "-l with names that stay: they would be in the way of the next number of tasks.",
            "Add -r, or leave -l out.",
        ),
        (
            settings.last > 0 && (settings.step == 0 || settings.first == 0),
            "numbers of tasks that begin at 0, or go in steps of 0, are invalid.",
            "Use -f and -s of 1 or more.",
        ),
    ];
    match found.iter().find(|(is_so, _, _)| *is_so) {
        Some((_, text, advice)) => Err(wrong(text, advice)),
        None => Ok(()),
    }
}

/// The tree, how many of them, and the names of each task in each directory with items.
fn names(settings: &Settings, world: &dyn World) -> Result<(Tree, u32, u32), Refusal> {
    let large = || {
        let text = "a tree (-z, -b) of this many directories is not supported here.";
        let advice = format!(
            "Use at most {TREE_MAX} directories, {DIRECTORIES_MAX} of them with items, or -z 0."
        );
        wrong(text, &advice)
    };
    let tree = Tree::new(settings.depth, settings.branching, settings.leaves_only, TREE_MAX)
        .ok_or_else(large)?;
    let (trees, asked) = match (settings.per_directory, settings.items) {
        (0, items) => (1, items / tree.with_items()),
        (each, 0) => (1, each),
        (each, items) => (items / each, each),
    };
    let places = tree.with_items().saturating_mul(trees);
    if places > DIRECTORIES_MAX {
        return Err(large());
    }
    let names = world.scale().of(asked, 1);
    let too_many = |_| wrong("too many names.", "Use a smaller -n or -I.");
    Ok((tree, u32::try_from(trees).map_err(too_many)?, u32::try_from(names).map_err(too_many)?))
}

fn sweeps(settings: &Settings, ranks: u32) -> Result<Vec<u32>, Refusal> {
    if settings.last == 0 {
        return Ok(vec![ranks]);
    }
    if settings.last > u64::from(ranks) || settings.first > settings.last {
        let text = format!(
            "tasks from {} to {} do not fit the {ranks} that there are.",
            settings.first, settings.last
        );
        return Err(wrong(&text, "Start as many tasks as -l says."));
    }
    let step = usize::try_from(settings.step).unwrap_or(usize::MAX);
    let all = (settings.first..=settings.last).step_by(step);
    Ok(all.filter_map(|tasks| u32::try_from(tasks).ok()).collect())
}

/// A directory that is there, and what is to be made in it first.
fn place(typed: &str, world: &dyn World) -> Result<(String, String), Refusal> {
    let trimmed = typed.trim_end_matches('/');
    let directory = if trimmed.is_empty() && !typed.is_empty() { "/" } else { trimmed };
    let failed = |why: &str| {
        let text = format!("Unable to create test directory path {typed}{why}");
        Refusal::new(FAILED, text, "Make the directory above it, or name another with -d.")
    };
    match world.found(directory) {
        Found::Directory | Found::Simulated { .. } => {
            return Ok((directory.to_owned(), String::new()));
        }
        Found::Absent => {}
        _ => return Err(failed(": it is not a directory")),
    }
    let (above, name) = match directory.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((above, name)) => (above, name),
        None => (".", directory),
    };
    // Braces would be taken for places of numbers.
    let is_name = !matches!(name, "" | "." | "..") && !name.contains(['{', '}', '\0']);
    if !is_name || world.found(above) != Found::Directory {
        return Err(failed(""));
    }
    Ok((above.to_owned(), format!("{name}/")))
}
