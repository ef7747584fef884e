use super::*;

fn told(json: &str) -> Option<Told> {
    read(json.as_bytes())
}

#[test]
fn an_ata_drive_is_read_from_its_status_and_attributes() {
    let json = r#"{"smartctl": {"version": [7, 3]}, "smart_status": {"passed": false},
        "power_on_time": {"hours": 4321}, "power_cycle_count": 17, "temperature": {"current": 41},
        "ata_smart_attributes": {"table": [
            {"id": 5, "raw": {"value": 7}}, {"id": 197, "raw": {"value": 2}}]}}"#;
    let told = told(json).unwrap();
    assert_eq!(told.source, "smartctl 7.3");
    let wear = told.wear;
    assert_eq!(
        (wear.failing, wear.power_on_hours, wear.power_cycles),
        (Some(true), Some(4321), Some(17))
    );
    assert_eq!((wear.reallocated_sectors, wear.pending_sectors), (Some(7), Some(2)));
    assert_eq!((wear.temperature_c, wear.used_percent), (Some(41), None));
}

#[test]
fn an_nvme_drive_is_read_from_its_log() {
    let json = r#"{"smartctl": {"version": [7, 4]}, "smart_status": {"passed": false},
        "nvme_smart_health_information_log": {"critical_warning": 4, "percentage_used": 103,
            "available_spare": 9, "media_errors": 3}, "power_on_time": {"hours": 9}}"#;
    let wear = told(json).unwrap().wear;
    assert_eq!((wear.critical_warning, wear.failing), (4, None));
    assert_eq!((wear.used_percent, wear.spare_percent), (Some(103), Some(9)));
    assert_eq!((wear.media_errors, wear.power_on_hours), (Some(3), Some(9)));
}

#[test]
fn what_tells_of_no_drive_is_nothing() {
    for json in [
        "",
        "smartctl: not found",
        "[]",
        "{}",
        r#"{"smartctl": {"version": [7, 3], "exit_status": 1}}"#,
        r#"{"power_on_time": {"hours": 5}}"#,
        r#"{"smartctl": {"version": [7, 3]}, "power_on_time": {"hours": "5"}}"#,
        r#"{"smartctl": {"version": [7, 3]}, "nvme_smart_health_information_log": {}}"#,
        // What 7.3 prints of QEMU's SCSI disk, which keeps no log.
        r#"{"smartctl": {"version": [7, 3]}, "temperature": {"current": 0, "drive_trip": 0}}"#,
        r#"{"smartctl": {"version": [7, 3]}, "ata_smart_attributes": {"table": 7}}"#,
    ] {
        assert_eq!(told(json), None, "{json}");
    }
}

#[test]
fn a_device_of_which_it_knows_nothing_is_not_told() {
    assert_eq!(ask(Path::new("/dev/null")), None);
}
