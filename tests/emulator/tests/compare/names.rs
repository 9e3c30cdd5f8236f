//! Makes text of one run comparable with that of another: what a server makes up (uids, hashes, random names, times,
//! addresses) gets a name that tells what it is.

use std::collections::BTreeMap;

/// The letters of generated names and hashes: no vowels, nothing that looks like another.
const GENERATED: &str = "bcdfghjklmnpqrstvwxz2456789";

/// What was seen in a chapter so far.
#[derive(Default)]
pub struct Names {
    /// Text to replace first, longest first: the chapter's namespace, the node.
    fixed: Vec<(String, String)>,
    uids: BTreeMap<String, String>,
    /// How many uids belonged to each name.
    owners: BTreeMap<String, usize>,
    hashes: Vec<String>,
    versions: Vec<String>,
}

impl Names {
    /// Replaces this text wherever it occurs as a whole word.
    pub fn fix(&mut self, text: &str, name: &str) {
        self.fixed.push((text.to_owned(), name.to_owned()));
        self.fixed.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    }

    /// Remembers that a uid is the one of an object of this name. An object made again under the same name is counted.
    pub fn uid(&mut self, uid: &str, name: &str) {
        if self.uids.contains_key(uid) || !is_uid(uid) {
            return;
        }
        let name = self.text(name);
        let before = self.owners.get(&name).copied().unwrap_or_default();
        self.owners.insert(name.clone(), before + 1);
        // Which of several objects with a random name came first is chance.
        let chance = name.contains("{random}") || name.contains("{event}");
        let count = if before == 0 || chance { String::new() } else { format!(" {}", before + 1) };
        self.uids.insert(uid.to_owned(), format!("{{uid of {name}{count}}}"));
    }

    /// The number of a resource version in the order of first sight.
    pub fn version(&mut self, version: &str) -> String {
        let at = self.versions.iter().position(|known| known == version).unwrap_or_else(|| {
            self.versions.push(version.to_owned());
            self.versions.len() - 1
        });
        format!("{{version {}}}", at + 1)
    }

    /// Remembers the hash of a Pod template.
    pub fn hash(&mut self, hash: &str) -> String {
        let at = self.hashes.iter().position(|known| known == hash).unwrap_or_else(|| {
            self.hashes.push(hash.to_owned());
            self.hashes.len() - 1
        });
        format!("{{hash {}}}", at + 1)
    }

    /// Text without what differs from run to run.
    pub fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (known, name) in &self.fixed {
            text = replace_word(&text, known, name);
        }
        let mut out = String::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            if end > 0 {
                // A full stop at the end of a sentence is no part of the word.
                let word = rest[..end].trim_end_matches(['.', ':']);
                out.push_str(&self.word(word));
                out.push_str(&rest[word.len()..end]);
                rest = &rest[end..];
            } else {
                let next = rest.chars().next().map_or(1, char::len_utf8);
                out.push_str(&rest[..next]);
                rest = &rest[next..];
            }
        }
        out = without_repeats(&without_objects(&out));
        if out.to_lowercase().contains("version") && out.contains(|c: char| c.is_ascii_digit()) {
            out = without_versions(&out);
        }
        out
    }

    fn word(&mut self, word: &str) -> String {
        if is_uid(word) {
            return self
                .uids
                .get(word)
                .cloned()
                .unwrap_or_else(|| if word.ends_with("000000000000") { word.to_owned() } else { "{uid}".to_owned() });
        }
        if is_time(word) {
            return "{time}".to_owned();
        }
        if is_address(word) {
            return "{ip}".to_owned();
        }
        // The scheduler signs Events with the name of the machine it runs on.
        if word.starts_with("default-scheduler-") {
            return "default-scheduler-{host}".to_owned();
        }
        if self.hashes.iter().any(|known| known == word) {
            return self.hash(word);
        }
        // The digest of a certificate.
        if word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit()) {
            return "{digest}".to_owned();
        }
        // The start of generated names.
        if let Some(start) = word.strip_suffix('-') {
            return format!("{}-", self.word(start));
        }
        if let Some((name, hex)) = word.rsplit_once('.')
            && hex.len() == 16
            && hex.chars().all(|c| c.is_ascii_hexdigit())
        {
            return format!("{}.{{event}}", self.word(name));
        }
        let parts: Vec<&str> = word.split('-').collect();
        match parts.as_slice() {
            [prefix @ .., hash, random] if !prefix.is_empty() && self.is_hash(hash) && is_generated(random, 5..=5) => {
                format!("{}-{}-{{random}}", prefix.join("-"), self.hash(hash))
            }
            [prefix @ .., hash] if !prefix.is_empty() && self.is_hash(hash) => {
                format!("{}-{}", prefix.join("-"), self.hash(hash))
            }
            [prefix @ .., random] if !prefix.is_empty() && is_generated(random, 5..=5) => {
                format!("{}-{{random}}", prefix.join("-"))
            }
            _ => word.to_owned(),
        }
    }

    fn is_hash(&self, text: &str) -> bool {
        self.hashes.iter().any(|known| known == text) || is_generated(text, 7..=10)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':')
}

fn is_generated(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.len()) && text.chars().all(|c| GENERATED.contains(c))
}

fn is_uid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

/// RFC 3339 in UTC, with or without parts of a second.
fn is_time(text: &str) -> bool {
    let pattern = "dddd-dd-ddTdd:dd:dd";
    let fits = |(c, p): (char, char)| if p == 'd' { c.is_ascii_digit() } else { c == p };
    text.len() > pattern.len() && text.ends_with('Z') && text.chars().zip(pattern.chars()).all(fits)
}

fn is_address(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>().is_ok()
}

fn replace_word(text: &str, word: &str, with: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let before = rest[..at].chars().next_back().or(out.chars().next_back());
        let after = rest[at + word.len()..].chars().next();
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let name = if inside(before) || inside(after) { word } else { with };
        out.push_str(&rest[..at]);
        out.push_str(name);
        rest = &rest[at + word.len()..];
    }
    out + rest
}

/// Takes out whole objects that a message quotes: their fields come in the order of a Go structure.
fn without_objects(text: &str) -> String {
    let (start, end) = ("\"{\\\"apiVersion", "}\": ");
    let Some(from) = text.find(start) else { return text.to_owned() };
    let Some(length) = text[from..].find(end) else { return text.to_owned() };
    format!("{}\"{{object}}\": {}", &text[..from], &text[from + length + end.len()..])
}

/// Counts what is repeated for the sake of its length.
fn without_repeats(text: &str) -> String {
    const MANY: usize = 30;
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| c != first).unwrap_or(rest.len());
        let count = rest[..end].chars().count();
        if count < MANY {
            out.push_str(&rest[..end]);
        } else {
            out.push_str(&format!("{{{count} times {first}}}"));
        }
        rest = &rest[end..];
    }
    out
}

/// Replaces numbers that stand alone, in a text that speaks of versions.
fn without_versions(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[at..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| at + end);
        let before = rest[..at].chars().next_back().or(out.chars().next_back());
        let after = rest[end..].chars().next();
        let alone = before.is_none_or(|c| " (".contains(c)) && after.is_none_or(|c| " ),;.".contains(c));
        out.push_str(&rest[..at]);
        out.push_str(if alone { "{number}" } else { &rest[at..end] });
        rest = &rest[end..];
    }
    out + rest
}
