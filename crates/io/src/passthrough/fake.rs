//! A scripted drive at the other end of the line.

use super::line::{AdminCommand, Line, Reply, Transfer};
use drivelab_core::op::Errno;
use std::collections::BTreeMap;

/// One drive, NVMe or ATA, that remembers what it was sent.
#[derive(Default)]
pub struct Fake {
    /// Fails every call but the dropping of pages.
    pub error: Option<Errno>,
    /// How many commands had come when pages were dropped.
    pub dropped_after: Vec<usize>,
    /// How often it was waited for.
    pub pauses: usize,
    /// At which pause a signal comes.
    pub stopped_at_pause: Option<usize>,

    /// NVMe: its own namespace, and the list of all.
    pub own: u32,
    pub list: Vec<u32>,
    /// NVMe: Identify Controller and Identify Namespace.
    pub controller: Vec<u8>,
    pub described: Vec<u8>,
    /// NVMe: status of the list and of other commands, by opcode.
    pub list_status: u16,
    pub statuses: BTreeMap<u8, u16>,
    /// NVMe: log pages in order; the last stays.
    pub logs: Vec<Vec<u8>>,
    /// NVMe: log pages by their number, before those.
    pub log_pages: BTreeMap<u8, Vec<u8>>,
    /// NVMe: somebody reads its events.
    pub has_context: bool,
    /// NVMe: from which byte of a log it was asked.
    pub offsets: Vec<u64>,
    /// NVMe: what it was sent.
    pub admin: Vec<AdminCommand>,

    /// NVMe: the volatile write cache is on.
    pub has_cache_on: bool,
    /// NVMe: takes Set Features, and does nothing.
    pub keeps_cache: bool,
    /// NVMe: autonomous power state transitions are on.
    pub sleeps_by_itself: bool,
    /// NVMe: features that were asked for and set, with the value.
    pub features: Vec<(AdminCommand, u32)>,

    /// ATA: word 128.
    pub security: u16,
    pub is_erased: bool,
    /// ATA: commands that it aborts, and one that never ends.
    pub failing: Vec<u8>,
    pub timing_out: Option<u8>,
    /// ATA: answers only this many IDENTIFY DEVICE.
    pub identifies: Option<usize>,
    /// ATA: answers IDENTIFY DEVICE.
    pub is_ata: bool,
    /// ATA: does not take the password off after an erase.
    pub keeps_password: bool,
    password: Vec<u8>,
    was_prepared: bool,
    /// ATA: what it answers to a command of this code, feature and address, before all else.
    pub answers: BTreeMap<(u8, u8, u64), Answer>,
    /// SCSI: its log pages.
    pub pages: Vec<Vec<u8>>,
    /// SCSI, ATA: what it was sent: command, data, timeout in milliseconds.
    pub sent: Vec<([u8; 16], Vec<u8>, u32)>,
}

/// What an ATA drive answers.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Its data.
    Data(Vec<u8>),
    /// Bits 23:8 of the LBA field, in the registers.
    Lba(u16),
    /// It succeeds, and nobody hands on its registers.
    Done,
    /// It aborts the command.
    Aborted,
}

impl Fake {
    /// An NVMe drive with everything, and one namespace of at most `namespaces_max`.
    pub fn nvme(namespaces_max: u32) -> Fake {
        let mut controller = vec![0; 4096];
        controller[256] = 0b10;
        controller[328] = 0b10;
        controller[516..520].copy_from_slice(&namespaces_max.to_le_bytes());
        let mut described = vec![0; 4096];
        described[..8].copy_from_slice(&1_000_000u64.to_le_bytes());
        Fake { own: 1, list: vec![1], controller, described, ..Fake::default() }
    }

    /// An ATA drive with security that takes two minutes.
    pub fn ata() -> Fake {
        Fake { is_ata: true, security: 0x0021, ..Fake::default() }
    }

    /// The ATA commands that were sent.
    pub fn codes(&self) -> Vec<u8> {
        self.sent.iter().map(|(command, ..)| command[14]).collect()
    }

    fn error(&self) -> Result<(), Errno> {
        self.error.map_or(Ok(()), Err)
    }

    fn log(&mut self) -> Vec<u8> {
        match self.logs.len() {
            0 => vec![0; 512],
            1 => self.logs[0].clone(),
            _ => self.logs.remove(0),
        }
    }

    /// What Identify gives.
    fn identity(&self, command: AdminCommand) -> Vec<u8> {
        match command.dword_10 {
            0x00 if command.namespace == self.own => self.described.clone(),
            0x01 => self.controller.clone(),
            _ => {
                let mut data: Vec<u8> =
                    self.list.iter().flat_map(|identifier| identifier.to_le_bytes()).collect();
                data.resize(4096, 0);
                data
            }
        }
    }

    /// Whether the drive carries out an ATA command.
    fn obeys(&mut self, code: u8, out: &[u8]) -> bool {
        let was_prepared = std::mem::take(&mut self.was_prepared);
        let knows_password = self.security & 0b10 != 0 && out.get(2..34) == Some(&self.password);
        match code {
            _ if self.failing.contains(&code) => return false,
            0xf1 => {
                self.security |= 0b10;
                self.password = out[2..34].to_vec();
            }
            0xf3 => self.was_prepared = true,
            0xf4 if was_prepared && knows_password => {
                self.is_erased = true;
                if !self.keeps_password {
                    self.security &= !0b10;
                }
            }
            0xf6 if knows_password => self.security &= !0b10,
            _ => return false,
        }
        true
    }

    /// LOG SENSE.
    fn log_page(&self, (number, subpage): (u8, u8), transfer: Transfer<'_>) -> Reply {
        let mut pages = self.pages.iter();
        let found = pages.find(|page| (page[0] & 0x3f, page[1]) == (number, subpage));
        match (found, transfer) {
            (Some(page), Transfer::In(data)) => {
                let bytes = page.len().min(data.len());
                data[..bytes].copy_from_slice(&page[..bytes]);
                Reply::default()
            }
            _ => aborted(),
        }
    }

    /// IDENTIFY DEVICE, if it still answers.
    fn identify_device(&mut self, data: &mut [u8]) -> bool {
        match &mut self.identifies {
            Some(0) => return false,
            Some(left) => *left -= 1,
            None => {}
        }
        (data[0], data[178]) = (0x40, 1);
        data[256..258].copy_from_slice(&self.security.to_le_bytes());
        true
    }
}

/// Fixed format, ABORTED COMMAND.
fn aborted() -> Reply {
    let mut sense = vec![0; 18];
    (sense[0], sense[2]) = (0x70, 0x0b);
    Reply { status: 2, sense, ..Reply::default() }
}

/// A scripted answer; registers come in the descriptor format.
fn answered(answer: &Answer, transfer: Transfer<'_>) -> Reply {
    match (answer, transfer) {
        (Answer::Data(answer), Transfer::In(data)) => {
            let bytes = answer.len().min(data.len());
            data[..bytes].copy_from_slice(&answer[..bytes]);
            Reply::default()
        }
        (Answer::Lba(lba), Transfer::Nothing) => {
            let mut sense = vec![0; 22];
            sense[..4].copy_from_slice(&[0x72, 1, 0, 0x1d]);
            sense[7..10].copy_from_slice(&[14, 0x09, 0x0c]);
            (sense[17], sense[19], sense[21]) = (*lba as u8, (*lba >> 8) as u8, 0x50);
            Reply { status: 2, sense, ..Reply::default() }
        }
        (Answer::Done, _) => Reply::default(),
        _ => aborted(),
    }
}

impl Line for Fake {
    fn namespace(&mut self) -> Result<u32, Errno> {
        self.error().map(|()| self.own)
    }

    fn admin(&mut self, command: AdminCommand, data: &mut [u8]) -> Result<u16, Errno> {
        self.error()?;
        self.admin.push(command);
        if let Some(status) = self.statuses.get(&command.opcode) {
            return Ok(*status);
        }
        let asks_for_list = command.opcode == 0x06 && command.dword_10 > 0x01;
        if asks_for_list && self.list_status != 0 {
            return Ok(self.list_status);
        }
        match command.opcode {
            0x06 => data.copy_from_slice(&self.identity(command)),
            0x02 => {
                let page = self.log_pages.get(&(command.dword_10 as u8)).cloned();
                let mut page = page.unwrap_or_else(|| self.log());
                page.resize(data.len(), 0);
                data.copy_from_slice(&page);
            }
            _ => assert!(data.is_empty()),
        }
        Ok(0)
    }

    fn log_from(
        &mut self,
        command: AdminCommand,
        offset: u64,
        data: &mut [u8],
    ) -> Result<u16, Errno> {
        self.error()?;
        self.admin.push(command);
        self.offsets.push(offset);
        // Bits 9:8: a context is established with the first read, used, and released.
        let (action, has_context) = (command.dword_10 >> 8 & 0b11, self.has_context);
        let is_in_order = (action == 0 && has_context) || (action == 1 && !has_context);
        if action == 2 {
            self.has_context = false;
            return Ok(0);
        }
        if !is_in_order {
            return Ok(0x400c);
        }
        self.has_context = true;
        let page = self.log_pages.get(&(command.dword_10 as u8)).cloned().unwrap_or_default();
        let rest = page.get(offset as usize..).unwrap_or_default();
        let bytes = rest.len().min(data.len());
        data[..bytes].copy_from_slice(&rest[..bytes]);
        Ok(self.statuses.get(&0xfe).copied().filter(|_| offset > 0).unwrap_or(0))
    }

    fn feature(
        &mut self,
        command: AdminCommand,
        dword_11: u32,
        data: &mut [u8],
    ) -> Result<(u16, u32), Errno> {
        self.error()?;
        self.features.push((command, dword_11));
        if let Some(status) = self.statuses.get(&command.opcode) {
            return Ok((*status, 0));
        }
        if command.dword_10 == 0x0c {
            assert_eq!(data.len(), 256, "the drive writes that many");
            return Ok((0, u32::from(self.sleeps_by_itself)));
        }
        assert!(data.is_empty());
        if command.opcode == 0x09 && !self.keeps_cache {
            self.has_cache_on = dword_11 & 1 == 1;
        }
        Ok((0, u32::from(self.has_cache_on)))
    }

    fn scsi(
        &mut self,
        command: [u8; 16],
        transfer: Transfer<'_>,
        timeout_ms: u32,
    ) -> Result<Reply, Errno> {
        self.error()?;
        let code = command[14];
        let out = if let Transfer::Out(data) = &transfer { data.to_vec() } else { Vec::new() };
        self.sent.push((command, out.clone(), timeout_ms));
        if command[0] == 0x4d {
            return Ok(self.log_page((command[2] & 0x3f, command[3]), transfer));
        }
        let [low, mid, high] = [command[8], command[10], command[12]].map(u64::from);
        let [fourth, fifth, sixth] = [command[7], command[9], command[11]].map(u64::from);
        let lba = low | mid << 8 | high << 16 | fourth << 24 | fifth << 32 | sixth << 40;
        if let Some(answer) = self.answers.get(&(code, command[4], lba)) {
            return Ok(answered(answer, transfer));
        }
        if self.timing_out == Some(code) {
            return Ok(Reply { host_status: 3, ..Reply::default() });
        }
        let has_obeyed = match transfer {
            Transfer::In(data) if code == 0xec && self.is_ata => self.identify_device(data),
            Transfer::In(_) => false,
            Transfer::Out(_) | Transfer::Nothing => self.obeys(code, &out),
        };
        if has_obeyed {
            return Ok(Reply::default());
        }
        Ok(aborted())
    }

    fn drop_pages(&mut self) -> Result<(), Errno> {
        self.dropped_after.push(self.admin.len() + self.sent.len());
        Ok(())
    }

    fn pause(&mut self) -> bool {
        self.pauses += 1;
        self.stopped_at_pause == Some(self.pauses)
    }
}
