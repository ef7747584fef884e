//! The results of 4.x as values separated by commas.

use super::timing::Result;
use super::{Access, Options};

/// The first line.
pub const HEADING: &str = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),\
                           close(s),total(s),numTasks,iter\n";

/// All lines.
pub fn text(results: &[Result], options: &Options) -> String {
    let lines = results.iter().filter_map(|result| line(result, options));
    std::iter::once(HEADING.to_owned()).chain(lines).collect()
}

fn line(result: &Result, options: &Options) -> Option<String> {
    let test = options.tests.get(result.test)?;
    let name = match result.access {
        Access::Write => "write",
        Access::Read => "read",
        _ => return None,
    };
    let figures = [
        result.bandwidth(),
        result.iops(test),
        result.latency_s(test),
        test.block_bytes as f64 / 1024.0,
        test.settings.transfer_bytes as f64 / 1024.0,
        result.open_s,
        result.transfer_s,
        result.close_s,
        result.total_s,
    ];
    let figures: String = figures.iter().map(|figure| format!("{figure:.4},")).collect();
    Some(format!("{name},{figures}{},{}\n", test.tasks, result.repetition))
}
