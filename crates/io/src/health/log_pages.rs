//! A SCSI drive's log pages (LOG SENSE; SPC-5, 7.3, and SBC-4, 6.4): a head of four bytes, then
//! parameters of four bytes and their data. Numbers are big-endian.

use super::self_test;
use drivelab_core::facts::SelfTestFacts;
use std::collections::BTreeSet;

/// The pages that are read here.
pub const WRITE_ERRORS: u8 = 0x02;
/// Errors while reading.
pub const READ_ERRORS: u8 = 0x03;
/// Temperature.
pub const TEMPERATURE: u8 = 0x0d;
/// Results of self-tests.
pub const SELF_TESTS: u8 = 0x10;
/// Solid state media.
pub const SOLID_STATE: u8 = 0x11;
/// Background scan.
pub const BACKGROUND_SCAN: u8 = 0x15;
/// Informational exceptions.
pub const EXCEPTIONS: u8 = 0x2f;
/// All of them.
pub const PAGES: [u8; 7] =
    [WRITE_ERRORS, READ_ERRORS, TEMPERATURE, SELF_TESTS, SOLID_STATE, BACKGROUND_SCAN, EXCEPTIONS];

const HEAD_BYTES: usize = 4;
/// Additional sense codes: failure prediction; its qualifier for a prediction that is only a test.
const PREDICTION: u8 = 0x5d;
const FALSE_PREDICTION: u8 = 0xff;

/// What the pages tell; `None` where they do not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {
    /// Parameter 0006h of page 02h: writes that failed.
    pub write_errors: Option<u64>,
    /// Parameter 0006h of page 03h: reads that failed.
    pub read_errors: Option<u64>,
    /// Parameter 0005h of page 02h: bytes that were written.
    pub written_bytes: Option<u64>,
    /// Parameter 0005h of page 03h: bytes that were read.
    pub read_bytes: Option<u64>,
    /// Parameter 0000h of page 0Dh, in degrees Celsius.
    pub temperature_c: Option<i32>,
    /// Page 10h: tests of the drive by itself.
    pub self_test: Option<SelfTestFacts>,
    /// Parameter 0001h of page 11h: percentage used endurance indicator.
    pub used_percent: Option<u32>,
    /// Parameter 0000h of page 15h: minutes under power.
    pub power_on_minutes: Option<u64>,
    /// Parameter 0000h of page 2Fh: additional sense code and qualifier.
    pub exception: Option<(u8, u8)>,
}

/// The pages that page 00h lists, as far as they are read here.
pub fn listed(page: &[u8]) -> Vec<u8> {
    let Some(body) = body(page, 0) else { return Vec::new() };
    let all: BTreeSet<u8> = body.iter().copied().collect();
    PAGES.into_iter().filter(|page| all.contains(page)).collect()
}

impl Logs {
    /// Takes what one page tells; one that is another than was asked for tells nothing.
    pub fn take(&mut self, number: u8, page: &[u8]) {
        let Some(body) = body(page, number) else { return };
        if number == SELF_TESTS {
            self.self_test = self_test::of_scsi(parameters(body).map(|(_, data)| data));
        }
        for (code, data) in parameters(body) {
            self.take_parameter(number, code, data);
        }
    }

    fn take_parameter(&mut self, page: u8, code: u16, data: &[u8]) {
        let byte = |index: usize| data.get(index).copied();
        match (page, code) {
            (WRITE_ERRORS, 0x0006) => self.write_errors = big(data),
            (READ_ERRORS, 0x0006) => self.read_errors = big(data),
            (WRITE_ERRORS, 0x0005) => self.written_bytes = big(data),
            (READ_ERRORS, 0x0005) => self.read_bytes = big(data),
            (TEMPERATURE, 0x0000) => {
                // FFh: it cannot tell now.
                self.temperature_c = byte(1).filter(|it| *it != 0xff).map(i32::from);
            }
            (SOLID_STATE, 0x0001) => self.used_percent = byte(3).map(u32::from),
            (BACKGROUND_SCAN, 0x0000) => {
                self.power_on_minutes = data.get(..4).and_then(big);
            }
            (EXCEPTIONS, 0x0000) => self.exception = byte(0).zip(byte(1)),
            _ => {}
        }
    }

    /// Whether the drive predicts its failure.
    pub fn is_failing(&self) -> Option<bool> {
        match self.exception? {
            (0, _) | (PREDICTION, FALSE_PREDICTION) => Some(false),
            (PREDICTION, _) => Some(true),
            _ => None,
        }
    }

    /// What it reports that is no prediction of a failure.
    pub fn reports(&self) -> Option<(u8, u8)> {
        self.exception.filter(|_| self.is_failing().is_none())
    }
}

/// All subpages, among which page 00h lists those that a drive has.
pub const ALL_SUBPAGES: u8 = 0xff;
/// Bit 6 of the head: a page with a subpage, which is another one.
const HAS_SUBPAGE: u8 = 1 << 6;

/// Whether the list of pages and subpages (page 00h, subpage FFh) has this one.
pub fn lists_subpage(page: &[u8], wanted: (u8, u8)) -> bool {
    let pairs = body_of_subpage(page, (0, ALL_SUBPAGES)).unwrap_or_default().chunks_exact(2);
    pairs.into_iter().any(|pair| (pair[0] & 0x3f, pair[1]) == wanted)
}

/// What follows the head of a page, as far as it came.
fn body(page: &[u8], number: u8) -> Option<&[u8]> {
    let head = page.first()?;
    if head & 0x7f == number { behind_head(page) } else { None }
}

/// The same of a page with a subpage.
pub(super) fn body_of_subpage(page: &[u8], (number, subpage): (u8, u8)) -> Option<&[u8]> {
    let (head, second) = (page.first()?, page.get(1)?);
    let is_wanted = head & 0x7f == number | HAS_SUBPAGE && *second == subpage;
    if is_wanted { behind_head(page) } else { None }
}

fn behind_head(page: &[u8]) -> Option<&[u8]> {
    let (head, rest) = page.split_first_chunk::<HEAD_BYTES>()?;
    let bytes = usize::from(u16::from_be_bytes([head[2], head[3]]));
    Some(&rest[..bytes.min(rest.len())])
}

/// Codes and data of the parameters; one that is cut off at the end is left out.
pub(super) fn parameters(mut body: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = body.split_first_chunk::<HEAD_BYTES>()?;
        let (data, rest) = rest.split_at_checked(head[3].into())?;
        body = rest;
        Some((u16::from_be_bytes([head[0], head[1]]), data))
    })
}

/// A big-endian number of one to eight bytes.
fn big(data: &[u8]) -> Option<u64> {
    let is_number = (1..=8).contains(&data.len());
    is_number.then(|| data.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use drivelab_core::facts::SelfTestEnd;

    pub fn page(number: u8, parameters: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (code, data) in parameters {
            body.extend(code.to_be_bytes());
            body.extend([3, data.len() as u8]);
            body.extend(*data);
        }
        let mut page = vec![number, 0];
        page.extend((body.len() as u16).to_be_bytes());
        page.extend(body);
        page
    }

    pub fn list(pages: &[u8]) -> Vec<u8> {
        [&[0, 0, 0, pages.len() as u8], pages].concat()
    }

    fn of(number: u8, parameters: &[(u16, &[u8])]) -> Logs {
        let mut logs = Logs::default();
        logs.take(number, &page(number, parameters));
        logs
    }

    #[test]
    fn each_parameter_has_its_place() {
        let mut logs = of(WRITE_ERRORS, &[(5, &[1, 0, 0, 0, 0, 0]), (6, &[0, 2])]);
        logs.take(READ_ERRORS, &page(READ_ERRORS, &[(0, &[9]), (6, &[3]), (5, &[0, 4])]));
        logs.take(TEMPERATURE, &page(TEMPERATURE, &[(0, &[0, 38]), (1, &[0, 65])]));
        logs.take(SOLID_STATE, &page(SOLID_STATE, &[(1, &[0, 0, 0, 7])]));
        logs.take(BACKGROUND_SCAN, &page(BACKGROUND_SCAN, &[(0, &[0, 0, 1, 0, 9, 9, 9, 9])]));
        logs.take(EXCEPTIONS, &page(EXCEPTIONS, &[(0, &[0, 0, 38])]));
        logs.take(SELF_TESTS, &page(SELF_TESTS, &[(1, &[0x20, 1, 0, 9]), (2, &[0x27, 1, 0, 1])]));
        let last = SelfTestEnd {
            kind: Some("short".into()),
            how: "found nothing wrong".into(),
            failed: Some(false),
            power_on_hours: Some(9),
        };
        let expected = Logs {
            write_errors: Some(2),
            read_errors: Some(3),
            written_bytes: Some(1 << 40),
            read_bytes: Some(4),
            temperature_c: Some(38),
            self_test: Some(SelfTestFacts { last: Some(last), ..SelfTestFacts::default() }),
            used_percent: Some(7),
            power_on_minutes: Some(256),
            exception: Some((0, 0)),
        };
        assert_eq!(logs, expected);
        assert_eq!((logs.is_failing(), logs.reports()), (Some(false), None));
    }

    #[test]
    fn a_prediction_is_one_and_a_test_of_it_is_none() {
        let told = |code: &[u8]| {
            let logs = of(EXCEPTIONS, &[(0, code)]);
            (logs.is_failing(), logs.reports())
        };
        assert_eq!(told(&[0x5d, 0x10, 40]), (Some(true), None));
        assert_eq!(told(&[0x5d, 0xff, 40]), (Some(false), None));
        assert_eq!(told(&[0x0b, 0x01, 40]), (None, Some((0x0b, 0x01))));
        assert_eq!(told(&[]), (None, None));
        let tested = |data: &[u8]| of(SELF_TESTS, &[(1, data)]).self_test.unwrap().last;
        assert_eq!(tested(&[0x25, 1, 0, 0]).unwrap().failed, Some(true));
        assert_eq!(tested(&[0; 16]), None, "none was ever done");
    }

    #[test]
    fn what_is_cut_or_of_another_page_is_left_out() {
        let whole = page(TEMPERATURE, &[(0, &[0, 38])]);
        for length in 0..whole.len() {
            let mut logs = Logs::default();
            logs.take(TEMPERATURE, &whole[..length]);
            assert_eq!(logs, Logs::default(), "{length}");
        }
        let mut logs = Logs::default();
        logs.take(SOLID_STATE, &whole);
        let with_subpage = [&[TEMPERATURE | 0x40], &whole[1..]].concat();
        logs.take(TEMPERATURE, &with_subpage);
        assert_eq!(logs, Logs::default());
        assert_eq!(of(TEMPERATURE, &[(0, &[0, 0xff])]), Logs::default());
        assert_eq!(listed(&list(&[0, 2, 0x0d, 0x3f])), [2, 0x0d]);
        assert_eq!(listed(&[0, 0, 0xff, 0xff, 3]), [3]);
        assert_eq!(listed(&[]), [0; 0]);
    }
}
