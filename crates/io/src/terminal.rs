//! How wide the terminals are that this process prints on.

use std::os::fd::AsFd;

/// The columns of the terminal behind a stream, as the kernel knows them (`TIOCGWINSZ` of
/// ioctl_tty(2)); none where it is no terminal, or one that has not said.
pub fn columns(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_no_terminal_has_no_columns() {
        let file = std::fs::File::open("/dev/null").expect("it is everywhere");
        assert_eq!(super::columns(&file), None);
    }
}
