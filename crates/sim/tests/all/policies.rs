//! Every policy that decides by age, gain or a few draws, over block sizes, spares and spans of
//! addresses, against closed forms and an independent counter.

mod beside;
mod counter;
pub mod layout;

use beside::{POLICIES, counted};
use counter::Choice;
use drivelab_sim::flash::{Layout, Policy};
use drivelab_sim::theory;

const PAGES: [u32; 3] = [16, 64, 512];
const PAGES_COUNTED: [u32; 3] = [16, 64, 128];
const SPARES: [f64; 3] = [0.05, 0.20, 0.45];
const SPANS: [f64; 2] = [0.1, 1.0];

fn layout(policy: Policy, choices: u32, block_units: u32, blocks: u32, spare: f64) -> Layout {
    layout::with_spare(layout::bare(policy, choices, block_units, blocks), spare)
}

fn simulated(layout: &Layout, span: f64, writes: u64) -> f64 {
    beside::simulated(layout, span, writes).unwrap()
}

/// With one frontier, copies fall among what the host writes; so they do in the counter.
#[test]
fn a_shared_frontier_agrees_with_the_counter() {
    let layout = Layout { collection_frontiers: 0, ..layout(Policy::DChoices, 10, 64, 256, 0.28) };
    let writes = 48 * u64::from(layout.logical_units);
    let found = simulated(&layout, 0.1, writes);
    let expected = counted(&layout, Choice::EmptiestOf(10), 0.1, writes);
    assert_near(found, expected, 0.02, "d 10, one frontier");
}

/// Victims that are emptied little by little, as drives do, and blocks of 512 pages.
#[test]
fn paced_policies_agree_with_the_counter() {
    let mut beyond = Vec::new();
    for pages in [16, 128, 512] {
        for (spare, span) in [(0.05, 0.1), (0.05, 1.0), (0.45, 0.1), (0.45, 1.0)] {
            for (_, policy, choices, choice) in POLICIES {
                let layout = layout(policy, choices, pages, 512, spare);
                let writes = writes(&layout);
                let found = simulated(&layout, span, writes);
                let expected = counted(&layout, choice, span, writes);
                let error = 100.0 * (found / expected - 1.0);
                let what = format!(
                    "{policy:?}, {pages} pages, spare {spare}, span {span}, paced: {found:.4}, \
                     counted {expected:.4} ({error:+.2} %)"
                );
                println!("{what}");
                if error.abs() > 1.0 {
                    beyond.push(what);
                }
            }
        }
    }
    assert!(beyond.is_empty(), "{} of 48 beyond 1 %: {beyond:#?}", beyond.len());
}

fn writes(layout: &Layout) -> u64 {
    (12 * u64::from(layout.logical_units)).max(800_000)
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = found / expected - 1.0;
    println!("{what}: {found:.4}, expected {expected:.4} ({:+.2} %)", 100.0 * error);
    assert!(error.abs() <= tolerance, "{what}: {found:.4} is not {expected:.4}");
}

/// Uniform writes: the closed forms hold for any block that holds some pages.
#[test]
fn uniform_writes_follow_the_formulas_from_16_to_512_pages() {
    for (pages, spare) in PAGES.into_iter().flat_map(|pages| SPARES.map(|spare| (pages, spare))) {
        // Half a block more or less must not count next to the spare.
        let blocks = if spare < 0.1 { 4096 } else { 1024 };
        if pages <= 64 || spare > 0.1 {
            for (_, policy, choices, _) in POLICIES {
                let expected = match policy {
                    Policy::Fifo => theory::fifo(spare),
                    Policy::Greedy => theory::greedy(spare, pages),
                    Policy::DChoices => theory::d_choices(spare, pages, choices),
                    _ => continue,
                };
                let layout = layout(policy, choices, pages, blocks, spare);
                let what = format!("{policy:?}, {pages} pages, spare {spare}");
                assert_near(simulated(&layout, 1.0, writes(&layout)), expected, 0.01, &what);
            }
        }
    }
}

/// The oldest is taken, full or not: where a part of the addresses is written, all the rest goes
/// round with it.
#[test]
fn first_in_first_out_copies_what_is_never_written() {
    for pages in PAGES {
        for span in [0.1, 0.3, 0.5] {
            for spare in [0.2, 0.45] {
                let layout = layout(Policy::Fifo, 1, pages, 1024, spare);
                let expected = theory::fifo_two_temperatures(spare, span, 1.0);
                let what = format!("{pages} pages, spare {spare}, span {span}");
                let found = simulated(&layout, span, 4 * writes(&layout));
                assert_near(found, expected, 0.01, &what);
            }
        }
    }
}

#[test]
fn every_policy_agrees_with_the_counter() {
    let mut beyond = Vec::new();
    for pages in PAGES_COUNTED {
        for spare in SPARES {
            for span in SPANS {
                for (_, policy, choices, choice) in POLICIES {
                    let paced = layout(policy, choices, pages, 512, spare);
                    let layout = Layout { paces: false, ..paced };
                    let writes = writes(&layout);
                    let found = simulated(&layout, span, writes);
                    let expected = counted(&layout, choice, span, writes);
                    let error = 100.0 * (found / expected - 1.0);
                    let what = format!(
                        "{policy:?}, {pages} pages, spare {spare}, span {span}: {found:.4}, \
                         counted {expected:.4} ({error:+.2} %)"
                    );
                    println!("{what}");
                    if error.abs() > 1.0 {
                        beyond.push(what);
                    }
                }
            }
        }
    }
    assert!(beyond.is_empty(), "{} of 72 beyond 1 %: {beyond:#?}", beyond.len());
}
