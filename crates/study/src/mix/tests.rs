use super::cost::{Cost, Grade, Repetition, of};
use super::*;
use crate::experiment::loads;

/// Repetitions of this many operations each, at these rates.
fn at(rates: &[f64], reads: f64, writes: f64) -> Vec<Repetition> {
    let one = |rate: &f64| {
        let seconds = (reads + writes) / rate;
        vec![seconds, reads, writes, seconds * 1e9]
    };
    rates.iter().map(one).collect()
}

fn about(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found}, expected {expected}");
}

/// Da Zhou's figures: random writes and reads alone, and 1 % of writes among reads, per second.
fn published(writes: f64, reads: f64, mixed: f64) -> Cost {
    of(&at(&[reads], 1e5, 0.0), &at(&[writes], 0.0, 1e4), &at(&[mixed], 99e3, 1e3)).unwrap()
}

#[test]
fn published_figures_give_published_and_corrected_answers() {
    let of = |profile| slide::Slide::of(profile).and_then(|slide| slide.cost()).unwrap();
    let (pqi, intel) = (of("pqi"), of("zhou-intel"));
    about(pqi.real.value, published(190.2775, 3360.399, 2441.968).real.value, 1e-12);
    about(pqi.alone.value, 17.66, 0.005);
    about(pqi.ideal.value, 0.8572, 0.00005);
    about(pqi.real.value, 0.7267, 0.00005);
    about(pqi.efficiency.value, 0.848, 0.0005);
    about(pqi.cost.unwrap().value, 38.6, 0.05);
    about(pqi.factor.unwrap().value, 2.2, 0.05);
    about(intel.alone.value, published(4954.68, 11753.65, 8200.149).alone.value, 1e-12);
    about(intel.alone.value, 2.372, 0.0005);
    about(intel.ideal.value, 0.9865, 0.00005);
    about(intel.efficiency.value, 0.707, 0.0005);
    about(intel.cost.unwrap().value, 44.3, 0.05);
    about(intel.factor.unwrap().value, 18.7, 0.05);
    assert_eq!(pqi.grade(0.05), Grade::Unsettled, "one repetition has no interval");
}

#[test]
fn a_grade_needs_the_whole_interval() {
    let reads = at(&[1000.0, 1002.0, 998.0, 1001.0, 999.0], 1e4, 0.0);
    let writes = at(&[100.0, 100.4, 99.8, 100.1, 99.7], 0.0, 1e3);
    // Ideal: 1 ÷ (0.9 + 0.1 × 10) of 1000 a second.
    let mixed = |rates: [f64; 5]| of(&reads, &writes, &at(&rates, 9e3, 1e3)).unwrap();
    let exact = mixed([526.0, 527.0, 526.5, 525.5, 526.2]);
    about(exact.factor.unwrap().value, 1.0, 0.01);
    assert_eq!(exact.grade(0.05), Grade::None);
    assert_eq!(mixed([400.0, 402.0, 401.0, 399.0, 400.5]).grade(0.05), Grade::Felt);
    assert_eq!(mixed([15.0, 15.1, 15.2, 14.9, 15.0]).grade(0.05), Grade::Bad);
    // Reads among writes that were quicker than reads alone: less than nothing is no cost.
    let noisy = mixed([1200.0, 1250.0, 900.0, 1500.0, 1400.0]);
    assert_eq!((noisy.cost, noisy.factor, noisy.grade(0.05)), (None, None, Grade::Cheaper));
    assert_eq!(mixed([700.0, 702.0, 701.0, 699.0, 700.5]).grade(0.05), Grade::Cheaper);
    assert_eq!(mixed([300.0, 700.0, 200.0, 600.0, 500.0]).grade(0.05), Grade::Unsettled);
    assert!(of(&reads, &writes, &at(&[500.0, 510.0], 1e4, 0.0)).is_err(), "no write at all");
}

#[test]
fn every_cell_has_a_name_and_a_mix_of_its_own() {
    for scale in [Scale::Quick, Scale::Default, Scale::Full] {
        let all = cells(scale);
        let mut names: Vec<String> = all.iter().map(|cell| cell.name()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert!(all.contains(&Cell { load: Load::Mixed(HEADLINE, Order::Random), depth: 1 }));
    }
    let options = crate::experiment::tests::options("mix");
    let facts = crate::experiment::tests::simulated();
    let setting = Setting { options: &options, facts: &facts };
    let cell = |load| Cell { load, depth: 1 };
    let mixed = load(&setting, cell(Load::Mixed(1, Order::Sequential)));
    assert_eq!((mixed.mix.read, mixed.mix.write), (999, 1));
    assert!(mixed.writes_in_order && mixed.pattern == Pattern::Uniform);
    assert_eq!(load(&setting, cell(Load::Mixed(1, Order::Random))).mix.write, 1);
    assert_eq!(loads::random(&setting, Mix::READ, 1), load(&setting, cell(Load::Reads)));
}
