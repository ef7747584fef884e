use super::*;
use crate::iometer::icf::Assignment;

/// A specification of lines in the order of the file.
fn of(lines: &[[u64; 8]]) -> Specification {
    let small = |value: u64| u32::try_from(value).unwrap();
    let lines = (1..).zip(lines).map(|(line, it)| Access {
        line,
        size: it[0],
        share: small(it[1]),
        reads: small(it[2]),
        random: small(it[3]),
        delay_ms: it[4],
        burst: it[5],
        align: it[6],
        reply: it[7],
    });
    Specification { name: "S".into(), assignment: Assignment::Nobody, lines: lines.collect() }
}

fn sized(size: u64, weight: u32, kind: Option<Action>) -> WeightedSize {
    WeightedSize { size: Size(size), weight, kind }
}

/// The probability that a stream issues a request of this size and direction.
fn probability(stream: &Stream, size: u64, action: Action) -> f64 {
    let weight = if action == Action::Read { stream.mix.read } else { stream.mix.write };
    let direction = f64::from(weight) / stream.mix.total() as f64;
    let entries = stream.weighted_sizes();
    let mine = entries.iter().filter(|entry| entry.kind.is_none_or(|kind| kind == action));
    let (all, same) = mine.fold((0.0, 0.0), |(all, same), entry| {
        let weight = f64::from(entry.weight);
        (all + weight, if entry.size.0 == size { same + weight } else { same })
    });
    if all == 0.0 { 0.0 } else { direction * same / all }
}

#[test]
fn one_line_is_one_stream() {
    let found = stream(&of(&[[4096, 100, 67, 100, 0, 1, 4096, 0]])).unwrap();
    let expected = Stream {
        pattern: Pattern::Uniform,
        mix: Mix { read: 67, write: 33, trim: 0 },
        ..Stream::default()
    };
    assert_eq!(found, expected);
    let in_order = stream(&of(&[[65536, 100, 0, 0, 0, 1, 0, 0]])).unwrap();
    assert_eq!((in_order.pattern, in_order.align), (Pattern::SEQUENTIAL, None));
    let semi = stream(&of(&[[512, 100, 0, 25, 0, 1, 0, 0]])).unwrap();
    assert_eq!(semi.pattern, Pattern::SemiRandom(Jump::Share(Some(0.25))));
}

#[test]
fn the_grid_is_sectors_unless_the_line_says_otherwise() {
    let align = |size, random, align| {
        stream(&of(&[[size, 100, 100, random, 0, 1, align, 0]])).unwrap().align.map(|it| it.0)
    };
    assert_eq!(align(4096, 100, 0), Some(512));
    assert_eq!(align(4096, 100, 512), Some(512));
    assert_eq!(align(4096, 100, 4096), None);
    assert_eq!(align(512, 100, 0), None);
    assert_eq!(align(512, 50, 4096), Some(4096));
    assert_eq!(align(4096, 0, 0), None, "in order there is nothing between");
    assert_eq!(align(3072, 0, 2048), Some(2048), "holes of 1 KiB");
}

#[test]
fn lines_keep_the_probabilities_of_sizes_and_directions() {
    // The guide's example: 30 % 64 KiB reads, 50 % 512 B writes, 20 % of 1 KiB, half of them reads.
    let lines = [
        [65536, 30, 100, 100, 0, 1, 512, 0],
        [512, 50, 0, 100, 0, 1, 0, 0],
        [1024, 20, 50, 100, 0, 1, 0, 0],
    ];
    let found = stream(&of(&lines)).unwrap();
    assert_eq!(found.mix, Mix { read: 40, write: 60, trim: 0 });
    let expected = [
        sized(65536, 30, Some(Action::Read)),
        sized(1024, 10, Some(Action::Read)),
        sized(512, 50, Some(Action::Write)),
        sized(1024, 10, Some(Action::Write)),
    ];
    assert_eq!(found.sizes, expected);
    for (size, action, share) in [
        (65536, Action::Read, 0.3),
        (65536, Action::Write, 0.0),
        (512, Action::Write, 0.5),
        (1024, Action::Read, 0.1),
        (1024, Action::Write, 0.1),
    ] {
        assert!((probability(&found, size, action) - share).abs() < 1e-12, "{size} {action:?}");
    }
    assert_eq!(found.align, Some(Size(512)), "one grid for both directions");
}

#[test]
fn any_lines_of_one_order_keep_their_probabilities() {
    // Every pair of shares and percentages that a slider can give in steps of 7.
    for share in (1..100).step_by(7) {
        for reads in (0..=100_u64).step_by(7) {
            for other in (0..=100_u64).step_by(7) {
                let lines = [
                    [4096, share, reads, 100, 0, 1, 0, 0],
                    [8192, 100 - share, other, 100, 0, 1, 0, 0],
                ];
                let found = stream(&of(&lines)).unwrap();
                for [size, share, reads, ..] in lines {
                    let expected = (share * reads) as f64 / 1e4;
                    let read = probability(&found, size, Action::Read);
                    assert!((read - expected).abs() < 1e-12, "{lines:?}");
                    let expected = (share * (100 - reads)) as f64 / 1e4;
                    let write = probability(&found, size, Action::Write);
                    assert!((write - expected).abs() < 1e-12, "{lines:?}");
                }
            }
        }
    }
}

#[test]
fn reads_and_writes_of_different_sizes_must_jump() {
    for (random, reply) in [(0, 0), (50, 0), (100, 1)] {
        let lines = [
            [65536, 70, 100, random, 0, 1, 4096, 65536 * reply],
            [4096, 30, 0, random, 0, 1, 4096, 4096 * reply],
        ];
        let found = stream(&of(&lines)).unwrap_err();
        assert_eq!((found.field, found.lines), ("% reads", (1, 2)));
    }
    let alike = [[65536, 70, 30, 0, 0, 1, 0, 0], [4096, 30, 30, 0, 0, 1, 0, 0]];
    assert!(stream(&of(&alike)).is_ok(), "one mix for all sizes");
}

#[test]
fn lines_of_one_load_are_one_line() {
    let lines = [[4096, 50, 70, 0, 0, 1, 0, 0], [4096, 50, 70, 100, 0, 1, 0, 0]];
    let found = stream(&of(&lines)).unwrap();
    assert_eq!(found.pattern, Pattern::SemiRandom(Jump::Share(Some(0.5))));
    assert_eq!((found.size, found.sizes.len()), (Size(4096), 0));
    let never = [[4096, 100, 100, 0, 0, 1, 0, 0], [8192, 0, 0, 50, 9, 3, 0, 8192]];
    assert_eq!(stream(&of(&never)), stream(&of(&never[..1])));
}

#[test]
fn a_delay_comes_first_and_a_burst_needs_one() {
    let found = stream(&of(&[[512, 100, 0, 100, 10, 5, 0, 0]])).unwrap();
    let think = Some(Think { time: Span(10_000_000), first: true });
    assert_eq!(found.arrival, Arrival::Closed { burst: Some(5), think });
    let found = stream(&of(&[[512, 100, 0, 100, 0, 5, 0, 0]])).unwrap();
    assert_eq!(found.arrival, Arrival::AT_ONCE);
}

#[test]
fn a_reply_in_order_takes_every_second_place() {
    let found = stream(&of(&[[512, 100, 0, 0, 0, 1, 0, 512]])).unwrap();
    assert_eq!((found.reply, found.stride()), (Some(Reply::Next), Some(2)));
    let found = stream(&of(&[[512, 100, 0, 100, 0, 1, 0, 512]])).unwrap();
    assert_eq!((found.reply, found.stride()), (Some(Reply::Next), None));
}

#[test]
fn what_is_no_single_stream_names_field_and_lines() {
    let base = [4096, 50, 100, 100, 0, 1, 0, 0];
    let with = |column: usize, value: u64| {
        let mut other = base;
        other[column] = value;
        let found = stream(&of(&[base, other])).unwrap_err();
        (found.field, found.lines)
    };
    assert_eq!(with(0, 1000), ("size", (2, 2)));
    assert_eq!(with(4, 3), ("delay", (1, 2)));
    assert_eq!(with(6, 4096), ("align", (1, 2)));
    assert_eq!(with(6, 100), ("align", (2, 2)));
    assert_eq!(with(7, 4096), ("reply", (1, 2)));
    assert_eq!(with(7, 100), ("reply", (2, 2)));
    let mut answered = base;
    answered[7] = 512;
    let found = stream(&of(&[answered])).unwrap();
    assert_eq!((found.reply, found.reply_size), (Some(Reply::Next), Some(Size(512))));
    let mut other = answered;
    other[7] = 1024;
    let found = stream(&of(&[answered, other])).unwrap_err();
    assert!(found.text.contains("of 512 bytes to requests of 4096 and of 1024"), "{}", found.text);
    let mut writes = base;
    (writes[2], writes[3]) = (0, 99);
    let found = stream(&of(&[base, writes])).unwrap_err();
    assert_eq!((found.field, found.lines), ("% random", (1, 2)));
    assert!(found.text.starts_with("reads of 4096 bytes 100 % random and writes"));
    let paced = |burst| [4096, 50, 100, 100, 5, burst, 0, 0];
    let found = stream(&of(&[paced(1), paced(2)])).unwrap_err();
    assert_eq!((found.field, found.lines), ("burst", (1, 2)));
    let found = stream(&of(&[paced(0), paced(0)])).unwrap_err();
    assert_eq!((found.field, found.lines), ("burst", (1, 1)));
    // Bursts that mean nothing may differ.
    assert!(stream(&of(&[base, [4096, 50, 100, 100, 0, 9, 0, 0]])).is_ok());
}
