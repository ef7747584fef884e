//! Signatures on images in memory, and that nothing in an image can upset their reader.

use drivelab_io::signature::{in_words, signatures};

const SIZE: usize = 8 << 20;

/// The signatures of a blank image with these bytes in it.
fn with(places: &[(usize, &[u8])]) -> Vec<String> {
    let mut image = vec![0; SIZE];
    for (offset, bytes) in places {
        image[*offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    signatures(image.as_slice()).unwrap()
}

#[test]
fn blank_and_unknown_data_have_none() {
    assert!(with(&[]).is_empty());
    let mut state = 1u64;
    for _ in 0..64 {
        let image: Vec<u8> = (0..1 << 17)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        assert!(signatures(image.as_slice()).unwrap().is_empty());
    }
}

#[test]
fn each_magic_is_found_at_its_place() {
    let lvm: &[(usize, &[u8])] = &[(512, b"LABELONE"), (536, b"LVM2 001")];
    assert_eq!(with(lvm), ["lvm2"]);
    let fat: &[u8] = &[0xeb, 0x58, 0x90];
    let parameters: &[u8] = &[0, 2, 8, 32, 0, 2, 0, 0, 0, 0, 0xf8];
    assert_eq!(
        with(&[(0, fat), (11, parameters), (82, b"FAT32   "), (510, &[0x55, 0xaa])]),
        ["vfat"]
    );
    assert_eq!(with(&[(0, fat), (11, parameters), (510, &[0x55, 0xaa])]), ["vfat"]);
    assert_eq!(with(&[(3, b"NTFS    "), (510, &[0x55, 0xaa])]), ["ntfs"]);
    assert_eq!(with(&[(3, b"EXFAT   "), (510, &[0x55, 0xaa])]), ["exfat"]);
    assert_eq!(with(&[(510, &[0x55, 0xaa])]), ["dos"]);
    assert_eq!(with(&[(510, &[0x55, 0xaa]), (512, b"EFI PART")]), ["gpt"]);
    assert_eq!(with(&[(510, &[0x55, 0xaa]), (4096, b"EFI PART")]), ["gpt"]);
    assert_eq!(with(&[(SIZE - 512, b"EFI PART")]), ["gpt"], "only the copy at the end");
    assert_eq!(with(&[(0, b"LUKS\xba\xbe\x00\x02")]), ["luks"]);
    assert_eq!(with(&[(0x4000, b"SKUL\xba\xbe\x00\x02")]), ["luks"], "the second header");
    let md = 0xa92b_4efc_u32.to_le_bytes();
    for place in [0, 4096, SIZE - 0x10000, SIZE - 8192] {
        assert_eq!(with(&[(place, &md)]), ["md"], "{place:#x}");
    }
    assert_eq!(with(&[(SIZE - 0x10000, &0xa92b_4efc_u32.to_be_bytes())]), ["md"]);
    for label in [0, 256 << 10, SIZE - (512 << 10), SIZE - (256 << 10)] {
        let magic = 0x00ba_b10c_u64;
        assert_eq!(with(&[(label + (131 << 10), &magic.to_le_bytes())]), ["zfs"]);
        assert_eq!(with(&[(label + (131 << 10), &magic.to_be_bytes())]), ["zfs"]);
    }
    assert_eq!(with(&[(65536 - 10, b"SWAPSPACE2")]), ["swap"], "64 KiB pages");
    assert_eq!(with(&[(4096 - 10, b"S1SUSPEND\0")]), ["swsuspend"]);
    assert_eq!(with(&[(SIZE - 4096 + 60, &[0x83, 0x74, 0x02, 0x6d])]), ["drbd"]);
    assert_eq!(with(&[(0x8001, b"CD001")]), ["iso9660"]);
    assert_eq!(with(&[(1024, &0xf2f5_2010_u32.to_le_bytes())]), ["f2fs"]);
    assert_eq!(with(&[(1024, &0xe0f5_e1e2_u32.to_le_bytes())]), ["erofs"]);
    assert_eq!(with(&[(0, b"hsqs")]), ["squashfs"]);
    assert_eq!(with(&[(0, b"XFSB"), (0x10040, b"_BHRfS_M")]), ["btrfs", "xfs"]);
    assert_eq!(with(&[(3, b"-FVE-FS-")]), ["bitlocker"]);
}

#[test]
fn ext_is_told_apart() {
    let ext = |compatible: u8, incompatible: u8, read_only: u8| {
        with(&[
            (1024, &[1]),
            (1024 + 56, &[0x53, 0xef]),
            (1024 + 92, &[compatible]),
            (1024 + 96, &[incompatible]),
            (1024 + 100, &[read_only]),
        ])
    };
    assert_eq!(ext(0, 2, 1), ["ext2"]);
    assert_eq!(ext(4, 2, 3), ["ext3"]);
    assert_eq!(ext(4, 0x42, 3), ["ext4"]);
    assert_eq!(ext(0, 0x42, 0), ["ext4"], "without a journal");
    assert_eq!(ext(0, 8, 0), ["jbd"]);
}

#[test]
fn any_length_and_content_is_read() {
    // Short media, and each magic cut off at every place.
    let mut image = vec![0xff; 80 << 10];
    for (index, byte) in image.iter_mut().enumerate() {
        *byte = (index % 251) as u8;
    }
    for length in (0..2048).chain((0..image.len()).step_by(509)) {
        signatures(&image[..length]).unwrap();
    }
    for value in [0, 0x55, 0xaa, 0xff] {
        let image = vec![value; 3 << 20];
        signatures(image.as_slice()).unwrap();
    }
}

#[test]
fn an_unreadable_place_is_no_blank_place() {
    struct Broken;
    impl drivelab_io::signature::Media for Broken {
        fn bytes(&self) -> u64 {
            1 << 30
        }
        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
            match offset {
                0 => Ok(buffer.len()),
                _ => Err(std::io::Error::other("EIO")),
            }
        }
    }
    assert!(signatures(&Broken).is_err());
}

#[test]
fn words_have_their_article() {
    assert_eq!(in_words("ext4"), "an ext4 file system");
    assert_eq!(in_words("vfat"), "a vfat file system");
    assert_eq!(in_words("xfs"), "an xfs file system");
    assert_eq!(in_words("gpt"), "a GPT partition table");
}
