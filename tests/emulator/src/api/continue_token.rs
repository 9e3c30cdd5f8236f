//! The tokens of lists that are read in pages, in the form of the real server.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD};
use serde::{Deserialize, Serialize};

/// Where a list goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The version that the list is of; nothing for the newest one.
    pub version: Option<u64>,
    /// The path of the last key that was sent, below the namespace if the list is of one.
    pub after: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Wire {
    v: String,
    rv: i64,
    start: String,
}

/// Go minds no bits that are left over at the end.
const LENIENT: GeneralPurposeConfig = NO_PAD.with_decode_allow_trailing_bits(true);
const ENGINE: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

const VERSION: &str = "meta.k8s.io/v1";

impl Token {
    /// The text. A slash is at the beginning where the watch cache of the real server answers, and none where etcd does.
    pub fn encode(&self, slash: bool) -> String {
        let rv = self.version.map_or(-1, |version| i64::try_from(version).unwrap_or(i64::MAX));
        let slash = if slash { "/" } else { "" };
        let wire = Wire { v: VERSION.to_owned(), rv, start: format!("{slash}{}\0", self.after) };
        // Texts and a number can always be written.
        ENGINE.encode(serde_json::to_vec(&wire).unwrap_or_default())
    }

    /// Reads a text.
    ///
    /// # Errors
    /// With the message of the real server, where its words do not come from the depths of its libraries.
    pub fn decode(text: &str) -> Result<Token, String> {
        let invalid = |why: String| format!("continue key is not valid{why}");
        let bytes = ENGINE
            .decode(text)
            .map_err(|error| invalid(format!(": illegal base64 data at input byte {}", bad_byte(text, &error))))?;
        let wire: Wire =
            serde_json::from_slice(&bytes).map_err(|error| invalid(format!(": {}", json(&bytes, &error))))?;
        if wire.v != VERSION {
            return Err(invalid(format!(": server does not recognize this encoded version {}", wire.v)));
        }
        if wire.rv == 0 {
            return Err(invalid(format!(": incorrect encoded start resourceVersion (version {VERSION})")));
        }
        if wire.start.is_empty() {
            return Err(invalid(format!(": encoded start key empty (version {VERSION})")));
        }
        let path = wire.start.strip_prefix('/').unwrap_or(&wire.start);
        // Nothing outside of what is listed.
        if path.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
            return Err(invalid(format!(": {}", wire.start)));
        }
        let after = path.strip_suffix('\0').unwrap_or(path).to_owned();
        Ok(Token { version: u64::try_from(wire.rv).ok(), after })
    }
}

fn bad_byte(text: &str, error: &base64::DecodeError) -> usize {
    match error {
        base64::DecodeError::InvalidByte(index, _) => *index,
        base64::DecodeError::InvalidLastSymbol { offset, .. } => *offset,
        _ => text.len(),
    }
}

/// What Go says of the most common mistake, a text that is no JSON from its first byte on.
fn json(bytes: &[u8], error: &serde_json::Error) -> String {
    let space = |byte: &u8| b" \t\r\n".contains(byte);
    match bytes.iter().find(|byte| !space(byte)) {
        None => "unexpected end of JSON input".to_owned(),
        Some(first) if !b"{[\"-0123456789tfn".contains(first) => {
            format!("invalid character '{}' looking for beginning of value", char::from(*first))
        }
        Some(_) => error.to_string(),
    }
}
