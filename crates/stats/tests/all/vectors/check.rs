//! Reading vectors, and comparing what was found with what is expected.

use serde_json::Value;
use std::collections::BTreeMap;

/// One vector.
pub struct Vector {
    pub id: String,
    input: Value,
    expected: Value,
    tolerance: f64,
}

/// All of them, references resolved.
pub fn all() -> Vec<Vector> {
    let text = include_str!("../../data/vectors.json");
    let list: Vec<Value> = serde_json::from_str(text).expect("vectors");
    let by_id: BTreeMap<String, Value> = list
        .iter()
        .map(|one| (one["id"].as_str().expect("an id").to_owned(), one["input"].clone()))
        .collect();
    list.into_iter()
        .map(|one| {
            let mut input = one["input"].clone();
            for value in input.as_object_mut().expect("inputs").values_mut() {
                let referred = value.as_str().and_then(|text| text.strip_prefix("= "));
                if let Some((id, field)) = referred.and_then(|path| path.split_once('.')) {
                    *value = by_id[id][field].clone();
                }
            }
            Vector {
                id: one["id"].as_str().expect("an id").to_owned(),
                input,
                expected: one["expected"].clone(),
                tolerance: one["rel_tol"].as_f64().expect("a tolerance"),
            }
        })
        .collect()
}

impl Vector {
    /// An input of any kind.
    pub fn input(&self, name: &str) -> &Value {
        let value = &self.input[name];
        assert!(!value.is_null(), "{} has no input {name}", self.id);
        value
    }

    /// A list of numbers that goes in.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        serde_json::from_value(self.input(name).clone()).expect("numbers")
    }

    /// A number that goes in.
    pub fn number(&self, name: &str) -> f64 {
        self.input(name).as_f64().expect("a number")
    }

    /// What is expected under `name`; a dot leads inside.
    pub fn expected(&self, name: &str) -> &Value {
        let found =
            name.split('.').fold(&self.expected, |value, part| match part.parse::<usize>() {
                Ok(index) => &value[index],
                Err(_) => &value[part],
            });
        assert!(!found.is_null(), "{} expects nothing of {name}", self.id);
        found
    }

    /// Whether null is expected under `name`.
    pub fn expects_null(&self, name: &str) -> bool {
        self.expected.get(name).is_some_and(Value::is_null)
    }

    /// Asserts that numbers are what is expected.
    pub fn near(&self, found: &[(&str, f64)]) {
        for (name, found) in found {
            let expected = self.expected(name).as_f64().expect("a number");
            let off = (found - expected).abs();
            let most = self.tolerance * expected.abs().max(1.0);
            assert!(off <= most, "{} {name}: {found}, expected {expected}", self.id);
        }
    }

    /// Asserts that p-values are what is expected: tiny ones to a millionth of their logarithm.
    pub fn near_p(&self, found: &[(&str, f64)]) {
        for (name, found) in found {
            let expected = self.expected(name).as_f64().expect("a number");
            if expected >= 1e-6 {
                self.near(&[(name, *found)]);
                continue;
            }
            let off = (found.log10() - expected.log10()).abs();
            assert!(off <= 1e-6, "{} {name}: {found}, expected {expected}", self.id);
        }
    }

    /// Asserts a pair such as an interval.
    pub fn near_pair(&self, name: &str, found: (f64, f64)) {
        self.near(&[(&format!("{name}.0"), found.0), (&format!("{name}.1"), found.1)]);
    }

    /// Asserts a list of numbers.
    pub fn near_list(&self, name: &str, found: &[f64]) {
        let count = self.expected(name).as_array().expect("a list").len();
        assert_eq!(found.len(), count, "{} {name}", self.id);
        for (index, found) in found.iter().enumerate() {
            self.near(&[(&format!("{name}.{index}"), *found)]);
        }
    }

    /// Asserts whole numbers, words and truths.
    pub fn equal(&self, found: &[(&str, Value)]) {
        for (name, found) in found {
            assert_eq!(self.expected(name), found, "{} {name}", self.id);
        }
    }
}
