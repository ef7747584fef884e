//! A name where nothing is never becomes a file by mistake.

use crate::cli_user::User;

#[test]
fn a_missing_target_is_refused_with_what_was_meant() {
    let user = User::new();
    std::fs::create_dir(user.work().join("measures")).unwrap();
    let typo = user.work().join("typo");
    let typo = typo.to_str().unwrap();
    let sim = "Did you mean the simulated drive?  drivelab";
    for (line, says) in [
        (&["check", "nvme-tlc"][..], &*format!("{sim} check sim:nvme-tlc")),
        (&["check", "textbok,capacity=1GiB"], &format!("{sim} check sim:textbook,capacity=1GiB")),
        (&["study", "wsat", "x25-m"], &format!("{sim} study wsat sim:x25-m")),
        (&["run", "gp2", "--rw", "read"], &format!("{sim} run sim:gp2")),
        (&["check", "nvme0n1"], "Did you mean the device?  drivelab check /dev/nvme0n1"),
        (&["check", "null"], "Did you mean the device?  drivelab check /dev/null"),
        (&["check", "measure"], "Did you mean the one that is there?  drivelab check measures"),
        (&["run", "nope.toml"], "there is no such plan: `nope.toml`"),
        (&["run", "/dev/nosuchdrive"], "there is no device `/dev/nosuchdrive`"),
        (&["check", "zzzzzzzz"], "there is no file or directory `zzzzzzzz`"),
        (&["check", typo], "there is no file or directory `/dev/shm"),
        (&["check", typo, "--dry-run"], "there is no file or directory `/dev/shm"),
        (&["run", "data", "--rw", "write"], "drivelab run data --size 1g"),
        (&["run", "nowhere/at/all", "--size", "8MiB"], "nowhere/at does not exist"),
        (&["study", "meta", "names"], "there is no file or directory `names`"),
        (&["study", "wsat"], "required"),
        (&["doctor", "zzzzzzzz"], "there is no file or directory `zzzzzzzz`"),
        (&["health", "zzzzzzzz"], "there is no file or directory `zzzzzzzz`"),
        (&["health", "/dev/nosuchdrive"], "there is no device `/dev/nosuchdrive`"),
        (&["health", "sim:x25-m"], "is a simulated drive, which keeps no log"),
    ] {
        user.types(line).refused(2, says);
    }
    user.write(
        "spec.toml",
        "[[claim]]\nname = \"a\"\nmetric = \"iops\"\nat_least = 1\nrw = \"read\"\n",
    );
    user.types(&["accept", "spec.toml", "zzzzzzzz"]).refused(2, "zzzzzzzz");
    assert_eq!(user.listing(), ["measures", "spec.toml"], "something was made");
    assert!(!user.runs().exists(), "a refused run was recorded");
}

#[test]
fn a_size_makes_a_file_that_is_removed_again() {
    let user = User::new();
    let line = ["run", "data", "--size", "8MiB", "--io", "buffered", "--operations", "100"];
    user.types(&line).fine();
    assert_eq!(user.listing(), [""; 0]);
    user.types(&[&line[..], &["--keep"]].concat()).fine();
    assert_eq!(user.listing(), ["data"]);
    // Now that it is there, it needs no size.
    user.types(&["run", "data", "--rw", "write", "--io", "buffered", "--operations", "9"]).fine();
    user.types(&["run", "nothing", "--engine", "null", "--operations", "9"]).fine();
    assert_eq!(user.listing(), ["data"]);
}
