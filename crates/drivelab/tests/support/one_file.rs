//! A FUSE mount that holds one file.
#![allow(dead_code, reason = "each mount uses its own part")]

use fuser::{FileAttr, FileType, INodeNo};
use std::time::UNIX_EPOCH;

/// The name of the only file.
pub const FILE_NAME: &str = "drive";
pub const ROOT: INodeNo = INodeNo(1);
pub const FILE: INodeNo = INodeNo(2);

/// Attributes of the file, of this many bytes, or of the directory that it is in.
pub fn attributes(inode: INodeNo, bytes: u64) -> FileAttr {
    let is_file = inode == FILE;
    let bytes = if is_file { bytes } else { 0 };
    FileAttr {
        ino: inode,
        size: bytes,
        blocks: bytes / 512,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind: if is_file { FileType::RegularFile } else { FileType::Directory },
        perm: if is_file { 0o600 } else { 0o700 },
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}
