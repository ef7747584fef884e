//! The histogram against the `hdrhistogram` crate and against exact sorting.

use drivelab_stats::{DecodeError, Extremes, HIGHEST_TRACKABLE_NS, Histogram, Random};
use hdrhistogram::Histogram as Oracle;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use proptest::prelude::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

fn oracle_of(values: &[u64]) -> Oracle<u64> {
    let mut oracle = Oracle::new_with_bounds(1, HIGHEST_TRACKABLE_NS, 3).expect("valid bounds");
    values.iter().for_each(|value| oracle.saturating_record(*value));
    oracle
}

/// Values of every magnitude from 1 ns to 1 h, equally many per octave.
fn random_values(seed: u64, count: usize) -> Vec<u64> {
    let mut random = Random::new(seed);
    let octaves = (HIGHEST_TRACKABLE_NS as f64).log2();
    let draw = |_| (random.unit_f64() * octaves).exp2() as u64;
    (0..count).map(draw).collect()
}

fn base64_decode(text: &str) -> Vec<u8> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.decode(text).expect("base64")
}

fn base64_encode(bytes: &[u8]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}

#[test]
fn buckets_are_those_of_hdrhistogram() {
    let mut values = random_values(1, 100_000);
    for shift in 0..42 {
        let edge = 1_u64 << shift;
        values.extend([edge - 1, edge, edge + 1].map(|value| value.min(HIGHEST_TRACKABLE_NS)));
    }
    values.push(HIGHEST_TRACKABLE_NS);
    let oracle = oracle_of(&values);
    let expected: Vec<_> = oracle
        .iter_recorded()
        .map(|step| {
            let value = step.value_iterated_to();
            let (low, high) = (oracle.lowest_equivalent(value), oracle.highest_equivalent(value));
            (low, high, step.count_at_value())
        })
        .collect();
    let found: Vec<_> = of(&values).iter_nonzero().collect();
    assert!(found.len() > 10_000);
    assert_eq!(found, expected);
}

#[test]
fn bucket_edges_match_the_vector() {
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("../data/statistics.json")).unwrap();
    let vector = &vectors["hdr-buckets"];
    let values: Vec<u64> = serde_json::from_value(vector["input"]["values"].clone()).unwrap();
    let ranges: Vec<(u64, u64)> =
        serde_json::from_value(vector["expected"]["ranges"].clone()).unwrap();
    for (value, (low, high)) in values.iter().zip(ranges) {
        assert_eq!(of(&[*value]).iter_nonzero().collect::<Vec<_>>(), [(low, high, 1)]);
    }
}

#[test]
fn quantiles_are_those_of_hdrhistogram_capped_at_the_maximum() {
    let values = random_values(2, 99_991);
    let (histogram, oracle) = (of(&values), oracle_of(&values));
    let maximum = *values.iter().max().unwrap();
    for quantile in [1e-9, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_99, 1.0, 2.0] {
        let expected = oracle.value_at_quantile(quantile).min(maximum);
        assert_eq!(histogram.value_at_quantile(quantile), expected, "{quantile}");
    }
}

#[test]
fn hdrhistogram_reads_our_bytes_and_writes_the_same() {
    for values in
        [vec![], vec![0], vec![0, 2], vec![HIGHEST_TRACKABLE_NS], random_values(3, 50_000)]
    {
        let histogram = of(&values);
        let bytes = base64_decode(&histogram.to_v2_base64());
        let read: Oracle<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(read, oracle_of(&values));
        for quantile in [0.001, 0.5, 0.9, 0.99, 0.999] {
            let expected = read.value_at_quantile(quantile).min(histogram.max());
            assert_eq!(histogram.value_at_quantile(quantile), expected);
        }
        let mut written = Vec::new();
        V2Serializer::new().serialize(&oracle_of(&values), &mut written).unwrap();
        assert_eq!(bytes, written);
    }
}

#[test]
fn counts_of_every_size_survive_storing() {
    let mut histogram = Histogram::new();
    for shift in 0..62 {
        histogram.record_n(10 + 3 * shift, 1 << shift);
    }
    let text = histogram.to_v2_base64();
    assert_eq!(Histogram::from_v2_base64(&text, histogram.extremes()), Ok(histogram));
}

#[test]
fn an_empty_histogram_answers() {
    let histogram = Histogram::new();
    assert!(histogram.is_empty());
    assert_eq!(histogram.extremes(), Extremes::default());
    assert_eq!((histogram.mean(), histogram.standard_deviation()), (None, None));
    assert_eq!((histogram.value_at_quantile(0.5), histogram.count_above(0)), (0, 0));
    assert_eq!(histogram.iter_nonzero().count(), 0);
    let text = histogram.to_v2_base64();
    assert_eq!(Histogram::from_v2_base64(&text, Extremes::default()), Ok(histogram));
}

#[test]
fn zero_and_more_than_an_hour_are_counted() {
    let values = [0, 0, 5 * HIGHEST_TRACKABLE_NS, u64::MAX];
    let histogram = of(&values);
    assert_eq!((histogram.count(), histogram.min(), histogram.max()), (4, 0, u64::MAX));
    assert_eq!(histogram.sum(), u128::from(u64::MAX) + 18_000_000_000_000);
    assert_eq!(histogram.value_at_quantile(0.5), 0);
    assert_eq!(histogram.value_at_quantile(0.75), u64::MAX);
    let buckets: Vec<_> = histogram.iter_nonzero().collect();
    assert_eq!(buckets[0], (0, 0, 2));
    assert!(buckets[1].0 <= HIGHEST_TRACKABLE_NS && HIGHEST_TRACKABLE_NS <= buckets[1].1);
    assert_eq!((buckets.len(), buckets[1].2), (2, 2));
    assert_eq!(histogram.count_above(HIGHEST_TRACKABLE_NS), 1);
    assert_eq!(histogram.count_above(0), 2);
    let text = histogram.to_v2_base64();
    assert_eq!(Histogram::from_v2_base64(&text, histogram.extremes()), Ok(histogram));
}

#[test]
fn ranks_are_those_of_the_decimal_that_was_meant() {
    for count in 1..=300_u64 {
        let histogram = of(&(0..count).collect::<Vec<_>>());
        for percent in 1..=100_u64 {
            let rank = (percent * count).div_ceil(100);
            let found = histogram.value_at_quantile(percent as f64 / 100.0);
            assert_eq!(found, rank - 1, "{percent} % of {count}");
        }
    }
    let mut large = Histogram::new();
    large.record_n(1, 999_999_999_000);
    large.record_n(2, 1_000);
    assert_eq!(large.value_at_quantile(0.999_999_999), 1);
    assert_eq!(large.value_at_quantile(0.999_999_999_1), 2);
    assert_eq!(large.value_at_quantile(0.0), 1);
    assert_eq!(large.value_at_quantile(f64::NAN), 1);
}

#[test]
fn moments_are_exact() {
    let histogram = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
    assert_eq!(histogram.mean(), Some(5.0));
    assert_eq!(histogram.standard_deviation(), Some((32.0_f64 / 7.0).sqrt()));
    // A second with a spread of a nanosecond: sums of squares in floating point would cancel.
    let far = of(&[1_000_000_001, 1_000_000_002, 1_000_000_003]);
    assert_eq!(far.standard_deviation(), Some(1.0));
    assert_eq!(of(&[7]).standard_deviation(), None);
    assert_eq!(of(&[u64::MAX, u64::MAX]).standard_deviation(), None);
}

#[test]
fn clearing_leaves_nothing_behind() {
    let mut histogram = of(&random_values(4, 1_000));
    histogram.clear();
    assert_eq!(histogram, Histogram::new());
    histogram.prefault();
    assert_eq!(histogram, Histogram::new());
    histogram.record(77);
    histogram.prefault();
    assert_eq!(histogram, of(&[77]));
}

#[test]
fn count_above_is_exact_at_bucket_edges() {
    let histogram = of(&[1, 10, 2047, 2048, 2049, 5000]);
    assert_eq!([0, 1, 10, 2047].map(|value| histogram.count_above(value)), [6, 5, 4, 3]);
    assert_eq!(histogram.count_above(2049), 1);
    assert_eq!([4999, 5000, u64::MAX].map(|value| histogram.count_above(value)), [1, 0, 0]);
}

#[test]
fn contradicting_extremes_are_refused() {
    let histogram = of(&[100, 200, 300_000]);
    let text = histogram.to_v2_base64();
    let good = histogram.extremes();
    let refused = |exact, what| {
        let found = Histogram::from_v2_base64(&text, exact);
        assert_eq!(found, Err(DecodeError::Contradiction(what)));
    };
    refused(Extremes { count: 4, ..good }, "count");
    refused(Extremes { min: 101, ..good }, "minimum or maximum");
    refused(Extremes { max: 400_000, ..good }, "minimum or maximum");
    refused(Extremes { min: 300_000, max: 100, ..good }, "minimum or maximum");
    refused(Extremes { sum: good.sum + 1_000, ..good }, "sum");
    refused(Extremes { sum: u128::MAX, ..good }, "sum");
    refused(Extremes { sum_squares: 1, ..good }, "sum of squares");
    refused(Extremes { sum_squares: u128::MAX, ..good }, "sum of squares");
}

#[test]
fn hostile_bytes_are_refused() {
    let good = base64_decode(&of(&[5]).to_v2_base64());
    let with_payload = |payload: &[u8]| {
        let mut bytes = good[..40].to_vec();
        bytes[4..8].copy_from_slice(&(payload.len() as u32).to_be_bytes());
        bytes.extend(payload);
        Histogram::from_v2_base64(&base64_encode(&bytes), Extremes::default())
    };
    // A run of 2^63 empty buckets, a run beyond the last, a cut number, counts above 2^64.
    assert_eq!(with_payload(&[0xff; 9]), Err(DecodeError::Counts));
    assert_eq!(with_payload(&[0xff, 0xff, 0x7f]), Err(DecodeError::Counts));
    assert_eq!(with_payload(&[0x80]), Err(DecodeError::Counts));
    let huge = [[0xfe; 1].as_slice(), &[0xff; 8]].concat().repeat(3);
    assert_eq!(with_payload(&huge), Err(DecodeError::Counts));
    let mut claims_four_gigabytes = good.clone();
    claims_four_gigabytes[4..8].fill(0xff);
    for bytes in [&claims_four_gigabytes[..], &good[..39], &[]] {
        let found = Histogram::from_v2_base64(&base64_encode(bytes), Extremes::default());
        assert_eq!(found, Err(DecodeError::Header));
    }
    let found = Histogram::from_v2_base64("no base64!", Extremes::default());
    assert_eq!(found, Err(DecodeError::Base64));
}

#[test]
fn json_keeps_the_exact_extremes() {
    let histogram = of(&[3, 1_234_567_891, u64::from(u32::MAX) * 5]);
    let text = serde_json::to_string(&histogram).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["max"], u64::from(u32::MAX) * 5);
    assert_eq!(value["sum"], "22709404369");
    let keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["count", "max", "min", "sum", "sum_squares", "v2"]);
    // Through a value too, as tagged enums read it.
    assert_eq!(serde_json::from_value::<Histogram>(value).unwrap(), histogram);
    assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
    assert!(
        serde_json::from_str::<Histogram>(&text.replace("\"count\":3", "\"count\":2")).is_err()
    );
}

fn any_value() -> impl Strategy<Value = u64> {
    (0_u32..=45, any::<u64>()).prop_map(|(bits, value)| value & ((1 << bits) - 1))
}

proptest! {
    #[test]
    fn merged_parts_equal_the_union(
        first in prop::collection::vec(any_value(), 0..200),
        second in prop::collection::vec(any_value(), 0..200),
    ) {
        let mut merged = of(&first);
        merged.merge(&of(&second));
        let mut union = of(&first);
        second.iter().for_each(|value| union.record(*value));
        prop_assert_eq!(&merged, &union);
        let mut other_way = of(&second);
        other_way.merge(&of(&first));
        prop_assert_eq!(&other_way, &union);
        // Thin parts, and more of them than a thin histogram holds.
        let mut thin = Histogram::thin();
        thin.merge(&of(&first));
        prop_assert_eq!(&thin, &of(&first));
        thin.merge(&of(&second).clone());
        prop_assert_eq!(&thin, &union);
        prop_assert_eq!(thin.value_at_quantile(0.9), union.value_at_quantile(0.9));
        let wide = of(&(0..2000).map(|value| value * 1000).collect::<Vec<u64>>());
        thin.merge(&wide);
        thin.merge(&union);
        union.merge(&union.clone());
        union.merge(&wide);
        prop_assert_eq!(&thin, &union);
        thin.record(7);
        union.record(7);
        prop_assert_eq!(thin, union);
    }

    #[test]
    fn many_at_once_equal_one_by_one(value in any_value(), n in 0_u64..100) {
        let mut at_once = Histogram::new();
        at_once.record_n(value, n);
        prop_assert_eq!(at_once, of(&vec![value; n as usize]));
    }

    #[test]
    fn quantiles_are_within_a_thousandth_of_the_sorted_values(
        mut values in prop::collection::vec(1..=HIGHEST_TRACKABLE_NS, 1..300),
        small in prop::collection::vec(1_u64..10_000_000, 0..300),
        thousandths in 1_usize..=1000,
    ) {
        values.extend(small);
        let histogram = of(&values);
        values.sort_unstable();
        let exact = values[(thousandths * values.len()).div_ceil(1000) - 1];
        let found = histogram.value_at_quantile(thousandths as f64 / 1000.0);
        prop_assert!(found >= exact);
        prop_assert!((found - exact) as f64 <= exact as f64 * 0.001);
    }

    #[test]
    fn storing_is_exact(values in prop::collection::vec(any_value(), 0..300)) {
        let histogram = of(&values);
        let text = histogram.to_v2_base64();
        let read = Histogram::from_v2_base64(&text, histogram.extremes());
        prop_assert_eq!(read, Ok(histogram));
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}", sum in any::<u128>()) {
        let exact = Extremes { count: 1, min: 1, max: 1, sum, sum_squares: sum };
        prop_assert!(Histogram::from_v2_base64(&text, exact).is_err());
    }

    #[test]
    fn any_payload_is_read_or_refused(
        payload in prop::collection::vec(any::<u8>(), 0..60),
        extremes in (any_value(), any_value(), any_value(), any::<u64>(), any::<u128>()),
    ) {
        let mut bytes = base64_decode(&Histogram::new().to_v2_base64())[..40].to_vec();
        bytes[4..8].copy_from_slice(&(payload.len() as u32).to_be_bytes());
        bytes.extend(payload);
        let (count, min, max, sum, sum_squares) = extremes;
        let exact = Extremes { count, min, max, sum: sum.into(), sum_squares };
        if let Ok(mut read) = Histogram::from_v2_base64(&base64_encode(&bytes), exact) {
            read.merge(&read.clone());
            read.clear();
        }
    }
}

/// A copy is thin; whatever is done to it must come out as if it were not.
#[test]
fn a_thin_copy_behaves_like_its_original() {
    let mut original = Histogram::new();
    (1..5_000_u64).for_each(|value| original.record(value * value));
    let mut copy = original.clone();
    assert_eq!(copy, original);
    for quantile in [0.0, 0.1, 0.5, 0.99, 0.9999, 1.0] {
        assert_eq!(copy.value_at_quantile(quantile), original.value_at_quantile(quantile));
    }
    assert_eq!(copy.count_above(1_000_000), original.count_above(1_000_000));
    assert_eq!(copy.to_v2_base64(), original.to_v2_base64());
    copy.record(7);
    original.record(7);
    assert_eq!(copy, original);
    let mut sum = copy.clone();
    sum.merge(&copy.clone());
    assert_eq!(sum.count(), 2 * original.count());
    assert_eq!(sum.iter_nonzero().map(|(_, _, count)| count).sum::<u64>(), sum.count());
    let mut emptied = copy.clone();
    emptied.clear();
    assert_eq!(emptied, Histogram::new());
    emptied.record(3);
    assert_eq!((emptied.count(), emptied.max()), (1, 3));
}
