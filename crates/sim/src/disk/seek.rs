//! How long the arm moves.

/// Seek time by distance: `a + b·√d` up to a third of the cylinders, then linear (Ruemmler and
/// Wilkes, "An introduction to disk drive modeling", 1994), through the three points that data
/// sheets give. The average of a data sheet is taken as the time over a third of the cylinders.
#[derive(Debug, Clone)]
pub struct SeekCurve {
    knee: u64,
    longest: u64,
    average_ns: u64,
    full_ns: u64,
    constant_ns: f64,
    root_ns: f64,
}

impl SeekCurve {
    /// The curve through the time to the next cylinder, the average and the full stroke.
    ///
    /// # Errors
    /// When they do not increase in this order.
    pub fn new(
        cylinders: u64,
        track_ns: u64,
        average_ns: u64,
        full_ns: u64,
    ) -> Result<Self, String> {
        if track_ns == 0 || track_ns > average_ns || average_ns > full_ns {
            return Err(format!(
                "seek_track_ns, seek_average_ns and seek_full_ns must be above 0 and not decrease \
                 in this order; they are {track_ns}, {average_ns} and {full_ns}"
            ));
        }
        let knee = (cylinders / 3).max(2);
        let root_ns = (average_ns - track_ns) as f64 / (libm::sqrt(knee as f64) - 1.0);
        Ok(Self {
            knee,
            longest: (cylinders - 1).max(knee + 1),
            average_ns,
            full_ns,
            constant_ns: track_ns as f64 - root_ns,
            root_ns,
        })
    }

    /// Time to move over `distance` cylinders; 0 over none.
    #[inline]
    pub fn ns(&self, distance: u64) -> u64 {
        match distance {
            0 => 0,
            d if d <= self.knee => {
                (self.constant_ns + self.root_ns * libm::sqrt(d as f64) + 0.5) as u64
            }
            d => {
                let beyond = (d - self.knee).min(self.longest - self.knee);
                let rise_ns = self.full_ns - self.average_ns;
                self.average_ns + rise_ns * beyond / (self.longest - self.knee)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_through_its_three_points_and_never_falls() {
        let curve = SeekCurve::new(60_000, 1_500_000, 11_000_000, 22_000_000).unwrap();
        assert_eq!(curve.ns(0), 0);
        assert_eq!(curve.ns(1), 1_500_000);
        assert_eq!(curve.ns(20_000), 11_000_000);
        assert_eq!(curve.ns(59_999), 22_000_000);
        let mut last_ns = 0;
        for distance in 0..60_000 {
            assert!(curve.ns(distance) >= last_ns);
            last_ns = curve.ns(distance);
        }
    }

    #[test]
    fn times_out_of_order_are_refused() {
        let error = SeekCurve::new(60_000, 1_500_000, 1_000_000, 22_000_000).unwrap_err();
        assert!(error.contains("seek_average_ns"), "{error}");
        assert!(SeekCurve::new(60_000, 0, 1_000_000, 22_000_000).is_err());
    }
}
