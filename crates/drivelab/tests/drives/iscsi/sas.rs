//! A drive of SCSI with all the log pages that are read, and self-tests (SPC-5, SBC-4).

use super::{Answer, BYTES, Script, Target, farm, sense};
use std::time::{Duration, Instant};

pub struct Drive {
    script: Script,
    serial: String,
    data: Vec<u8>,
    self_test: Option<(Instant, u8)>,
}

impl Drive {
    pub fn new(script: Script, port: &str) -> Drive {
        let serial = format!("DLSAS{port}");
        Drive { script, serial, data: vec![0; BYTES], self_test: None }
    }

    /// Parameters of a page: code and data of each.
    fn parameters(&self, page: u8) -> Option<Vec<(u16, Vec<u8>)>> {
        let number = |word: &str| self.script.number(word).to_be_bytes().to_vec();
        Some(match page {
            0x02 => vec![(5, (3u64 << 40).to_be_bytes().to_vec()), (6, number("write_errors"))],
            0x03 => vec![(5, (2u64 << 40).to_be_bytes().to_vec()), (6, number("read_errors"))],
            0x0d => vec![(0, vec![0, 37]), (1, vec![0, 65])],
            0x10 => (1..=20).map(|code| (code, self.test(code))).collect(),
            0x11 => vec![(1, vec![0, 0, 0, 9])],
            0x15 => vec![(0, [&(4321u32 * 60).to_be_bytes()[..], &[0; 8]].concat())],
            0x2f => {
                let is_failing = self.script.number("failing") != 0;
                vec![(0, vec![if is_failing { 0x5d } else { 0 }, 0, 37, 0])]
            }
            _ => return None,
        })
    }

    /// A place of the page of self-tests; only the first is used.
    fn test(&self, code: u16) -> Vec<u8> {
        let mut data = vec![0; 16];
        if let (Some((begin, kind)), 1) = (self.self_test, code) {
            let is_running = begin.elapsed() < Duration::from_secs(2);
            data[0] = kind << 5 | if is_running { 0xf } else { 0 };
            data[1] = 1;
            data[2..4].copy_from_slice(&4321u16.to_be_bytes());
        }
        data
    }

    fn log(&self, page: u8, subpage: u8) -> Answer {
        let farm_hours = self.script.number("farm_hours");
        let body = match (page, subpage) {
            (0, 0) => vec![0x00, 0x02, 0x03, 0x0d, 0x10, 0x11, 0x15, 0x2f],
            (0, 0xff) if farm_hours > 0 => vec![0x00, 0x00, 0x00, 0xff, 0x2f, 0x00, 0x3d, 0x03],
            _ => {
                let parameters = match (page, subpage) {
                    (_, 0) => self.parameters(page),
                    (0x3d, 0x03) if farm_hours > 0 => Some(farm::parameters(farm_hours)),
                    _ => None,
                };
                let Some(parameters) = parameters else {
                    return Err(sense(5, 0x24, 0));
                };
                let one = |(code, data): (u16, Vec<u8>)| {
                    let length = u8::try_from(data.len()).unwrap();
                    [&code.to_be_bytes()[..], &[3, length], &data].concat()
                };
                parameters.into_iter().flat_map(one).collect()
            }
        };
        let length = u16::try_from(body.len()).unwrap().to_be_bytes();
        let head = if subpage == 0 { [page, 0] } else { [page | 0x40, subpage] };
        Ok([&head[..], &length, &body].concat())
    }
}

impl Target for Drive {
    fn names(&self) -> [String; 3] {
        ["DLVENDOR", "Scripted SAS", &self.serial].map(str::to_owned)
    }

    fn data(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    fn command(&mut self, command: &[u8; 16], _: &[u8]) -> Option<Answer> {
        match command[0] {
            0x4d => Some(self.log(command[2] & 0x3f, command[3])),
            0x1d => {
                self.self_test = Some((Instant::now(), command[1] >> 5));
                Some(Ok(Vec::new()))
            }
            // It hands on no ATA commands.
            0x85 | 0xa1 => Some(super::not_known()),
            _ => None,
        }
    }
}
