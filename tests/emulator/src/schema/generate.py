#!/usr/bin/env python3
"""Writes the tables beside this file from the Go source of Kubernetes.

usage: generate.py VERSION, for instance 0.35.4; the modules k8s.io/api and k8s.io/apimachinery of that version must be
in Go's module cache. Fields are written in the order of the source, which is the order in which the server writes them.
"""
import os
import re
import subprocess
import sys

VERSION = sys.argv[1]
CACHE = subprocess.check_output(["go", "env", "GOMODCACHE"], text=True).strip()
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = [
    ("meta", "apimachinery@v%s/pkg/apis/meta/v1/types.go"),
    ("core", "api@v%s/core/v1/types.go"),
    ("apps", "api@v%s/apps/v1/types.go"),
    ("rbac", "api@v%s/rbac/v1/types.go"),
    ("autoscaling", "api@v%s/autoscaling/v1/types.go"),
    ("authorization", "api@v%s/authorization/v1/types.go"),
]
ROOTS = {
    "meta": ["DeleteOptions", "ObjectMeta"],
    "core": ["Namespace", "Node", "Pod", "Event", "ResourceQuota", "PersistentVolumeClaim"],
    "apps": ["Deployment", "ReplicaSet"],
    "rbac": ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
    "autoscaling": ["Scale"],
    "authorization": ["SelfSubjectAccessReview", "SelfSubjectRulesReview"],
}
# What has its own way of being read and written, and is no struct here.
SPECIAL = {"Time", "MicroTime", "FieldsV1", "Duration", "IntOrString", "Quantity", "RawExtension", "UID", "Verbs"}
BASE = {"string", "bool", "int32", "int64", "int", "float64", "byte"}


def markers(comments):
    found = {}
    for line in comments:
        match = re.match(r"//\s*\+(?:k8s:)?(\w+)(?:=(.*))?$", line)
        if match:
            found.setdefault(match.group(1), []).append((match.group(2) or "").strip().strip('"'))
    return found


def read(path):
    """The structs and the named scalars of a file."""
    structs, scalars, comments, current = {}, {}, [], None
    for raw in open(path):
        line = raw.strip()
        if line.startswith("//"):
            comments.append(line)
            continue
        if current is None:
            match = re.match(r"type (\w+) struct \{$", line)
            if match:
                current = match.group(1)
                structs[current] = (markers(comments), [])
            elif match := re.match(r"type (\w+) (string|bool|int32|int64|\[\]\w+|map\[\w+\][\w.]+)$", line):
                scalars[match.group(1)] = match.group(2)
            if line:
                comments = []
        elif line == "}":
            current, comments = None, []
        elif line:
            match = re.match(r'(?:(\w+)\s+)?([\w.*\[\]]+)\s+`(.*)`', line)
            if match:
                tag = re.search(r'json:"([^"]*)"', match.group(3))
                strategy = re.search(r'patchStrategy:"([^"]*)"', match.group(3))
                key = re.search(r'patchMergeKey:"([^"]*)"', match.group(3))
                structs[current][1].append(
                    (match.group(2), tag.group(1) if tag else "", strategy and strategy.group(1), key and key.group(1), markers(comments))
                )
            comments = []
    return structs, scalars


ALL = {name: read(os.path.join(CACHE, "k8s.io", path % VERSION)) for name, path in SOURCES}


def find(name, home):
    """Where a type is declared: in its own file, or by its package."""
    package, _, bare = name.rpartition(".")
    order = {"metav1": ["meta"], "v1": ["core"], "": [home]}.get(package, [])
    for file in order:
        for kind in (0, 1):
            if bare in ALL[file][kind]:
                return file, bare, kind
    return None


def bare(gotype):
    return re.sub(r"^(\*|\[\]|map\[[\w.]+\])+", "", gotype)


def shown(gotype):
    return re.sub(r"\b(metav1|v1|types|resource|intstr|runtime)\.", "", gotype)


def fields(name, home):
    out = []
    for gotype, tag, strategy, key, marks in ALL[home][0][name][1]:
        json_name, _, options = tag.partition(",")
        if "inline" in options or (not json_name and not options):
            if bare(gotype).endswith("TypeMeta"):
                out += [("kind", "string", ["?"]), ("apiVersion", "string", ["?"])]
            else:
                where = find(bare(gotype), home)
                out += fields(where[1], where[0])
            continue
        if json_name == "-":
            continue
        flags = []
        if "omitempty" in options:
            flags.append("?")
        if "omitzero" in options:
            flags.append("zero")
        if strategy:
            flags.append("patch=" + strategy)
        if key:
            flags.append("key=" + key)
        if "listType" in marks:
            kind = marks["listType"][0]
            flags.append("list=" + (",".join(marks["listMapKey"]) if kind == "map" else kind))
        if "atomic" in marks.get("mapType", []) + marks.get("structType", []):
            flags.append("atomic")
        if "default" in marks and not marks["default"][0].startswith(("ref(", "{")):
            flags.append("default=" + marks["default"][0])
        out.append((json_name, gotype, flags))
    return out


queue = [(name, home) for home, names in ROOTS.items() for name in names]
done, tables = {}, {file: [] for file, _ in SOURCES}
while queue:
    name, home = queue.pop(0)
    if name in done:
        assert done[name] == home, (name, home, done[name])
        continue
    done[name] = home
    marks, _ = ALL[home][0][name]
    lines = ["type " + name + (" atomic" if "atomic" in marks.get("structType", []) else "")]
    for json_name, gotype, flags in fields(name, home):
        lines.append("  " + " ".join([json_name, shown(gotype)] + flags))
        for part in [bare(gotype)] + re.findall(r"map\[([\w.]+)\]", gotype):
            short = part.rpartition(".")[2]
            if short in SPECIAL or short in BASE:
                continue
            where = find(part, home)
            assert where, (name, gotype)
            if where[2] == 0:
                queue.append((where[1], where[0]))
            elif short not in done:
                done[short] = where[0]
                base = ALL[where[0]][1][short]
                tables[where[0]].append("name %s %s" % (short, shown(base)))
    tables[home].append("\n".join(lines))

for file, blocks in tables.items():
    blocks.sort(key=lambda block: (not block.startswith("name "), block))
    with open(os.path.join(HERE, file + ".txt"), "w") as out:
        out.write("# Made by generate.py from k8s.io %s (Apache-2.0). schema.rs says what a line means.\n" % VERSION)
        names = [block for block in blocks if block.startswith("name ")]
        types = [block for block in blocks if not block.startswith("name ")]
        out.write("\n".join(names) + ("\n\n" if names else "") + "\n\n".join(types) + "\n")
