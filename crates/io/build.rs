//! Builds the shim to MPI where the feature `mpi` asks for it: with `$MPICC` or `mpicc`, and the
//! libraries that it links.

fn main() {
    println!("cargo:rerun-if-changed=src/ranks/ranks_mpi.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    #[cfg(feature = "mpi")]
    with_mpi();
}

#[cfg(feature = "mpi")]
fn with_mpi() {
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let shown = std::process::Command::new(&compiler).arg("-show").output();
    let shown = match shown {
        Ok(shown) if shown.status.success() => String::from_utf8_lossy(&shown.stdout).into_owned(),
        _ => {
            println!(
                "cargo:error=the feature `mpi` needs {compiler}: install libopenmpi-dev or \
                 libmpich-dev, or set MPICC"
            );
            return;
        }
    };
    cc::Build::new().compiler(&compiler).file("src/ranks/ranks_mpi.c").compile("drivelab_ranks");
    for word in shown.split_whitespace() {
        if let Some(directory) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={directory}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={library}");
        }
    }
}
