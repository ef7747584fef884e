//! The MPI library of the launcher, loaded when the program runs: one build serves Open MPI and
//! MPICH (with the libraries that keep its ABI: Intel MPI, MVAPICH, Cray), and needs neither.
//!
//! The functions are the same in both, their handles are not: Open MPI's are addresses of objects
//! in the library (`mpi.h` of 4.1), MPICH's are numbers (`mpi.h` of 4.0, which the MPICH ABI
//! compatibility initiative keeps).

use drivelab_core::queue::Trouble;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// Names a library in the place of those that are looked for.
const OVERRIDE: &str = "DRIVELAB_MPI";
/// The communicator of all, as an object; only Open MPI has it.
const OPEN_MPI_WORLD: &str = "ompi_mpi_comm_world";
/// `MPI_THREAD_FUNNELED` in both.
const FUNNELED: c_int = 1;

/// An MPI library by its binary interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    OpenMpi,
    Mpich,
}

impl Family {
    fn name(self) -> &'static str {
        match self {
            Family::OpenMpi => "Open MPI",
            Family::Mpich => "MPICH",
        }
    }

    /// Under what names the loader may know it.
    fn files(self) -> &'static [&'static str] {
        match self {
            Family::OpenMpi => &["libmpi.so.40", "libmpi.so"],
            Family::Mpich => &["libmpich.so.12", "libmpi.so.12", "libmpi.so"],
        }
    }

    /// Those that may belong to a launcher which sets the variable `name`.
    fn of_launcher(name: &str) -> &'static [Family] {
        match name {
            "OMPI_COMM_WORLD_SIZE" => &[Family::OpenMpi],
            "PMI_SIZE" => &[Family::Mpich],
            _ => &[Family::OpenMpi, Family::Mpich],
        }
    }
}

/// What is asked of MPI. Each function gives MPI's own status, 0 when all is well; none waits in
/// the kernel or spins for long: the caller asks again.
pub trait Mpi: Send + Sync {
    /// Begins; rank and size.
    fn begin(&self) -> Result<(c_int, c_int), String>;
    fn finalize(&self) -> c_int;
    /// Begins to send.
    ///
    /// # Safety
    /// The `count` bytes stay where and as they are until [`Mpi::sent`] says that they are sent.
    unsafe fn send(&self, bytes: *const c_void, count: c_int, to: c_int, tag: c_int) -> c_int;
    /// Whether the one send that was begun is done.
    fn sent(&self, is_done: &mut bool) -> c_int;
    /// The sender and the length of the next message, if one is there.
    fn probe(&self, from: Option<c_int>, tag: c_int) -> Result<Option<(c_int, c_int)>, c_int>;
    fn receive(&self, into: &mut [u8], from: c_int, tag: c_int) -> c_int;
    fn abort(&self, status: c_int) -> c_int;
}

/// Loads the library of the launcher that has set the environment variable `launcher`.
///
/// # Errors
/// None is found, or it is of no family that is known: what was tried, and what to do.
pub fn load(launcher: &str) -> Result<Box<dyn Mpi>, Trouble> {
    if let Some(path) = std::env::var_os(OVERRIDE) {
        let path = path.to_string_lossy().into_owned();
        return open(&path).and_then(|library| bound(library, &path)).map_err(|why| {
            Trouble::usage(format!("{OVERRIDE} names {path}, which cannot be used: {why}"))
        });
    }
    let families = Family::of_launcher(launcher);
    let mut tried = Vec::new();
    for (family, file) in families.iter().flat_map(|it| it.files().iter().map(move |f| (it, f))) {
        match open(file) {
            // `libmpi.so` may be either's.
            Ok(library) if family_of(&library) == Ok(*family) => {
                return bound(library, file).map_err(Trouble::usage);
            }
            Ok(_) => tried.push(format!("{file} is another MPI")),
            Err(why) => tried.push(why),
        }
    }
    let is_static = cfg!(target_feature = "crt-static");
    Err(Trouble::usage(not_loaded(is_static, launcher, families, &tried)))
}

/// What is said where none can be loaded, and what helps.
fn not_loaded(is_static: bool, launcher: &str, families: &[Family], tried: &[String]) -> String {
    let names: Vec<&str> = families.iter().map(|family| family.name()).collect();
    let (why, way_out) = match is_static {
        true => (
            "this drivelab is linked statically and loads no library".into(),
            "use a build that is not".into(),
        ),
        false => (tried.join("; "), format!("install it, name it with {OVERRIDE}=/path/libmpi.so")),
    };
    format!(
        "a launcher has started this process ({launcher}) and maybe others, and its MPI library \
         ({}) cannot be loaded, so each would run alone: {why}; {way_out}, or run one process \
         without the launcher",
        names.join(" or ")
    )
}

fn open(file: &str) -> Result<Library, String> {
    // SAFETY: what a library of MPI does when it is loaded is prepare itself; it was named by who
    // started this program, by its place in the system or by its variable. Global: Open MPI's own
    // plug-ins look for its symbols.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }.map_err(|error| {
        let why = std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string);
        if why.contains(file) { why } else { format!("{file}: {why}") }
    })
}

/// Which of the two it is.
fn family_of(library: &Library) -> Result<Family, String> {
    if symbol::<*mut c_void>(library, OPEN_MPI_WORLD).is_ok() {
        return Ok(Family::OpenMpi);
    }
    type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    let version: Version = symbol(library, "MPI_Get_library_version")?;
    // MPI_MAX_LIBRARY_VERSION_STRING is 8192 in MPICH.
    let (mut text, mut length) = ([0 as c_char; 1 << 14], 0);
    // SAFETY: may be called before MPI begins; the text has room for the longest and one more.
    let status = unsafe { version(text.as_mut_ptr(), &mut length) };
    // SAFETY: it was all zeros, and what is written is shorter.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
    let is_mpich = ["MPICH", "Intel(R) MPI", "MVAPICH"].iter().any(|name| text.contains(name));
    if status == 0 && is_mpich {
        return Ok(Family::Mpich);
    }
    let first = text.lines().next().unwrap_or_default();
    Err(format!("it is neither Open MPI nor compatible with MPICH: `{first}`"))
}

fn bound(library: Library, file: &str) -> Result<Box<dyn Mpi>, String> {
    let family = family_of(&library)?;
    // It stays for good: MPI has threads and handlers of its own.
    let library = Box::leak(Box::new(library));
    let of_file = |why| format!("{file}: {why}");
    Ok(match family {
        Family::OpenMpi => Box::new(Calls::<OpenMpi>::of(library).map_err(of_file)?),
        Family::Mpich => Box::new(Calls::<Mpich>::of(library).map_err(of_file)?),
    })
}

/// A symbol as `T`, a function or an address.
fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: the callers ask for functions of the MPI standard by their signatures there, and for
    // addresses, which are not followed here.
    let found = unsafe { library.get::<T>(name) };
    found.map(|found| *found).map_err(|_| format!("it has no {name}"))
}

/// What differs between the two.
trait Abi: 'static {
    /// A communicator, a type, an error handler or a request.
    type Handle: Copy + Send;
    /// `MPI_ANY_SOURCE`.
    const ANY_SOURCE: c_int;
    /// At which place of `MPI_Status`, counted in `int`, the source stands.
    const SOURCE_AT: usize;

    fn predefined(library: &Library) -> Result<Predefined<Self::Handle>, String>;
}

/// Handles that are there from the beginning.
struct Predefined<H> {
    /// `MPI_COMM_WORLD`.
    world: H,
    /// `MPI_BYTE`.
    byte: H,
    /// `MPI_ERRORS_RETURN`.
    errors_return: H,
    /// `MPI_REQUEST_NULL`, or what stands in its place before there is a request.
    no_request: H,
}

/// `MPI_Status` of either, which have 24 and 20 bytes.
#[derive(Default)]
#[repr(C, align(8))]
struct Status([c_int; 16]);

/// A handle of Open MPI: an address that only it follows.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Pointer(*mut c_void);

// SAFETY: it is a name; only the library follows it, and only on the thread that joined.
unsafe impl Send for Pointer {}

struct OpenMpi;

impl Abi for OpenMpi {
    type Handle = Pointer;
    const ANY_SOURCE: c_int = -1;
    const SOURCE_AT: usize = 0;

    fn predefined(library: &Library) -> Result<Predefined<Pointer>, String> {
        let object = |name| symbol(library, name).map(Pointer);
        Ok(Predefined {
            world: object(OPEN_MPI_WORLD)?,
            byte: object("ompi_mpi_byte")?,
            errors_return: object("ompi_mpi_errors_return")?,
            no_request: Pointer(std::ptr::null_mut()),
        })
    }
}

struct Mpich;

impl Abi for Mpich {
    type Handle = c_int;
    const ANY_SOURCE: c_int = -2;
    const SOURCE_AT: usize = 2;

    fn predefined(_: &Library) -> Result<Predefined<c_int>, String> {
        Ok(Predefined {
            world: 0x4400_0000,
            byte: 0x4c00_010d,
            errors_return: 0x5400_0001,
            no_request: 0x2c00_0000,
        })
    }
}

/// The eleven functions that are needed (MPI: A Message-Passing Interface Standard, 3.1).
struct Calls<A: Abi> {
    predefined: Predefined<A::Handle>,
    pending: Mutex<A::Handle>,
    init_thread: unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int,
    comm_set_errhandler: unsafe extern "C" fn(A::Handle, A::Handle) -> c_int,
    comm_rank: unsafe extern "C" fn(A::Handle, *mut c_int) -> c_int,
    comm_size: unsafe extern "C" fn(A::Handle, *mut c_int) -> c_int,
    isend: Isend<A::Handle>,
    test: unsafe extern "C" fn(*mut A::Handle, *mut c_int, *mut Status) -> c_int,
    iprobe: unsafe extern "C" fn(c_int, c_int, A::Handle, *mut c_int, *mut Status) -> c_int,
    get_count: unsafe extern "C" fn(*const Status, A::Handle, *mut c_int) -> c_int,
    recv: Recv<A::Handle>,
    abort: unsafe extern "C" fn(A::Handle, c_int) -> c_int,
    finalize: unsafe extern "C" fn() -> c_int,
}

type Isend<H> = unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int;
type Recv<H> = unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut Status) -> c_int;

// SAFETY: handles and addresses of functions; the request that changes is behind a lock.
unsafe impl<A: Abi> Sync for Calls<A> {}
// SAFETY: as above; that MPI is called on one thread alone is the business of the callers.
unsafe impl<A: Abi> Send for Calls<A> {}

impl<A: Abi> Calls<A> {
    fn of(library: &Library) -> Result<Self, String> {
        let predefined = A::predefined(library)?;
        Ok(Calls {
            pending: Mutex::new(predefined.no_request),
            predefined,
            init_thread: symbol(library, "MPI_Init_thread")?,
            comm_set_errhandler: symbol(library, "MPI_Comm_set_errhandler")?,
            comm_rank: symbol(library, "MPI_Comm_rank")?,
            comm_size: symbol(library, "MPI_Comm_size")?,
            isend: symbol(library, "MPI_Isend")?,
            test: symbol(library, "MPI_Test")?,
            iprobe: symbol(library, "MPI_Iprobe")?,
            get_count: symbol(library, "MPI_Get_count")?,
            recv: symbol(library, "MPI_Recv")?,
            abort: symbol(library, "MPI_Abort")?,
            finalize: symbol(library, "MPI_Finalize")?,
        })
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, A::Handle> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Abi> Mpi for Calls<A> {
    fn begin(&self) -> Result<(c_int, c_int), String> {
        let (mut given, mut rank, mut size) = (0, 0, 0);
        let no_words = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: called once; MPI takes no words of the command line, and `given` is valid.
        let begun = unsafe { (self.init_thread)(no_words.0, no_words.1, FUNNELED, &mut given) };
        if begun != 0 {
            return Err("it does not begin".into());
        }
        if given < FUNNELED {
            return Err("it does not allow threads besides its own".into());
        }
        // SAFETY: MPI has begun; both pointers are valid.
        let asked = unsafe {
            (self.comm_set_errhandler)(self.predefined.world, self.predefined.errors_return)
                | (self.comm_rank)(self.predefined.world, &mut rank)
                | (self.comm_size)(self.predefined.world, &mut size)
        };
        if asked == 0 { Ok((rank, size)) } else { Err("it does not tell the ranks".into()) }
    }

    fn finalize(&self) -> c_int {
        // SAFETY: the last call of all.
        unsafe { (self.finalize)() }
    }

    // SAFETY: what the trait asks of the caller is all that is needed.
    unsafe fn send(&self, bytes: *const c_void, count: c_int, to: c_int, tag: c_int) -> c_int {
        let request: *mut A::Handle = &mut *self.pending();
        // SAFETY: the bytes stay, says the caller; one send is pending at a time, so that the
        // request is overwritten only when the last one is done.
        unsafe {
            (self.isend)(
                bytes,
                count,
                self.predefined.byte,
                to,
                tag,
                self.predefined.world,
                request,
            )
        }
    }

    fn sent(&self, is_done: &mut bool) -> c_int {
        let (mut flag, mut status) = (0, Status::default());
        // SAFETY: all three pointers are valid, and the status has room for either library's.
        let result = unsafe { (self.test)(&mut *self.pending(), &mut flag, &mut status) };
        *is_done = flag != 0;
        result
    }

    fn probe(&self, from: Option<c_int>, tag: c_int) -> Result<Option<(c_int, c_int)>, c_int> {
        let (mut is_there, mut count, mut status) = (0, 0, Status::default());
        let from = from.unwrap_or(A::ANY_SOURCE);
        // SAFETY: both pointers are valid, and the status has room for either library's.
        let probed =
            unsafe { (self.iprobe)(from, tag, self.predefined.world, &mut is_there, &mut status) };
        if probed != 0 || is_there == 0 {
            return if probed == 0 { Ok(None) } else { Err(probed) };
        }
        // SAFETY: the status is the one that was just filled.
        let counted = unsafe { (self.get_count)(&status, self.predefined.byte, &mut count) };
        if counted == 0 { Ok(Some((status.0[A::SOURCE_AT], count))) } else { Err(counted) }
    }

    fn receive(&self, into: &mut [u8], from: c_int, tag: c_int) -> c_int {
        let (count, mut status) = (into.len() as c_int, Status::default());
        let into = into.as_mut_ptr().cast();
        // SAFETY: `into` has room for `count` bytes, and MPI writes no more.
        unsafe {
            (self.recv)(
                into,
                count,
                self.predefined.byte,
                from,
                tag,
                self.predefined.world,
                &mut status,
            )
        }
    }

    fn abort(&self, status: c_int) -> c_int {
        // SAFETY: may be called at any time after the beginning.
        unsafe { (self.abort)(self.predefined.world, status) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_build_is_not_told_to_install_a_library() {
        let tried = ["libmpi.so: no such file".to_string()];
        let said =
            |is_static| not_loaded(is_static, "OMPI_COMM_WORLD_SIZE", &[Family::OpenMpi], &tried);
        let (fixed, other) = (said(true), said(false));
        assert!(fixed.contains("linked statically") && !fixed.contains("install"), "{fixed}");
        assert!(!fixed.contains("no such file"), "{fixed}");
        assert!(other.contains("libmpi.so: no such file; install it"), "{other}");
    }

    #[test]
    fn what_is_no_mpi_is_refused_by_name() {
        let library = open("libc.so.6").expect("every system has it");
        let why = family_of(&library).expect_err("it is no MPI");
        assert_eq!(why, "it has no MPI_Get_library_version");
        let why = open("libno-such-mpi.so").expect_err("it is not there");
        assert!(why.starts_with("libno-such-mpi.so: cannot open shared object file"), "{why}");
    }

    #[test]
    fn a_launcher_says_whose_library_it_wants() {
        assert_eq!(Family::of_launcher("OMPI_COMM_WORLD_SIZE"), [Family::OpenMpi]);
        assert_eq!(Family::of_launcher("PMI_SIZE"), [Family::Mpich]);
        assert_eq!(Family::of_launcher("PMIX_RANK").len(), 2);
    }
}
