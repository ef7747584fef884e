//! A compressed block device in memory.

use std::process::Command;

/// A zram device of our own, reset and removed when dropped.
pub struct Zram {
    number: u32,
    is_added: bool,
}

impl Zram {
    /// A device of this many bytes, or why there is none.
    pub fn new(bytes: u64) -> Result<Zram, String> {
        Command::new("modprobe").arg("zram").output().ok();
        let add = std::fs::read_to_string("/sys/class/zram-control/hot_add");
        let zram = match add {
            Ok(number) => {
                let number = number.trim().parse().map_err(|_| format!("hot_add: {number}"))?;
                Zram { number, is_added: true }
            }
            // Without hot_add, the first device is free if it has no size yet.
            Err(error) => match std::fs::read_to_string("/sys/block/zram0/disksize") {
                Ok(size) if size.trim() == "0" => Zram { number: 0, is_added: false },
                _ => return Err(format!("no free zram device: {error}")),
            },
        };
        let size = format!("/sys/block/zram{}/disksize", zram.number);
        std::fs::write(&size, bytes.to_string()).map_err(|error| format!("{size}: {error}"))?;
        Ok(zram)
    }

    /// The device node.
    pub fn path(&self) -> String {
        format!("/dev/zram{}", self.number)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let reset = std::fs::write(format!("/sys/block/zram{}/reset", self.number), "1");
        if let Err(error) = reset {
            eprintln!("zram{} stays: {error}", self.number);
        } else if self.is_added {
            std::fs::write("/sys/class/zram-control/hot_remove", self.number.to_string()).ok();
        }
    }
}
