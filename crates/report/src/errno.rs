//! Names of the kernel's error numbers, as Linux counts them.

const NAMES: [(i32, &str, &str); 38] = [
    (1, "EPERM", "not permitted"),
    (2, "ENOENT", "no such file or directory"),
    (4, "EINTR", "interrupted"),
    (5, "EIO", "input/output error: the drive failed the request"),
    (6, "ENXIO", "no such device or address"),
    (7, "E2BIG", "argument list too long"),
    (9, "EBADF", "bad file descriptor"),
    (11, "EAGAIN", "would have to wait"),
    (12, "ENOMEM", "out of memory"),
    (13, "EACCES", "permission denied"),
    (14, "EFAULT", "bad address"),
    (16, "EBUSY", "busy"),
    (17, "EEXIST", "exists already"),
    (18, "EXDEV", "crosses file systems"),
    (19, "ENODEV", "no such device: it may have been removed"),
    (20, "ENOTDIR", "not a directory"),
    (21, "EISDIR", "is a directory"),
    (22, "EINVAL", "invalid argument: often a size or offset that direct I/O cannot take"),
    (23, "ENFILE", "too many open files in the system"),
    (24, "EMFILE", "too many open files"),
    (27, "EFBIG", "file too large"),
    (28, "ENOSPC", "no space left"),
    (30, "EROFS", "read-only file system"),
    (32, "EPIPE", "broken pipe"),
    (34, "ERANGE", "out of range"),
    (38, "ENOSYS", "not implemented by this kernel"),
    (39, "ENOTEMPTY", "directory not empty"),
    (52, "EBADE", "invalid exchange"),
    (61, "ENODATA", "medium error: the data could not be read"),
    (62, "ETIME", "timed out in the drive"),
    (84, "EILSEQ", "data failed its protection check"),
    (95, "EOPNOTSUPP", "not supported here"),
    (107, "ENOTCONN", "not connected: the server may have gone away"),
    (110, "ETIMEDOUT", "timed out"),
    (116, "ESTALE", "stale file handle"),
    (121, "EREMOTEIO", "remote input/output error"),
    (122, "EDQUOT", "disk quota exceeded"),
    (125, "ECANCELED", "cancelled"),
];

/// `EIO` for 5; `errno 999` for a number without a name here; `other errors` for 0, under which a
/// tally gathers what it cannot tell apart.
pub fn name(errno: i32) -> String {
    match (errno, NAMES.iter().find(|entry| entry.0 == errno)) {
        (_, Some((_, name, _))) => (*name).to_owned(),
        (0, None) => "other errors".to_owned(),
        (number, None) => format!("errno {number}"),
    }
}

/// What the error means, in a few words; empty for a number without a name here.
pub fn meaning(errno: i32) -> &'static str {
    NAMES.iter().find(|entry| entry.0 == errno).map_or("", |entry| entry.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_numbers_have_names() {
        assert_eq!(name(5), "EIO");
        assert_eq!(name(28), "ENOSPC");
        assert_eq!(name(0), "other errors");
        assert_eq!(name(4711), "errno 4711");
        assert_eq!(meaning(28), "no space left");
        assert_eq!(meaning(4711), "");
    }

    #[test]
    fn names_are_those_of_the_standard_library() {
        // The library knows the numbers from the C headers, so a wrong row shows as another text.
        for (number, kind) in [
            (2, std::io::ErrorKind::NotFound),
            (13, std::io::ErrorKind::PermissionDenied),
            (17, std::io::ErrorKind::AlreadyExists),
            (28, std::io::ErrorKind::StorageFull),
            (110, std::io::ErrorKind::TimedOut),
            (122, std::io::ErrorKind::QuotaExceeded),
        ] {
            assert_eq!(std::io::Error::from_raw_os_error(number).kind(), kind, "{}", name(number));
        }
    }
}
