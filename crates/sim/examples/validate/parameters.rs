//! What was fitted.

use crate::page::Table;
use drivelab_sim::profile::{EMBEDDED, Profile, Status};

/// Fitted parameters of each profile.
pub fn section() -> Result<String, String> {
    let mut table =
        Table::new(&["profile", "parameters", "spec", "measured", "guess", "fitted", "which"]);
    let mut most = 0;
    for (name, _) in EMBEDDED {
        let profile = Profile::embedded(name)?;
        let all = || profile.sections.values().flatten();
        let count = |status: Status| {
            all().filter(|(_, parameter)| parameter.status == status).count().to_string()
        };
        let fitted: Vec<String> = all()
            .filter(|(_, parameter)| parameter.status == Status::Fitted)
            .map(|(key, parameter)| format!("`{key}` ({})", parameter.source))
            .collect();
        most = most.max(profile.fitted());
        table.row(&[
            (*name).to_owned(),
            all().count().to_string(),
            count(Status::Spec),
            count(Status::Measured),
            count(Status::Guess),
            profile.fitted().to_string(),
            fitted.join("; "),
        ]);
    }
    Ok(format!(
        "### Parameters and what was fitted\n\nAt most three parameters of a profile may be \
         fitted, each to one figure of the tables above; most here: {most}.\n\n{}",
        table.text()
    ))
}
