//! Prints the table of studies as README.md has it.

fn main() {
    print!("{}", drivelab_study::registry::table());
}
