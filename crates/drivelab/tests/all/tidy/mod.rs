//! The rules of the house that a compiler does not hold. Each is a function over text, and each
//! is itself tested with a planted violation.

mod circles;
mod language;
mod layers;
mod length;
mod manifest;
mod opening;
mod report;
mod source;
mod words;

use source::{Tree, Violation};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("workspace")
}

fn tree() -> Tree {
    Tree::read(&root())
}

#[track_caller]
fn assert_none(violations: Vec<Violation>) {
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    assert!(lines.is_empty(), "{} violations:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn crates_depend_in_one_direction() {
    assert_none(manifest::direction(&tree()));
}

#[test]
fn modules_of_a_crate_form_no_circle() {
    assert_none(circles::circles(&tree()));
}

#[test]
fn dependencies_are_argued_for() {
    assert_none(manifest::reasons(&tree()));
}

#[test]
fn unsafe_is_in_io_only_and_argued_for() {
    assert_none(layers::unsafe_code(&tree()));
}

#[test]
fn clocks_are_read_in_io_and_drivelab_only() {
    assert_none(layers::clocks(&tree()));
}

#[test]
fn pure_crates_touch_no_file_and_no_environment() {
    assert_none(layers::surroundings(&tree()));
}

#[test]
fn studies_judge_sound_numbers_only() {
    assert_none(layers::sound_only(&tree()));
}

#[test]
fn printing_is_the_binarys_business() {
    assert_none(layers::printing(&tree()));
}

#[test]
fn renderers_of_reports_ask_the_view_and_not_each_other() {
    assert_none(report::modules(&tree()));
}

#[test]
fn one_module_opens_a_target_for_writing() {
    assert_none(opening::elsewhere(&tree()));
    assert_none(opening::known_functions(&tree()));
}

#[test]
fn lengths_only_shrink() {
    let list = root().join("crates/drivelab/tests/tidy_ratchet.txt");
    let list = std::fs::read_to_string(list).expect("the list of exceptions");
    assert_none(length::ratchet(&tree(), &list));
}

#[test]
fn nothing_gives_up_outside_tests() {
    assert_none(words::giving_up(&tree()));
}

#[test]
fn names_say_what_things_are() {
    assert_none(words::names(&tree()));
}

#[test]
fn users_read_the_words_of_the_field() {
    assert_none(language::wording(&tree()));
}

#[test]
fn nothing_is_left_for_later() {
    assert_none(words::later(&tree()));
}

#[test]
fn nothing_points_outside_the_tree() {
    assert_none(words::outside(&tree()));
}

#[test]
fn every_file_is_part_of_a_crate() {
    assert_none(source::dead_files(&tree()));
}

#[test]
fn tests_are_linked_once_a_crate() {
    assert_none(source::lone_tests(&tree()));
}

#[test]
fn unavailable_tests_exist_and_have_reasons() {
    assert_none(words::unavailable(&tree()));
}
