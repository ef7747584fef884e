//! Rates, times and mixtures of loads.

/// Operations in flight by Little's law (1961): rate in operations a second times mean latency in
/// seconds.
pub fn operations_in_flight(rate: f64, latency_s: f64) -> f64 {
    rate * latency_s
}

/// What writes cost the readers next to them: rates of reads alone, writes alone and both together
/// in a closed loop, operations a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// Reads alone.
    pub reads: f64,
    /// Writes alone.
    pub writes: f64,
    /// Reads and writes together, in the mixture.
    pub together: f64,
    /// Share of writes in it, by operations.
    pub write_share: f64,
}

impl Mixture {
    /// What a write costs where there are only writes, in reads.
    pub fn write_cost(&self) -> f64 {
        self.reads / self.writes
    }

    /// The rate of the mixture, as a share of that of reads alone, if each operation took as long
    /// as it does alone.
    pub fn ideal_share(&self) -> f64 {
        1.0 / (1.0 - self.write_share + self.write_share * self.write_cost())
    }

    /// What was reached of that.
    pub fn efficiency(&self) -> f64 {
        self.together / (self.reads * self.ideal_share())
    }

    /// What a write costs in the mixture, in reads.
    pub fn write_cost_together(&self) -> f64 {
        (self.reads / self.together - (1.0 - self.write_share)) / self.write_share
    }

    /// How many times dearer a write is in the mixture than alone; 1 where the two kinds do not
    /// disturb each other.
    pub fn interference(&self) -> f64 {
        self.write_cost_together() / self.write_cost()
    }
}
