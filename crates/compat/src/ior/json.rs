//! The results of 4.x as JSON, with the keys that it has.

use super::new_output::{first_path, machine, options_of};
use super::timing::{self, Overall, Result};
use super::{Access, Options, Packet, Test};
use crate::calendar::{as_ctime, began as beginning, now};
use crate::front::Host;
use crate::parallel::volume;
use drivelab_core::run::Run;
use jiff::Timestamp;

const MEBIBYTE: f64 = timing::MEBIBYTE;

/// A value as it is written, and an object as its keys in order.
enum Value {
    Text(String),
    Whole(i128),
    /// Four decimals.
    Figure(f64),
    List(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
}

impl Value {
    fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }

    fn flag(is_set: bool) -> Value {
        Value::Whole(is_set.into())
    }

    fn write(&self, indent: usize, out: &mut String) {
        match self {
            Value::Text(text) => out.push_str(&quoted(text)),
            Value::Whole(number) => out.push_str(&number.to_string()),
            Value::Figure(number) => out.push_str(&format!("{number:.4}")),
            Value::List(values) => {
                let parts: Vec<(String, &Value)> =
                    values.iter().map(|value| (String::new(), value)).collect();
                enclosed(('[', ']'), &parts, indent, out);
            }
            Value::Object(pairs) => {
                let parts: Vec<(String, &Value)> =
                    pairs.iter().map(|(key, value)| (quoted(key) + ": ", value)).collect();
                enclosed(('{', '}'), &parts, indent, out);
            }
        }
    }
}

fn enclosed(brackets: (char, char), parts: &[(String, &Value)], indent: usize, out: &mut String) {
    out.push(brackets.0);
    for (at, (key, value)) in parts.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(indent + 2));
        out.push_str(key);
        value.write(indent + 2, out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(brackets.1);
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The whole object.
pub fn text(options: &Options, run: &Run, host: &Host, results: &[Result]) -> String {
    let began = beginning(&run.begin, host);
    let tests = options.tests.iter().enumerate();
    let tests = tests.map(|of| test(options, run, host, results, of, began)).collect();
    let mut summary = Vec::new();
    for (index, test) in options.tests.iter().enumerate() {
        for (name, access) in [("write", Access::Write), ("read", Access::Read)] {
            if let Some(overall) = timing::overall(results, options, index, access) {
                summary.push(summed(name, index, test, &overall));
            }
        }
    }
    let whole = Value::Object(vec![
        ("Version", Value::text("4.0.0")),
        ("Began", Value::text(as_ctime(began))),
        ("Command line", Value::text(options.line.clone())),
        ("Machine", Value::text(machine(host, 0))),
        ("tests", Value::List(tests)),
        ("summary", Value::List(summary)),
        ("Finished", Value::text(as_ctime(now(host)))),
    ]);
    let mut out = String::new();
    whole.write(0, &mut out);
    out.push('\n');
    out
}

fn test(
    options: &Options,
    run: &Run,
    host: &Host,
    results: &[Result],
    (index, test): (usize, &Test),
    began: Timestamp,
) -> Value {
    let ((size, used), (inodes, used_inodes)) = match test.settings.is_dummy() {
        true => volume::nothing(),
        false => {
            let target = &run.begin.facts.target;
            (volume::figures(target), volume::inodes(target))
        }
    };
    let whole = ["segments", "nodes", "tasks", "clients per node", "repetitions", "verbose"];
    let shown = options_of(test).into_iter().map(|(name, value)| {
        let number = value.parse().ok().filter(|_| whole.contains(&name));
        (name, number.map_or(Value::Text(value), Value::Whole))
    });
    let of_test = results.iter().filter(|result| result.test == index);
    let rows = of_test.filter_map(|result| row(result, test));
    Value::Object(vec![
        ("TestID", Value::Whole(index as i128)),
        ("StartTime", Value::text(as_ctime(began))),
        ("Path", Value::text(first_path(options, test))),
        ("Capacity", Value::Text(size)),
        ("Used Capacity", Value::Text(used)),
        ("Inodes", Value::Text(inodes)),
        ("Used Inodes", Value::Text(used_inodes)),
        ("Parameters", parameters(index, test, host)),
        ("Options", Value::Object(shown.collect())),
        ("Results", Value::List(rows.collect())),
    ])
}

fn parameters(index: usize, test: &Test, host: &Host) -> Value {
    let settings = &test.settings;
    let flag = Value::flag;
    let random = u8::from(settings.random) + u8::from(settings.draws_blocks);
    // The letters are those that it prints next to its numbers, whatever was typed.
    let (number, letter) = match settings.packet {
        Packet::Plain => (0, "g"),
        Packet::Offset => (1, "t"),
        Packet::Random => (3, "i"),
    };
    Value::Object(vec![
        ("testID", Value::Whole(index as i128)),
        ("refnum", Value::Whole(settings.reference.into())),
        ("api", Value::text(settings.interface_name.clone())),
        ("platform", Value::Text(format!("{}(Linux)", host.name))),
        ("testFileName", Value::text(settings.test_file.clone())),
        ("deadlineForStonewall", Value::Whole(settings.deadline_s.into())),
        ("stoneWallingWearOut", Value::Whole(0)),
        ("maxTimeDuration", Value::Whole(0)),
        ("outlierThreshold", Value::Whole(0)),
        ("options", Value::text("(null)")),
        ("dryRun", Value::Whole(0)),
        ("nodes", Value::Whole(1)),
        ("memoryPerTask", Value::Whole(0)),
        ("memoryPerNode", Value::Whole(0)),
        ("tasksPerNode", Value::Whole(test.tasks_per_node.into())),
        ("repetitions", Value::Whole(test.repetitions.into())),
        ("multiFile", flag(settings.multi_file)),
        ("interTestDelay", Value::Whole(settings.delay_s.into())),
        ("fsync", flag(settings.fsync)),
        ("fsyncperwrite", flag(settings.fsync_per_write)),
        ("useExistingTestFile", flag(settings.existing)),
        ("uniqueDir", flag(settings.unique_directory)),
        ("singleXferAttempt", Value::Whole(0)),
        ("readFile", flag(test.reads)),
        ("writeFile", flag(test.writes)),
        ("filePerProc", flag(settings.file_per_process)),
        ("reorderTasks", flag(settings.reorder_constant)),
        ("reorderTasksRandom", flag(settings.reorder_random)),
        ("reorderTasksRandomSeed", Value::Whole(settings.reorder_seed.into())),
        ("randomOffset", Value::Whole(random.into())),
        ("checkWrite", flag(settings.check_write)),
        ("checkRead", flag(settings.check_read)),
        ("dataPacketType", Value::Whole(number)),
        ("keepFile", flag(settings.keep)),
        ("keepFileWithError", flag(settings.keep_with_error)),
        ("warningAsErrors", Value::Whole(0)),
        ("verbose", Value::Whole(settings.verbose.into())),
        ("data packet type", Value::text(letter)),
        ("setTimeStampSignature/incompressibleSeed", Value::Whole(settings.signature.into())),
        ("collective", Value::Whole(0)),
        ("segmentCount", Value::Whole(test.segments.into())),
        ("transferSize", Value::Whole(settings.transfer_bytes.into())),
        ("blockSize", Value::Whole(test.block_bytes.into())),
    ])
}

fn row(result: &Result, test: &Test) -> Option<Value> {
    let access = match result.access {
        Access::Write => "write",
        Access::Read => "read",
        _ => return None,
    };
    let transfer = test.settings.transfer_bytes as f64 / 1024.0;
    Some(Value::Object(vec![
        ("access", Value::text(access)),
        ("bwMiB", Value::Figure(result.bandwidth())),
        ("blockKiB", Value::Figure(test.block_bytes as f64 / 1024.0)),
        ("xferKiB", Value::Figure(transfer)),
        ("iops", Value::Figure(result.iops(test))),
        ("latency", Value::Figure(result.latency_s(test))),
        ("openTime", Value::Figure(result.open_s)),
        ("wrRdTime", Value::Figure(result.transfer_s)),
        ("closeTime", Value::Figure(result.close_s)),
        ("totalTime", Value::Figure(result.total_s)),
    ]))
}

fn summed(name: &str, index: usize, test: &Test, overall: &Overall) -> Value {
    let settings = &test.settings;
    let (bandwidth, operations) = (&overall.bandwidth, &overall.operations);
    Value::Object(vec![
        ("operation", Value::text(name)),
        ("API", Value::text(settings.interface_name.clone())),
        ("TestID", Value::Whole(index as i128)),
        ("ReferenceNumber", Value::Whole(settings.reference.into())),
        ("segmentCount", Value::Whole(test.segments.into())),
        ("blockSize", Value::Whole(test.block_bytes.into())),
        ("transferSize", Value::Whole(settings.transfer_bytes.into())),
        ("numTasks", Value::Whole(test.tasks.into())),
        ("tasksPerNode", Value::Whole(test.tasks_per_node.into())),
        ("repetitions", Value::Whole(test.repetitions.into())),
        ("filePerProc", Value::flag(settings.file_per_process)),
        ("reorderTasks", Value::flag(settings.reorder_constant)),
        ("taskPerNodeOffset", Value::Whole(settings.task_offset.into())),
        ("reorderTasksRandom", Value::flag(settings.reorder_random)),
        ("reorderTasksRandomSeed", Value::Whole(settings.reorder_seed.into())),
        ("bwMaxMIB", Value::Figure(bandwidth.max)),
        ("bwMinMIB", Value::Figure(bandwidth.min)),
        ("bwMeanMIB", Value::Figure(bandwidth.mean)),
        ("bwStdMIB", Value::Figure(bandwidth.population_deviation())),
        ("OPsMax", Value::Figure(operations.max)),
        ("OPsMin", Value::Figure(operations.min)),
        ("OPsMean", Value::Figure(operations.mean)),
        ("OPsSD", Value::Figure(operations.population_deviation())),
        ("MeanTime", Value::Figure(overall.mean_s)),
        ("xsizeMiB", Value::Figure(overall.bytes as f64 / MEBIBYTE)),
    ])
}
