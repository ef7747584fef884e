use super::*;

fn commands(block_shift: u32, is_durable: bool) -> Commands {
    let registered = Registered { files: true, buffers: true };
    let ranges = (0..4).map(|_| UnsafeCell::default()).collect();
    let write = WRITE;
    Commands { identifier: 7, block_shift, write, is_durable, device: -1, registered, ranges }
}

fn op(action: Action, offset: u64, len: u32) -> DataOp {
    DataOp { action, offset, len, ..DataOp::default() }
}

fn dword(bytes: &[u8], place: usize) -> u32 {
    u32::from_ne_bytes(bytes[place..place + 4].try_into().unwrap())
}

#[test]
fn a_command_is_laid_out_as_in_the_kernels_header() {
    let at = (0x1_2345_6789 << 9, 8 << 9);
    let command = commands(9, false).command(0, &op(Action::Read, at.0, at.1), 0xfeed_0000_1000);
    let bytes = command.bytes(7);
    assert_eq!(bytes[..4], [READ, 0, 0, 0], "opcode, flags, reserved");
    assert_eq!(dword(&bytes, 4), 7, "nsid");
    assert_eq!(bytes[8..24], [0; 16], "cdw2, cdw3, metadata");
    assert_eq!(bytes[24..32], 0xfeed_0000_1000_u64.to_ne_bytes(), "addr");
    assert_eq!((dword(&bytes, 32), dword(&bytes, 36)), (0, 4096), "metadata_len, data_len");
    assert_eq!([40, 44, 48].map(|place| dword(&bytes, place)), [0x2345_6789, 1, 7], "cdw10 to 12");
    assert_eq!(bytes[52..], [0; 28], "cdw13 to 15, timeout, reserved, and what is behind it");
}

#[test]
fn blocks_count_from_zero_and_in_their_own_size() {
    let of = |shift, len| commands(shift, false).command(0, &op(Action::Write, 1 << 20, len), 1);
    assert_eq!(of(9, 512).dwords, [2048, 0, 0, 0]);
    assert_eq!(of(12, 4096).dwords, [256, 0, 0, 0]);
    assert_eq!(of(12, 1 << 20).dwords, [256, 0, 255, 0]);
    assert_eq!(of(9, 65_536 << 9).dwords, [2048, 0, 0xffff, 0], "the most that a command can say");
}

#[test]
fn a_write_that_must_be_durable_says_so_and_a_read_does_not() {
    let durable = commands(12, true);
    let dwords = |action| durable.command(0, &op(action, 0, 8192), 1).dwords[2];
    assert_eq!(dwords(Action::Write), 1 << 30 | 1);
    assert_eq!(dwords(Action::Read), 1);
}

#[test]
fn an_append_names_the_first_block_of_its_zone() {
    let commands = Commands { write: ZONE_APPEND, ..commands(12, true) };
    let of = |action| commands.command(0, &op(action, 3 << 24, 8192), 0x1000);
    let append = of(Action::Write);
    assert_eq!((append.opcode, append.bytes, append.address), (0x7d, 8192, 0x1000));
    assert_eq!(append.dwords, [3 << 12, 0, 1 << 30 | 1, 0]);
    assert_eq!(of(Action::Read).opcode, READ);
}

#[test]
fn a_flush_moves_nothing() {
    let flush = commands(9, true).command(3, &op(Action::Flush, 4096, 4096), 0xabcd);
    assert_eq!(flush, Command { opcode: 0, ..Command::default() });
}

#[test]
fn a_trim_tells_its_range() {
    let commands = commands(12, false);
    let trim = commands.command(2, &op(Action::Trim, 3 << 12, 5 << 12), 0xabcd);
    assert_eq!((trim.opcode, trim.bytes, trim.dwords), (9, 16, [0, 4, 0, 0]));
    let place = commands.ranges[2].get();
    assert_eq!(trim.address, place as u64);
    assert_eq!(trim.address % 16, 0);
    // SAFETY: nothing is in flight.
    let range = unsafe { &*place };
    assert_eq!((range.attributes, range.blocks, range.first), (0, 5, 3));
}

#[test]
fn a_completion_says_what_was_moved_or_why_not() {
    let read = op(Action::Read, 0, 4096);
    assert_eq!(outcome(0, &read), Ok(4096));
    assert_eq!(outcome(0, &op(Action::Trim, 0, 8192)), Ok(8192));
    assert_eq!(outcome(0, &op(Action::Flush, 0, 0)), Ok(0));
    assert_eq!(outcome(-libc::ENODEV, &read), Err(Errno(libc::ENODEV)));
    assert_eq!(outcome(-libc::EINTR, &read), Err(Errno(libc::EIO)), "given up by the kernel");
    // "Do not retry" and "more" stand above the status.
    assert_eq!(outcome(0x6281, &read), Err(Errno(libc::ENODATA)));
}

#[test]
fn a_status_is_the_error_that_another_engine_would_have() {
    let named = [
        (0x001, libc::EOPNOTSUPP),
        (0x080, libc::EREMOTEIO),
        (0x081, libc::ENOSPC),
        (0x083, libc::EBADE),
        (0x182, libc::ENODATA),
        (0x280, libc::ENODATA),
        (0x281, libc::ENODATA),
        (0x282, libc::EILSEQ),
        (0x370, libc::ENOLINK),
        (0x006, libc::EIO),
        (0x371, libc::EIO),
        (0x7ff, libc::EIO),
    ];
    for (status, errno) in named {
        assert_eq!(answered(status), Errno(errno), "{status:03x}h");
    }
}

#[test]
fn what_the_kernel_does_not_carry_is_said_with_the_way_out() {
    let said = |number| not_carried(Path::new("/dev/ng0n1"), 1 << 20, Errno(number)).text;
    assert!(said(libc::EACCES).contains("run as root"), "{}", said(libc::EACCES));
    assert!(said(libc::EINVAL).contains("1048576 bytes to /dev/ng0n1"), "{}", said(libc::EINVAL));
    for number in [libc::EACCES, libc::EINVAL, libc::EOPNOTSUPP, libc::ENOTTY] {
        assert!(said(number).contains("--engine io_uring"), "{}", said(number));
    }
    assert!(said(libc::ENODEV).contains("kernel log"), "{}", said(libc::ENODEV));
}

#[test]
fn zones_are_reset_and_finished_by_their_first_block() {
    let of = |action| {
        let commands = commands(12, false);
        let command = commands.command(0, &op(action, 1 << 24, 0), 0);
        (command.opcode, command.address, command.bytes, command.dwords)
    };
    assert_eq!(of(Action::Reset), (0x79, 0, 0, [4096, 0, 0, 4]));
    assert_eq!(of(Action::Finish), (0x79, 0, 0, [4096, 0, 0, 2]));
    assert_eq!(answered(0x1bd), Errno(libc::EOVERFLOW));
    assert_eq!(answered(0x1be), Errno(libc::ETOOMANYREFS));
}
