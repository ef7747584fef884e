//! Prints the options of a tool as the documentation lists them: `cargo run --example options fio`;
//! without a name, the names of those that have such a list.

use drivelab_compat::{TOOLS, tool_named};

fn main() {
    let Some(word) = std::env::args().nth(1) else {
        return TOOLS.iter().filter(|tool| tool.table.is_some()).for_each(|tool| {
            println!("{}", tool.word());
        });
    };
    match tool_named(&word).and_then(|tool| tool.table) {
        Some(table) => print!("{}", table()),
        None => eprintln!("no table of `{word}`"),
    }
}
