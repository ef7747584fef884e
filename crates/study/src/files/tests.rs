use super::*;
use crate::battery::Quantity;

fn cell(row: &str, action: Action) -> Cell {
    Cell {
        name: format!("{row} 1 MiB"),
        load: String::new(),
        action,
        quantity: Quantity::Operations,
        row: row.into(),
        column: 1 << 20,
    }
}

#[test]
fn each_way_is_held_against_its_order() {
    let of = |row, action| measure_of(&cell(row, action));
    assert_eq!(of("backward read", Action::Read).as_deref(), Some("read 1 MiB"));
    assert_eq!(of("fwrite", Action::Write).as_deref(), Some("rewrite 1 MiB"));
    assert_eq!(of("write", Action::Write).as_deref(), Some("rewrite 1 MiB"));
    assert_eq!(of("random write IOPS", Action::Write).as_deref(), Some("write IOPS 1 MiB"));
    assert_eq!(of("random read IOPS", Action::Read).as_deref(), Some("read IOPS 1 MiB"));
    assert_eq!(of("read", Action::Read), None);
    assert_eq!(of("rewrite", Action::Write), None);
    assert_eq!(of("write IOPS", Action::Write), None);
}
