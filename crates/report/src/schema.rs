//! The form of what is printed as JSON, as a JSON Schema.

use serde_json::{Map, Value, json};

/// The schema of everything that is printed as JSON.
pub const SCHEMA: &str = include_str!("../../../docs/report.schema.json");

/// The kinds of what is printed: each is a definition of the schema.
pub const KINDS: [&str; 5] = ["report", "decision", "exploration", "program", "statistics"];

/// The schema of one kind alone.
pub fn of(kind: &str) -> serde_json::Result<String> {
    let mut schema: Map<String, Value> = serde_json::from_str(SCHEMA)?;
    schema.remove("anyOf");
    schema.insert("$ref".to_string(), json!(format!("#/$defs/{kind}")));
    let mut text = serde_json::to_string_pretty(&schema)?;
    text.push('\n');
    Ok(text)
}

/// The schema as those want it who would rather notice fields that it does not describe than pass over them.
pub fn strict() -> serde_json::Result<Value> {
    let mut schema = serde_json::from_str(SCHEMA)?;
    close(&mut schema);
    Ok(schema)
}

/// Allows no other fields than those that are described.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            // A field may be called like that as well, but then it is no list of fields.
            let is_object = fields.get("type").is_some_and(|kind| kind == "object");
            if is_object && fields.contains_key("properties") {
                fields.insert("additionalProperties".to_string(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
