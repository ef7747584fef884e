//! A refusal: what happened, to what, and what to do next.

use std::fmt;
use std::io;

/// Which exit status a refusal leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Data that is not ours is in danger: exit status 3.
    Safety,
    /// The request cannot be served as it stands: exit status 2.
    Usage,
    /// Something failed that should have worked (I/O error): exit status 4.
    Failed,
}

/// Why a target was not opened. Its `Display` is the whole text after `drivelab: `, advice
/// indented below the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Safety, usage or failure.
    pub kind: Kind,
    /// A word for machines. Safety: `mounted`, `swap`, `holder`, `backs_loop`, `backing_in_use`,
    /// `exported`, `held`, `written_elsewhere`, `unknown_device`, `unknown_backing`,
    /// `token_missing`, `token_wrong`, `changed`, `changed_since`, `foreign_file`, `foreign_names`,
    /// `locked`. Usage: `missing`, `dangling`, `not_permitted`, `read_only`, `wrong_kind`,
    /// `too_small`, `no_space`, `no_size`, `no_ledger`. Otherwise `failed`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What to do, one line each.
    pub advice: Vec<String>,
    /// The token that would be accepted, where one would be.
    pub token: Option<String>,
}

impl Refusal {
    pub(crate) fn safety(code: &'static str, message: String) -> Refusal {
        Refusal { kind: Kind::Safety, code, message, advice: Vec::new(), token: None }
    }

    pub(crate) fn usage(code: &'static str, message: String) -> Refusal {
        Refusal { kind: Kind::Usage, ..Refusal::safety(code, message) }
    }

    pub(crate) fn advise(mut self, line: impl Into<String>) -> Refusal {
        self.advice.push(line.into());
        self
    }

    /// The exit status of the contract: 3, 2 or 4.
    pub fn exit_status(&self) -> u8 {
        match self.kind {
            Kind::Safety => 3,
            Kind::Usage => 2,
            Kind::Failed => 4,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == Kind::Safety {
            formatter.write_str("refused: ")?;
        }
        formatter.write_str(&self.message)?;
        self.advice.iter().try_for_each(|line| write!(formatter, "\n  {line}"))
    }
}

impl std::error::Error for Refusal {}

/// Something failed that is neither danger nor a wrong request.
pub(crate) fn failed(what: String, error: &io::Error) -> Refusal {
    Refusal { kind: Kind::Failed, ..Refusal::safety("failed", format!("{what}: {error}.")) }
        .advise("See also the kernel log: dmesg | tail")
}

/// A capacity as it is printed on drives: `4.0 TB`, `268 MB`.
pub(crate) fn capacity(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    match value {
        _ if unit == 0 => format!("{bytes} B"),
        small if small < 9.95 => format!("{small:.1} {}", units[unit]),
        large => format!("{large:.0} {}", units[unit]),
    }
}
