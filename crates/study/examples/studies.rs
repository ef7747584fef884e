//! Prints the table of studies as docs/GUIDE.md has it.

fn main() {
    print!("{}", drivelab_study::registry::table());
}
