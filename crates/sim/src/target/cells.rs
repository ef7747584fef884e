//! How many bits a cell of the flash holds, and what follows from it.

use super::SimTarget;
use crate::flash;
use drivelab_core::facts::CellFacts;

const KEY: &str = "bits_per_cell";

impl SimTarget {
    /// Where the profile knows kinds of cells, one of them brings its times and its cycles along;
    /// what was typed stands.
    pub(super) fn set_cells(&mut self, text: &str) -> Result<(), String> {
        self.set(KEY, text)?;
        if self.profile.cells.is_empty() {
            return Ok(());
        }
        let Some(kind) = self.profile.cells.get(text).cloned() else {
            let known: Vec<&str> = self.profile.cells.keys().map(String::as_str).collect();
            return Err(format!(
                "{KEY}={text}: `{}` knows the times of cells of {} bits; give one of these",
                self.profile.name,
                known.join(", ")
            ));
        };
        for (key, parameter) in kind {
            if !self.is_given(&key) {
                let (value, source) = (parameter.value, &parameter.source);
                self.profile.replace(&key, value, source, parameter.status);
            }
        }
        Ok(())
    }

    /// What is known of its cells, where the profile says what they hold.
    pub(super) fn cell_facts(&self, flash: &flash::Parameters) -> Option<CellFacts> {
        self.profile.get(KEY)?;
        Some(CellFacts {
            bits: flash.bits_per_cell,
            read_ns: flash.read_ns,
            program_ns: flash.program_ns / u64::from(flash.pages_per_program.max(1)),
            cycles: flash.endurance_cycles,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::target::SimTarget;

    fn parsed(name: &str) -> Result<SimTarget, String> {
        SimTarget::parse(name, |_| Err(String::new()))
    }

    fn cells(name: &str) -> (u32, u64, u64, u32) {
        let flash = parsed(name).and_then(|target| target.flash()).expect("flash");
        (flash.bits_per_cell, flash.read_ns, flash.program_ns, flash.endurance_cycles)
    }

    #[test]
    fn each_further_bit_is_slower_and_bears_less() {
        let ladder = [1, 2, 3, 4].map(|bits| cells(&format!("textbook,bits_per_cell={bits}")));
        for pair in ladder.windows(2) {
            assert_eq!(pair[1].0, pair[0].0 + 1);
            assert!(pair[1].1 > pair[0].1 && pair[1].2 > pair[0].2, "{pair:?}");
            assert!(pair[1].3 < pair[0].3, "{pair:?}");
        }
        assert_eq!(ladder[0], (1, 25_000, 250_000, 100_000));
    }

    #[test]
    fn the_textbook_without_bits_is_as_it_was() {
        assert_eq!(cells("textbook"), (1, 50_000, 200_000, 0));
        let facts = parsed("textbook").expect("a target").flash_facts().expect("flash");
        assert_eq!(facts.cells, None);
    }

    #[test]
    fn what_was_typed_stands_on_either_side() {
        for name in
            ["textbook,program_ns=7000,bits_per_cell=3", "textbook,bits_per_cell=3,program_ns=7000"]
        {
            assert_eq!(cells(name), (3, 75_000, 7_000, 1_000), "{name}");
        }
    }

    #[test]
    fn a_kind_that_is_not_known_is_refused_and_other_profiles_take_any_number() {
        let error = parsed("textbook,bits_per_cell=5").unwrap_err();
        assert!(error.contains("1, 2, 3, 4 bits"), "{error}");
        assert_eq!(cells("nvme-tlc,bits_per_cell=2").0, 2);
    }
}
