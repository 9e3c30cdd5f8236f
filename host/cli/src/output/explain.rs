//! What a person reads who asks why a workload is in its state: the answer first, then what would help, then the
//! evidence in groups, and what happened last at the end, next to the prompt.

pub mod reasons;

use workload_host::model::{Ownership, Status, Workload};

use super::layout::GAP;
use super::style::{self, BUSY, ERROR, HEAD};
use super::table::plain;
use super::terminal::Look;
use super::width;

/// What would have to change.
const ADVICE: &str = "advice";

/// A permission that was missing.
const NOT_ALLOWED: &str = "not-allowed";

/// The kinds of facts that are known, with what stands above them, in their order. Others come after them, by their own names.
const KINDS: [(&str, &str); 5] = [
    ("condition", "Conditions"),
    ("replica-set", "Replica sets"),
    ("pod", "Pods"),
    ("container", "Containers"),
    ("event", "Last events"),
];

/// A line of a group.
struct Item {
    /// What it is about; nothing for what says so itself.
    name: String,
    value: String,
    /// It belongs to the one above.
    within: bool,
}

impl Item {
    fn new(name: &str, value: &str) -> Item {
        Item { name: plain(name), value: plain(value), within: false }
    }
}

/// Lines that belong together.
struct Group {
    head: String,
    items: Vec<Item>,
}

/// What the provider says that would have to change, or what else can be done.
pub fn advice(workload: &Workload, as_owner: &Ownership) -> Option<String> {
    let said = workload.facts.iter().find(|(name, _)| name == ADVICE).map(|(_, value)| value.clone());
    said.or_else(|| reasons::advice(workload, as_owner))
}

/// Why the workload is in its state.
pub fn explanation(workload: &Workload, as_owner: &Ownership, look: Look) -> String {
    let mut text = answer(workload, as_owner, look);
    for group in groups(workload).iter().filter(|group| !group.items.is_empty()) {
        text.push('\n');
        group.put(&mut text, look);
    }
    if workload.facts.is_empty() && is_known(workload) {
        text.push_str("\nthe provider gives no evidence\n");
    }
    text
}

/// The state in one line, and below what it means and what would help.
fn answer(workload: &Workload, as_owner: &Ownership, look: Look) -> String {
    let id = plain(&workload.id);
    let word = look.paint.on(style::status(workload.status), workload.status.word());
    let mut text = format!("{}{GAP}{word}{GAP}{}\n", look.paint.on(HEAD, &id), plain(&workload.reason));
    let mut items = Vec::new();
    let mut say = |name: &str, value: &str| {
        if !value.is_empty() {
            items.push(Item::new(name, value));
        }
    };
    say("message", workload.message.as_deref().unwrap_or_default());
    say("meaning", reasons::meaning(workload.status, &workload.reason).unwrap_or_default());
    say("rule", &workload.rule);
    if !workload.settled && is_known(workload) {
        say("settled", "no, the engine is still moving to what was asked");
    }
    if workload.serving_old {
        say("serving", "an older revision answers, the newest does not");
    }
    say("advice", &advice(workload, as_owner).unwrap_or_default());
    for (_, value) in workload.facts.iter().filter(|(name, _)| name == NOT_ALLOWED) {
        say("not seen", &format!("not allowed to {value}"));
    }
    put(&mut text, &items, "", look);
    text
}

/// There is one, and something is known of it.
fn is_known(workload: &Workload) -> bool {
    !matches!(workload.status, Status::Missing | Status::Unknown)
}

/// What is known, and of what.
fn groups(workload: &Workload) -> Vec<Group> {
    let mut groups = vec![state(workload), Group { head: "Facts".to_owned(), items: Vec::new() }];
    groups.extend(KINDS.map(|(_, head)| Group { head: head.to_owned(), items: Vec::new() }));
    for (name, value) in &workload.facts {
        if matches!(name.as_str(), ADVICE | NOT_ALLOWED) {
            continue;
        }
        let Some((kind, name)) = name.split_once(' ') else {
            push(&mut groups, "Facts", Item::new(name, value));
            continue;
        };
        let known = KINDS.iter().find(|(known, _)| *known == kind);
        match (kind, known) {
            // They are told in order, and begin with what happened.
            ("event", Some((_, head))) => push(&mut groups, head, Item::new("", value)),
            ("container", Some((_, head))) => container(&mut groups, head, name, value),
            (_, Some((_, head))) => push(&mut groups, head, Item::new(name, value)),
            (_, None) => push(&mut groups, kind, Item::new(name, value)),
        }
    }
    // Next to the prompt stands what happened last.
    if let Some(at) = groups.iter().position(|group| group.head == "Last events") {
        let events = groups.remove(at);
        groups.push(events);
    }
    groups
}

/// What the object itself says, whatever the provider.
fn state(workload: &Workload) -> Group {
    let mut items = Vec::new();
    let mut say = |name: &str, value: Option<&str>| {
        items.extend(value.filter(|value| !value.is_empty()).map(|value| Item::new(name, value)));
    };
    let ready = format!("{} of {} available", workload.available, workload.desired);
    say("ready", is_known(workload).then_some(&ready));
    say("image", workload.image.as_deref());
    say("node", workload.node.as_deref());
    say("address", workload.address.as_deref());
    say("created", workload.created.as_deref());
    say("owner", workload.owner.as_deref());
    say("uid", workload.uid.as_deref());
    // Of what nothing is known, it is what was asked for, and no state.
    if !items.is_empty() && !workload.kind.is_empty() {
        items.insert(0, Item::new("kind", &workload.kind));
    }
    Group { head: "State".to_owned(), items }
}

fn push(groups: &mut Vec<Group>, head: &str, item: Item) {
    match groups.iter_mut().find(|group| group.head == head) {
        Some(group) => group.items.push(item),
        None => groups.push(Group { head: plain(head), items: vec![item] }),
    }
}

/// A container is named after its Pod, and stands below it.
fn container(groups: &mut Vec<Group>, head: &str, name: &str, value: &str) {
    if let Some((pod, own)) = name.split_once('/')
        && let Some(pods) = groups.iter_mut().find(|group| group.head == "Pods")
        && let Some(at) = pods.items.iter().position(|item| !item.within && item.name == plain(pod))
    {
        let others = pods.items.iter().skip(at + 1).take_while(|item| item.within).count();
        pods.items.insert(at + 1 + others, Item { within: true, ..Item::new(own, value) });
        return;
    }
    push(groups, head, Item::new(name, value));
}

impl Group {
    fn put(&self, text: &mut String, look: Look) {
        text.push_str(&look.paint.on(HEAD, &self.head));
        text.push('\n');
        put(text, &self.items, GAP, look);
    }
}

/// Names in one column and values in another. On a narrow terminal a value goes on below itself, or below its name where
/// a column of values would be too narrow to be read.
fn put(text: &mut String, items: &[Item], indent: &str, look: Look) {
    let begin = |item: &Item| indent.len() + if item.within { GAP.len() } else { 0 };
    let name_end =
        |item: &Item| if item.name.is_empty() { 0 } else { begin(item) + width::columns(&item.name) + GAP.len() };
    let column = items.iter().map(name_end).max().unwrap_or(0);
    let whole = look.width.unwrap_or(usize::MAX);
    let beside = whole.saturating_sub(column) >= whole / 2;
    for item in items {
        let at = if beside && !item.name.is_empty() { column } else { begin(item) + GAP.len() };
        let lines = lines(&item.value, whole.saturating_sub(at).max(1));
        let mut lines = lines.iter().map(|line| painted(item, line, look));
        let mut line = " ".repeat(begin(item));
        if item.name.is_empty() {
            line.push_str(&lines.next().unwrap_or_default());
        } else {
            line.push_str(&item.name);
            if beside && let Some(value) = lines.next() {
                line.push_str(&" ".repeat(column.saturating_sub(begin(item) + width::columns(&item.name))));
                line.push_str(&value);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
        for line in lines {
            text.push_str(&" ".repeat(at));
            text.push_str(&line);
            text.push('\n');
        }
    }
}

/// What fits stays as it is, blanks included.
fn lines(value: &str, room: usize) -> Vec<String> {
    if width::columns(value) <= room { vec![value.to_owned()] } else { width::wrap(value, room) }
}

/// Colour where the eye is to go: to what helps, and to events that warn.
fn painted(item: &Item, line: &str, look: Look) -> String {
    match (item.name.as_str(), line.strip_prefix("Warning ")) {
        ("not seen", _) => look.paint.on(ERROR, line),
        ("advice", _) => look.paint.on(HEAD, line),
        ("", Some(rest)) => format!("{} {rest}", look.paint.on(BUSY, "Warning")),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
#[path = "explain/tests.rs"]
mod tests;
