//! Models in JSON: by their names.

use foretell_trace::Model;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<S: Serializer>(model: &Option<Model>, serializer: S) -> Result<S::Ok, S::Error> {
    model.map(Model::name).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Model>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let unknown = || D::Error::custom(format_args!("unknown model `{name}`"));
    Model::from_name(&name).map(Some).ok_or_else(unknown)
}
