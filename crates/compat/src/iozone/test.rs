//! The tests of IOzone: their numbers, their names, and how wide their columns are.

/// One test of the table, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Test {
    /// 0: sequential write into a new file.
    Write,
    /// 0: once more over it.
    Rewrite,
    /// 1: sequential read.
    Read,
    /// 1: once more.
    Reread,
    /// 2: each record once, in an order that is always the same.
    RandomRead,
    /// 2: written in that order.
    RandomWrite,
    /// 3: from the last record down.
    BackwardRead,
    /// 4: one record, again and again.
    RecordRewrite,
    /// 5: every 17th record, and again one further on.
    StrideRead,
    /// 6: `fwrite`.
    Fwrite,
    /// 6: once more.
    Refwrite,
    /// 7: `fread`.
    Fread,
    /// 7: once more.
    Refread,
    /// 9: `pwrite`.
    Pwrite,
    /// 9: once more.
    Repwrite,
    /// 10: `pread`.
    Pread,
    /// 10: once more.
    Repread,
}

impl Test {
    /// All, in the order in which they run.
    pub const ALL: [Test; 17] = [
        Test::Write,
        Test::Rewrite,
        Test::Read,
        Test::Reread,
        Test::RandomRead,
        Test::RandomWrite,
        Test::BackwardRead,
        Test::RecordRewrite,
        Test::StrideRead,
        Test::Fwrite,
        Test::Refwrite,
        Test::Fread,
        Test::Refread,
        Test::Pwrite,
        Test::Repwrite,
        Test::Pread,
        Test::Repread,
    ];

    /// The number by which `-i` selects it.
    pub fn number(self) -> u32 {
        match self {
            Test::Write | Test::Rewrite => 0,
            Test::Read | Test::Reread => 1,
            Test::RandomRead | Test::RandomWrite => 2,
            Test::BackwardRead => 3,
            Test::RecordRewrite => 4,
            Test::StrideRead => 5,
            Test::Fwrite | Test::Refwrite => 6,
            Test::Fread | Test::Refread => 7,
            Test::Pwrite | Test::Repwrite => 9,
            Test::Pread | Test::Repread => 10,
        }
    }

    /// Whether `-+n` leaves it out.
    pub fn is_retest(self) -> bool {
        use Test::{Refread, Refwrite, Repread, Repwrite, Reread, Rewrite};
        matches!(self, Rewrite | Reread | Refwrite | Refread | Repwrite | Repread)
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        use Test::{
            Fwrite, Pwrite, RandomWrite, RecordRewrite, Refwrite, Repwrite, Rewrite, Write,
        };
        matches!(
            self,
            Write | Rewrite | RandomWrite | RecordRewrite | Fwrite | Refwrite | Pwrite | Repwrite
        )
    }

    /// Whether it goes through stdio.
    pub fn is_stdio(self) -> bool {
        matches!(self, Test::Fwrite | Test::Refwrite | Test::Fread | Test::Refread)
    }

    /// Columns its value takes in the table, the space before it included.
    pub fn width(self) -> usize {
        match self {
            Test::RecordRewrite | Test::StrideRead => 10,
            Test::Pread => 8,
            _ => 9,
        }
    }

    /// What a step that does it is called.
    pub fn word(self) -> &'static str {
        match self {
            Test::Write => "write",
            Test::Rewrite => "rewrite",
            Test::Read => "read",
            Test::Reread => "reread",
            Test::RandomRead => "random read",
            Test::RandomWrite => "random write",
            Test::BackwardRead => "backward read",
            Test::RecordRewrite => "record rewrite",
            Test::StrideRead => "stride read",
            Test::Fwrite => "fwrite",
            Test::Refwrite => "refwrite",
            Test::Fread => "fread",
            Test::Refread => "refread",
            Test::Pwrite => "pwrite",
            Test::Repwrite => "repwrite",
            Test::Pread => "pread",
            Test::Repread => "repread",
        }
    }

    /// Its title in the report on the console.
    pub fn report(self) -> &'static str {
        match self {
            Test::Write => "Writer report",
            Test::Rewrite => "Re-writer report",
            Test::Read => "Reader report",
            Test::Reread => "Re-Reader report",
            Test::RandomRead => "Random read report",
            Test::RandomWrite => "Random write report",
            Test::BackwardRead => "Backward read report",
            Test::RecordRewrite => "Record rewrite report",
            Test::StrideRead => "Stride read report",
            Test::Fwrite => "Fwrite report",
            Test::Refwrite => "Re-Fwrite report",
            Test::Fread => "Fread report",
            Test::Refread => "Re-Fread report",
            Test::Pwrite => "Pwrite report",
            Test::Repwrite => "Re-Pwrite report",
            Test::Pread => "Pread report",
            Test::Repread => "Re-Pread report",
        }
    }

    /// Its title in the worksheet, which is spelt otherwise.
    pub fn sheet(self) -> &'static str {
        match self {
            Test::Write => "Writer Report",
            Test::Rewrite => "Re-writer Report",
            Test::Read => "Reader Report",
            Test::Reread => "Re-reader Report",
            Test::RandomRead => "Random Read Report",
            Test::RandomWrite => "Random Write Report",
            Test::BackwardRead => "Backward Read Report",
            Test::RecordRewrite => "Record Rewrite Report",
            Test::StrideRead => "Stride Read Report",
            Test::Fwrite => "Fwrite Report",
            Test::Refwrite => "Re-fwrite Report",
            Test::Fread => "Fread Report",
            Test::Refread => "Re-fread Report",
            Test::Pwrite => "Pwrite Report",
            Test::Repwrite => "Re-pwrite Report",
            Test::Pread => "Pread Report",
            Test::Repread => "Re-pread Report",
        }
    }
}

/// One load of the throughput mode, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// 0.
    InitialWrite,
    /// 0, once more.
    Rewrite,
    /// 1.
    Read,
    /// 1, once more.
    Reread,
    /// 3.
    ReverseRead,
    /// 5.
    StrideRead,
    /// 2.
    RandomRead,
    /// 8: some processes read, the others write.
    Mixed,
    /// 2.
    RandomWrite,
    /// 9.
    Pwrite,
    /// 10.
    Pread,
    /// 6.
    Fwrite,
    /// 7.
    Fread,
}

impl Load {
    /// All, in the order in which they run.
    pub const ALL: [Load; 13] = [
        Load::InitialWrite,
        Load::Rewrite,
        Load::Read,
        Load::Reread,
        Load::ReverseRead,
        Load::StrideRead,
        Load::RandomRead,
        Load::Mixed,
        Load::RandomWrite,
        Load::Pwrite,
        Load::Pread,
        Load::Fwrite,
        Load::Fread,
    ];

    /// The number by which `-i` selects it.
    pub fn number(self) -> u32 {
        match self {
            Load::Mixed => 8,
            load => load.test().number(),
        }
    }

    /// The test whose addresses and calls it has; those of the mix are its readers'.
    pub fn test(self) -> Test {
        match self {
            Load::InitialWrite => Test::Write,
            Load::Rewrite => Test::Rewrite,
            Load::Read => Test::Read,
            Load::Reread => Test::Reread,
            Load::ReverseRead => Test::BackwardRead,
            Load::StrideRead => Test::StrideRead,
            Load::RandomRead | Load::Mixed => Test::RandomRead,
            Load::RandomWrite => Test::RandomWrite,
            Load::Pwrite => Test::Pwrite,
            Load::Pread => Test::Pread,
            Load::Fwrite => Test::Fwrite,
            Load::Fread => Test::Fread,
        }
    }

    /// Who does it, as the block of its figures says, and how many columns their number takes.
    pub fn who(self) -> (usize, &'static str) {
        match self {
            Load::InitialWrite => (2, "initial writers"),
            Load::Rewrite => (2, "rewriters"),
            Load::Read => (2, "readers"),
            Load::Reread => (1, "re-readers"),
            Load::ReverseRead => (1, "reverse readers"),
            Load::StrideRead => (1, "stride readers"),
            Load::RandomRead => (1, "random readers"),
            Load::Mixed => (1, "mixed workload"),
            Load::RandomWrite => (1, "random writers"),
            Load::Pwrite => (1, "pwrite writers"),
            Load::Pread => (1, "pread readers"),
            Load::Fwrite => (2, "fwriters"),
            Load::Fread => (2, "freaders"),
        }
    }

    /// Tabs before the figures of the children and of the parent.
    pub fn tabs(self) -> (&'static str, &'static str) {
        match self {
            Load::Read => ("\t\t", "\t\t"),
            Load::Fwrite | Load::Fread => ("\t", "\t\t"),
            _ => ("\t", "\t"),
        }
    }

    /// Its line in the report.
    pub fn label(self) -> &'static str {
        match self {
            Load::InitialWrite => "  Initial write ",
            Load::Rewrite => "        Rewrite ",
            Load::Read => "           Read ",
            Load::Reread => "        Re-read ",
            Load::ReverseRead => "   Reverse Read ",
            Load::StrideRead => "    Stride read ",
            Load::RandomRead => "    Random read ",
            Load::Mixed => " Mixed workload ",
            Load::RandomWrite => "   Random write ",
            Load::Pwrite => "         Pwrite ",
            Load::Pread => "          Pread ",
            Load::Fwrite => "         Fwrite ",
            Load::Fread => "          Fread ",
        }
    }
}
