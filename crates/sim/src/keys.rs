//! Which keys a table of parameters may have, asked of its type.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// The keys of a struct that is read from a table; none of anything else.
pub(crate) fn keys_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut found: &'static [&'static str] = &[];
    // It ends as an error: the fields are all that is asked for.
    let _ = T::deserialize(Fields(&mut found));
    found
}

/// Notes the fields that a struct asks for, and gives none.
struct Fields<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("its fields are known"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::Parameters;

    #[test]
    fn a_struct_tells_its_keys_and_nothing_else_has_any() {
        assert!(keys_of::<Parameters>().contains(&"map_unit_bytes"));
        assert!(!keys_of::<Parameters>().contains(&"unknown field"));
        assert!(keys_of::<Vec<u64>>().is_empty());
    }
}
