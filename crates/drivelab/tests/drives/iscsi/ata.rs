//! An ATA drive behind SCSI / ATA Translation: IDENTIFY DEVICE, the security set, SMART, device
//! statistics (ACS-4, SAT-4), and what Seagate's drives have besides.

use super::{Answer, BLOCK, BYTES, Script, Target, farm, not_known};
use std::time::{Duration, Instant};

const SECTORS: u64 = (BYTES / BLOCK) as u64;
/// Attributes: number, flags, value, raw.
type Attribute = (u8, u16, u8, u64);

pub struct Drive {
    script: Script,
    serial: String,
    data: Vec<u8>,
    password: Option<Vec<u8>>,
    was_prepared: bool,
    self_test: Option<(Instant, u8)>,
}

/// The registers of a command that is aborted.
fn aborted() -> Answer {
    Err(registers(0x0b, 0, 0x51))
}

/// Sense data with the registers: key, bits 23:8 of the LBA field, status.
fn registers(key: u8, lba: u16, status: u8) -> Vec<u8> {
    let mut sense = vec![0; 22];
    (sense[0], sense[1], sense[7]) = (0x72, key, 14);
    if key == 1 {
        sense[3] = 0x1d;
    }
    (sense[8], sense[9]) = (0x09, 0x0c);
    let [high, low] = lba.to_be_bytes();
    (sense[17], sense[19], sense[21]) = (low, high, status);
    sense
}

fn sealed(mut page: Vec<u8>) -> Vec<u8> {
    page[511] = 0;
    let sum = page.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    page[511] = sum.wrapping_neg();
    page
}

fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

impl Drive {
    pub fn new(script: Script, port: &str) -> Drive {
        let serial = format!("DLATA{port}");
        let data = vec![0; BYTES];
        Drive { script, serial, data, password: None, was_prepared: false, self_test: None }
    }

    fn is_frozen(&self) -> bool {
        self.script.number("frozen") != 0
    }

    fn identify(&self) -> Vec<u8> {
        let mut words = [0u16; 256];
        let mut text = |first: usize, count: usize, text: &str| {
            let text = format!("{text:width$}", width = 2 * count);
            for (index, pair) in text.as_bytes().chunks(2).take(count).enumerate() {
                words[first + index] = u16::from_be_bytes([pair[0], pair[1]]);
            }
        };
        text(10, 10, &self.serial);
        text(23, 4, "1.0");
        text(27, 20, "Scripted ATA drive");
        words[0] = 0x0040;
        words[49] = 0x0300;
        (words[60], words[61]) = (SECTORS as u16, (SECTORS >> 16) as u16);
        // SMART and security; 48 bits; general purpose logs, self-tests, error log.
        (words[82], words[83], words[84]) = (0x0003, 0x4400, 0x4023);
        let is_secured = u16::from(self.password.is_some());
        (words[85], words[86], words[87]) = (0x0001 | is_secured << 1, 0x0400, 0x4023);
        words[89] = 1;
        (words[100], words[101]) = (SECTORS as u16, (SECTORS >> 16) as u16);
        words[106] = 0x4000;
        words[128] = 0x0021 | is_secured << 1 | u16::from(self.is_frozen()) << 3;
        words[206] = u16::from(self.script.number("has_sct") != 0);
        words[217] = 1;
        let mut page: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        page[510] = 0xa5;
        sealed(page)
    }

    fn is_testing(&self) -> bool {
        self.self_test.is_some_and(|(begin, _)| begin.elapsed() < Duration::from_secs(2))
    }

    fn smart_data(&self) -> Vec<u8> {
        let attributes: [Attribute; 6] = [
            (5, 0x33, 100, 2),
            (9, 0x32, 99, 4321),
            (12, 0x32, 99, 17),
            (194, 0x22, 60, 41),
            (197, 0x32, 100, self.script.number("pending")),
            (199, 0x3e, 100, 5),
        ];
        let mut page = vec![0; 512];
        page[0] = 16;
        for (index, (number, flags, value, raw)) in attributes.into_iter().enumerate() {
            let at = 2 + 12 * index;
            page[at] = number;
            put(&mut page, at + 1, &flags.to_le_bytes());
            (page[at + 3], page[at + 4]) = (value, value);
            put(&mut page, at + 5, &raw.to_le_bytes()[..6]);
        }
        page[363] = if self.is_testing() { 0xf5 } else { 0 };
        page[367] = 0x10;
        (page[372], page[373]) = (1, 10);
        sealed(page)
    }

    /// Now, since it was turned on, and ever; above its limit, and below it.
    fn sct_status() -> Vec<u8> {
        let mut page = vec![0; 512];
        (page[0], page[2], page[4]) = (3, 1, 1);
        put(&mut page, 200, &[41, 22, 47, 0xfb, 63]);
        put(&mut page, 206, &7u32.to_le_bytes());
        put(&mut page, 210, &3u32.to_le_bytes());
        page
    }

    fn thresholds() -> Vec<u8> {
        let mut page = vec![0; 512];
        (page[0], page[2], page[3]) = (16, 5, 36);
        sealed(page)
    }

    /// The log of self-tests: at most one, once it has ended.
    fn self_tests(&self) -> Vec<u8> {
        let mut page = vec![0; 512];
        page[0] = 1;
        if let Some((_, kind)) = self.self_test.filter(|_| !self.is_testing()) {
            page[2] = kind;
            page[3] = if self.script.number("self_test_fails") != 0 { 0x70 } else { 0 };
            put(&mut page, 4, &4321u16.to_le_bytes());
            page[508] = 1;
        }
        sealed(page)
    }

    fn smart(&mut self, feature: u8, address: u8, wants_registers: bool) -> Answer {
        match feature {
            0xd0 => Ok(self.smart_data()),
            0xd1 => Ok(Self::thresholds()),
            0xd4 => {
                self.self_test = Some((Instant::now(), address));
                Ok(Vec::new())
            }
            0xd5 if address == 0x06 => Ok(self.self_tests()),
            0xd5 if address == 0xe0 && self.script.number("has_sct") != 0 => Ok(Self::sct_status()),
            0xda if wants_registers => {
                let is_failing = self.script.number("failing") != 0;
                Err(registers(1, if is_failing { 0x2cf4 } else { 0xc24f }, 0x50))
            }
            0xda => Ok(Vec::new()),
            _ => aborted(),
        }
    }

    /// READ LOG EXT: the directory, the device statistics, and FARM.
    fn log(&self, address: u8, page: u8, blocks: usize) -> Answer {
        let farm_hours = self.script.number("farm_hours");
        let mut log = vec![0; 512];
        let mut statistics = |all: &[(usize, u64)]| {
            (log[0], log[2]) = (1, page);
            for (at, value) in all {
                put(&mut log, *at, &value.to_le_bytes()[..7]);
                log[at + 7] = 0xc0;
            }
        };
        match (address, page) {
            (0x00, _) => {
                log[0] = 1;
                log[8] = 8;
                if farm_hours > 0 {
                    put(&mut log, 2 * 0xa6, &farm::BLOCKS.to_le_bytes());
                }
            }
            (0xa6, _) if farm_hours > 0 => {
                let from = 512 * usize::from(page);
                let log = farm::log(farm_hours);
                let part = log.get(from..from + 512 * blocks);
                return part.map_or_else(aborted, |part| Ok(part.to_vec()));
            }
            (0x04, 0) => {
                statistics(&[]);
                put(&mut log, 8, &[5, 0, 1, 5, 6, 7]);
            }
            (0x04, 1) => statistics(&[(16, 4321), (24, 1 << 31), (40, 1 << 30)]),
            (0x04, 5) => statistics(&[(8, 41)]),
            (0x04, 6) => statistics(&[(24, 5)]),
            (0x04, 7) => statistics(&[(8, self.script.number("used_percent"))]),
            _ => return aborted(),
        }
        Ok(log)
    }

    /// The security set: F1 to F6.
    fn security(&mut self, code: u8, data: &[u8]) -> Answer {
        let was_prepared = std::mem::take(&mut self.was_prepared);
        let given = data.get(2..34).unwrap_or_default();
        let is_right = self.password.as_deref() == Some(given);
        match code {
            _ if self.is_frozen() || self.script.number("aborts") == u64::from(code) => aborted(),
            0xf1 => {
                self.password = Some(given.to_vec());
                Ok(Vec::new())
            }
            0xf3 => {
                self.was_prepared = true;
                Ok(Vec::new())
            }
            0xf4 if was_prepared && is_right => {
                std::thread::sleep(Duration::from_secs(self.script.number("erase_s")));
                self.data.fill(0);
                self.password = None;
                Ok(Vec::new())
            }
            0xf6 if is_right => {
                self.password = None;
                Ok(Vec::new())
            }
            _ => aborted(),
        }
    }
}

impl Target for Drive {
    fn names(&self) -> [String; 3] {
        ["ATA", "Scripted ATA", &self.serial].map(str::to_owned)
    }

    fn data(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    fn command(&mut self, command: &[u8; 16], data: &[u8]) -> Option<Answer> {
        if command[0] == 0xa1 {
            return Some(not_known());
        }
        if command[0] != 0x85 {
            return None;
        }
        Some(match command[14] {
            0xec => Ok(self.identify()),
            0xb0 => self.smart(command[4], command[8], command[2] & 1 << 5 != 0),
            0x2f => self.log(command[8], command[10], command[6].into()),
            code @ 0xf1..=0xf6 => self.security(code, data),
            // FLUSH CACHE, FLUSH CACHE EXT, CHECK POWER MODE.
            0xe7 | 0xea | 0xe5 => Ok(Vec::new()),
            _ => aborted(),
        })
    }
}
