//! Makes what `kubectl` prints in one run comparable with another: without ages, ids and the widths of columns.

use crate::names::Names;
use crate::served::SERVED;

/// What is compared of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Every line.
    Lines,
    /// Every line, in alphabetical order: where the order is chance.
    Sorted,
    /// The headings of a description, for what the emulator has no values of.
    Headings,
    /// The lines about the resources that both servers serve.
    Served,
    /// Without the lines that say what is still waited for.
    Outcome,
}

/// The lines of an output as they are compared.
pub fn lines(names: &mut Names, text: &str, form: Form) -> Vec<String> {
    let mut out: Vec<String> = text.lines().map(|text| line(names, text)).collect();
    // What client libraries log, with the time in front.
    out.retain(|line| !is_log(line));
    // Annotations that tell the emulator what a container does may change without a look at the real cluster.
    out.retain(|line| !line.contains("kube-emulator/"));
    match form {
        Form::Lines => sort_events(&mut out),
        Form::Sorted => {
            out.iter_mut().for_each(|line| *line = line.trim().to_owned());
            out.sort();
        }
        Form::Headings => {
            out.retain(|line| line.contains(':') && !line.starts_with(' '));
            out.iter_mut().for_each(|line| *line = line.split(':').next().unwrap_or_default().to_owned());
        }
        Form::Served => {
            out.retain(|line| {
                // Events are in two groups, and one serves all that is read here.
                let first = line.split(['.', ' ']).next().unwrap_or_default();
                first == "NAME"
                    || !line.contains("events.k8s.io") && SERVED.contains(&first.rsplit('/').next().unwrap_or_default())
            });
            out.sort();
        }
        Form::Outcome => out.retain(|line| !line.starts_with("Waiting for ")),
    }
    out
}

/// Events of one second come in any order: those of a description, below the two lines of their heads.
fn sort_events(lines: &mut [String]) {
    let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at] == "Events:").collect();
    for start in starts {
        let from = (start + 3).min(lines.len());
        let length = lines[from..].iter().take_while(|line| line.starts_with(' ')).count();
        lines[from..from + length].sort();
    }
}

/// The starts of lines whose rest is made up by the server.
const MADE_UP: [(&str, &str); 10] = [
    ("Container ID:", "{id}"),
    ("Image ID:", "{id}"),
    ("- containerID:", "{id}"),
    ("containerID:", "{id}"),
    ("imageID:", "{id}"),
    ("resourceVersion:", "{version}"),
    ("\"resourceVersion\":", "{version}"),
    ("hostIP:", "{ip}"),
    ("- ip:", "{ip}"),
    ("Node:  ", "{node}/{ip}"),
];

fn line(names: &mut Names, text: &str) -> String {
    for mark in ["pod-template-hash=", "pod-template-hash: "] {
        if let Some((_, rest)) = text.split_once(mark) {
            names.hash(rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default());
        }
    }
    // What is indented is a part of what is above; columns are parted by two blanks or more, whatever their width.
    let indent = " ".repeat(text.len() - text.trim_start().len());
    let mut columns: Vec<String> = Vec::new();
    for column in text.trim().split("  ").map(str::trim).filter(|column| !column.is_empty()) {
        columns.push(cell(names, column));
    }
    let line = columns.join("  ");
    if let Some((start, name)) = MADE_UP.iter().find(|(start, _)| line.starts_with(start))
        && !line.ends_with("<none>")
    {
        return format!("{indent}{} {name}", start.trim_end());
    }
    // In the order of their hashes.
    if let Some(sets) = line.strip_prefix("OldReplicaSets:  ") {
        let mut sets: Vec<&str> = sets.split(", ").collect();
        sets.sort_unstable();
        return format!("{indent}OldReplicaSets:  {}", sets.join(", "));
    }
    format!("{indent}{line}")
}

fn cell(names: &mut Names, text: &str) -> String {
    if is_age(text) {
        return "{age}".to_owned();
    }
    // Repeated: how often within how long is chance.
    if let Some((age, rest)) = text.split_once(" (x")
        && is_age(age)
        && rest.contains(" over ")
    {
        return "{age}".to_owned();
    }
    // Restarts, with the time of the last one.
    if let Some((count, rest)) = text.split_once(" (")
        && count.parse::<u32>().is_ok()
        && rest.strip_suffix(" ago)").is_some_and(is_age)
    {
        return format!("{count} ({{age}} ago)");
    }
    if is_date(text) {
        return "{time}".to_owned();
    }
    // A label of a description and its value may be parted by one blank only.
    if let Some((label, value)) = text.split_once(": ")
        && (is_age(value) || is_date(value))
    {
        return format!("{label}: {{time}}");
    }
    names.text(text)
}

/// As in `I1130 20:01:02.123456    1149 reflector.go:578] ...`.
fn is_log(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    first.len() == 5
        && first.starts_with(['I', 'W', 'E'])
        && first[1..].chars().all(|c| c.is_ascii_digit())
        && text.split_once("] ").is_some_and(|(head, _)| head.contains(".go:"))
}

/// As `kubectl` writes them: 5s, 2m3s, 3h, 4d2h.
fn is_age(text: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit();
    let parts: Vec<&str> = text.split(['s', 'm', 'h', 'd']).collect();
    text.len() >= 2
        && text.ends_with(['s', 'm', 'h', 'd'])
        && parts.iter().rev().skip(1).all(|part| !part.is_empty() && part.chars().all(digits))
}

/// As in `Mon, 30 Nov 2026 20:01:02 +0000`.
fn is_date(text: &str) -> bool {
    let pattern = "aaa, dd aaa dddd dd:dd:dd +dddd";
    let fits = |(c, p): (char, char)| match p {
        'a' => c.is_ascii_alphabetic(),
        'd' => c.is_ascii_digit(),
        other => c == other,
    };
    text.len() == pattern.len() && text.chars().zip(pattern.chars()).all(fits)
}
