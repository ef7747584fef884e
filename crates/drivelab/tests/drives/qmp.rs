//! What is done to the emulated machine while it runs, in QEMU's own protocol (QMP).

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// A connection to the machine.
pub struct Qmp(BufReader<UnixStream>);

impl Qmp {
    /// Connects, and asks for no special abilities.
    pub fn connect(socket: &Path) -> Qmp {
        let stream = UnixStream::connect(socket).expect("QEMU listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let mut qmp = Qmp(BufReader::new(stream));
        qmp.line();
        qmp.ask(&json!({"execute": "qmp_capabilities"}));
        qmp
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("an answer of QEMU");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("QEMU said {line:?}: {error}"))
    }

    /// Sends a command and gives its answer; events in between are left out.
    pub fn ask(&mut self, command: &Value) -> Value {
        writeln!(self.0.get_mut(), "{command}").expect("QEMU takes it");
        loop {
            let answer = self.line();
            if answer.get("event").is_none() {
                return answer;
            }
        }
    }
}
