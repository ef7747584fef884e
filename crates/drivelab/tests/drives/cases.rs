//! What is tried on the drives of the emulated machine.

mod commands;
mod events;
mod facts;
mod health;
mod layers;
mod limits;
mod measured;
mod power_cuts;
mod purges;
mod refusals;
mod removal;
mod scripted;
mod settings;
pub mod soak;
mod zones;

/// What is tried, by name. It panics where it does not hold.
pub type Case = fn();

/// Cases that are tried one after the other.
type Lane = &'static [(&'static str, Case)];

/// Lanes that run side by side: none of their cases moves what another one looks at.
type Stage = &'static [Lane];

/// The cases of each boot, in the order of their stages: what takes drives away comes last. Each
/// case is in one.
pub const SETS: [(&str, &[Stage]); 4] = [
    (
        // What a person in a hurry runs: one of each subject in which an error destroys or lies.
        "short_boot",
        &[
            &[
                &[
                    ("the list tells drives apart", facts::listed),
                    ("facts equal those of the drives' own tools", facts::equal),
                ],
                &[
                    ("a scripted drive is sanitized", purges::sanitize),
                    ("a scripted ATA drive is erased by its security set", scripted::secure_erase),
                ],
            ],
            &[
                &[
                    ("a drive is written only with its token", refusals::tokens),
                    ("zones are refused before a byte is written", refusals::zones),
                    ("a format purges its own namespace only", purges::format),
                ],
                &[
                    ("an honest drive loses nothing durable with its power", power_cuts::honest),
                    ("a lying drive's losses are found", power_cuts::lying),
                ],
                &[("a killed run's write cache is listed and put back", settings::write_cache)],
            ],
            &[&[
                ("a drive of two paths is measured, not accused", facts::paths),
                ("a drive pulled out is called that", removal::pulled),
            ]],
        ],
    ),
    (
        "each_kind_of_drive",
        &[&[&[
            ("each drive is measured", facts::measured),
            ("no drive is written with the token of another", refusals::tokens_of_others),
            ("facts of further namespaces equal those of nvme-cli", facts::equal_of_others),
            ("what polls not is told", refusals::not_polled),
            ("commands write what the block device reads, and read what it wrote", commands::both),
            ("a line of fio's sends commands", commands::of_fio),
            ("what takes no commands is refused before a byte is written", commands::refused),
            ("completions of commands are polled where there are queues for it", commands::polled),
            ("a purge that cannot be is refused at once", purges::impossible),
            ("a study formats a namespace first", purges::format_by_study),
            ("a killed study's write cache is listed and put back", settings::of_study),
            ("a killed run's scheduler returns to the right namespace", settings::scheduler),
            ("health is what the drive says", health::told),
            ("health of SATA and SCSI is what smartctl reads", health::of_disks),
            ("what smartctl reads stands next to it", health::second_witness),
            ("health of all drives fits one screen", health::on_one_screen),
            ("a drive that warns is not called fit", health::warns),
            ("a run says what the drive counted", health::counted),
        ]]],
    ),
    (
        "scripted_drives",
        &[&[&[
            ("a sanitize that fails is told", purges::sanitize_fails),
            ("an ATA drive that cannot be erased is as it was", scripted::secure_erase_fails),
            ("health of scripted ATA and SAS drives is what they count", scripted::health),
            ("scripted ATA and SAS drives test themselves", scripted::self_tests),
            ("facts of a namespace are those of a scripted drive", facts::of_scripted),
            ("temperatures of a scripted ATA drive are those of its SCT", scripted::temperatures),
            ("hours that were set back are told by FARM", scripted::farm),
            ("a run asks an ATA drive", scripted::counted),
            ("zones are written in order, and only those asked for", zones::written),
            ("zones are written by NVMe commands", zones::by_commands),
            ("several appends to a zone are in flight", zones::appended),
            ("a line of fio's over zones does what fio does", zones::of_fio),
            ("what zones cannot do is refused at once", zones::bounded),
            ("facts of zones are the kernel's", zones::facts),
            ("planted gains of zones are found", zones::studied),
            ("check measures a zoned drive", zones::checked),
            ("what a drive counts within a run is told", health::changed),
            ("a drive that counts otherwise than the kernel is noted", health::disagrees),
            ("errors that a drive notes are those of its log", health::errors),
            ("what happened to a drive is what nvme-cli reads", events::told),
            ("a command that a drive does not list is refused", events::listed_commands),
            ("a drive tests itself", health::tests_itself),
        ]]],
    ),
    (
        "layers_over_drives",
        &[&[&[
            ("no layer is written through another", layers::guarded),
            ("facts of layers equal those of their own tools", layers::facts),
            ("what goes through a layer is counted below it", layers::counted),
            ("a limit of cgroup v2 is measured and named", limits::io_max),
            ("cuts are told apart where each write is durable by itself", power_cuts::both_by_fua),
            ("a drive that lost all is not told from a fresh one", power_cuts::lying_wholly),
            ("holes after the last flush are not called losses", power_cuts::holed),
            ("blocks torn after the last flush are not called losses", power_cuts::torn),
        ]]],
    ),
];

/// What is done by hand, as often as is asked.
pub const SOAK: (&str, &[Stage]) =
    ("soak", &[&[&[("drives that go away at random moments", soak::all)]]]);

/// A case of two sets would run twice, and a name of two cases would choose both.
pub fn expect_each_once() {
    let lanes = SETS.iter().flat_map(|(_, stages)| *stages).flat_map(|stage| *stage);
    let mut names: Vec<&str> = lanes.flat_map(|lane| *lane).map(|(name, _)| *name).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "a case is in two sets, or twice in one");
}
