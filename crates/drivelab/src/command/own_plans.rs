//! Plans that are part of the program, and are run by their names.

use std::path::Path;

const PLANS: [(&str, &str); 2] = [
    ("nvme-protocol", include_str!("../../../../plans/nvme-protocol.toml")),
    ("write-cliff", include_str!("../../../../plans/write-cliff.toml")),
];

/// The text of the plan of this name, unless something in this directory is called so.
pub fn text(name: &str) -> Option<&'static str> {
    let own = PLANS.iter().find(|(known, _)| *known == name)?;
    (!Path::new(name).exists()).then_some(own.1)
}

/// Their names, as part of a sentence.
pub fn names() -> String {
    PLANS.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_of_the_directory_is_known_by_its_name() {
        let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
        let mut there: Vec<String> = std::fs::read_dir(plans)
            .expect("plans")
            .map(|entry| entry.expect("a plan").path())
            .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
            .collect();
        there.sort();
        assert_eq!(there.join(", "), names());
        assert!(text("nvme-protocol").expect("known").contains("128 KiB at depth 256"));
        assert_eq!(text("nosuch"), None);
    }
}
