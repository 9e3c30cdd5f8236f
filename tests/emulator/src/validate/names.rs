//! What names, labels, ports and such may look like.

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

fn regex(says: &str, expression: &str, examples: &[&str]) -> String {
    let examples: Vec<_> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{says} (e.g. {}regex used for validation is '{expression}')", examples.join(" or "))
}

fn is_label(name: &str) -> bool {
    let bytes = name.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    bytes.first().is_some_and(plain)
        && bytes.last().is_some_and(plain)
        && bytes.iter().all(|byte| plain(byte) || *byte == b'-')
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

fn is_key(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

/// A prefix of a name may end in what a name may not.
fn whole(name: &str, prefix: bool) -> String {
    match name.strip_suffix('-') {
        Some(start) if prefix && name.len() > 1 => format!("{start}a"),
        _ => name.to_owned(),
    }
}

/// A name of most objects, or the beginning of one.
pub fn subdomain(name: &str, prefix: bool) -> Vec<String> {
    subdomain_of(&whole(name, prefix), "characters")
}

fn subdomain_of(name: &str, unit: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 253 {
        wrong.push(format!("must be no more than 253 {unit}"));
    }
    if !is_subdomain(name) {
        let says = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                    and must start and end with an alphanumeric character";
        wrong.push(regex(says, &format!("{LABEL}(\\.{LABEL})*"), &["example.com"]));
    }
    wrong
}

/// A name of a namespace or a container.
pub fn label(name: &str, prefix: bool) -> Vec<String> {
    let name = whole(name, prefix);
    let mut wrong = Vec::new();
    if name.len() > 63 {
        wrong.push("must be no more than 63 characters".to_owned());
    }
    if !is_label(&name) {
        wrong.push(if is_subdomain(&name) {
            "must not contain dots".to_owned()
        } else {
            let says = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                        start and end with an alphanumeric character";
            regex(says, LABEL, &["my-name", "123-abc"])
        });
    }
    wrong
}

/// What can stand in a path.
pub fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    let illegal = ["/", "%"].into_iter().filter(|illegal| name.contains(illegal));
    illegal.map(|illegal| format!("may not contain '{illegal}'")).collect()
}

/// A key of a label, an annotation or a resource.
pub fn qualified(key: &str) -> Vec<String> {
    let says = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
                character";
    let examples = ["MyName", "my.name", "123-abc"];
    let mut wrong = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => (*name).to_owned(),
        [prefix, name] => {
            if prefix.is_empty() {
                wrong.push("prefix part must be non-empty".to_owned());
            } else {
                wrong.extend(subdomain_of(prefix, "bytes").into_iter().map(|why| format!("prefix part {why}")));
            }
            (*name).to_owned()
        }
        _ => {
            let why = regex(says, KEY, &examples);
            let more = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {why} {more}")];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrong.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_key(&name) {
        wrong.push(format!("name part {}", regex(says, KEY, &examples)));
    }
    wrong
}

/// A value of a label.
pub fn label_value(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_key(value) {
        let says = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                    must start and end with an alphanumeric character";
        wrong.push(regex(says, &format!("({KEY})?"), &["MyValue", "my_value", "12345"]));
    }
    wrong
}

/// A name of a port.
pub fn port_name(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 15 {
        wrong.push("must be no more than 15 characters".to_owned());
    }
    let mut complain = |when: bool, why: &str| {
        if when {
            wrong.push(why.to_owned());
        }
    };
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let all = !name.is_empty() && name.bytes().all(allowed);
    complain(!all, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    complain(!name.bytes().any(|byte| byte.is_ascii_lowercase()), "must contain at least one letter (a-z)");
    complain(name.contains("--"), "must not contain consecutive hyphens");
    complain(name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen");
    wrong
}

/// A number of a port.
pub fn port_number(number: i64) -> Vec<String> {
    range(number, 1, 65535)
}

/// A number that must lie between two others.
pub fn range(number: i64, low: i64, high: i64) -> Vec<String> {
    if (low..=high).contains(&number) {
        Vec::new()
    } else {
        vec![format!("must be between {low} and {high}, inclusive")]
    }
}

/// A name of an environment variable.
pub fn variable(name: &str) -> Vec<String> {
    if name.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b'=') {
        return Vec::new();
    }
    vec!["a valid environment variable name must consist only of printable ASCII characters other than '='".to_owned()]
}

/// A share such as `25%`.
pub fn percent(text: &str) -> Vec<String> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let says = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![regex(says, "[0-9]+%", &["1%", "93%"])]
}
