//! What was handed to a drive past the block layer, whose counters stand still.

use super::*;
use crate::plan::Engine;

/// Two seconds of commands that the kernel did not count.
fn commands(mix: Mix) -> Evidence {
    let mut evidence = Evidence::of(mix);
    evidence.stream.engine = Engine::IoUringCmd;
    let found = &mut evidence.end.devices[0];
    let (name, number) = (found.name.clone(), found.number.clone());
    *found = DeviceCounters { name, number, ..DeviceCounters::default() };
    evidence
}

#[test]
fn counters_that_leave_commands_out_speak_neither_for_nor_against_a_number() {
    for mix in [Mix::READ, Mix::WRITE] {
        let step = summarise(&commands(mix).run()).steps.remove(0);
        let notes: Vec<&str> = step.notes.iter().map(|note| note.code.as_str()).collect();
        assert_eq!((step.valid, step.reasons, notes), (None, vec![], vec!["past_block_layer"]));
        let told = step.unchecked.iter().filter(|reason| reason.code == "device_bytes");
        let told: Vec<&str> = told.map(|reason| reason.text.as_str()).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("leave out commands that io_uring_cmd hands"), "{told:?}");
    }
}

#[test]
fn what_else_is_seen_of_commands_still_counts() {
    let unwritten = |e: &mut Evidence| {
        e.observed().blocks = Some(BlockSample { seen: 64, zeros: 64, ..BlockSample::default() });
    };
    assert_eq!(reasons(commands(Mix::READ), unwritten), ["unwritten_blocks"]);
    assert_eq!(reasons(commands(Mix::READ), |e| e.mismatched = 1), ["mismatches"]);
    // The depth that was reached is our own count; that of the device is not.
    let shallow = |e: &mut Evidence| e.service_ns /= 2;
    assert_eq!(reasons(commands(Mix::READ), shallow), ["depth_not_reached"]);
}
