#!/usr/bin/env python3
"""Checks a file of `svc evidence` without vault and hub: docs/evidence.md, and EVD-4 to EVD-12 of docs/protocol.md.

It needs Python 3.9 and nothing else, and shares no code with Cartorio. It prints a line for each thing that is false, and exits 0 when
all is as the file says and nothing stands out, 1 when something is false, 2 when a true file has something that stands out.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import sys
import tempfile

LABEL, BLOCK = "svc-evento-v1", 16
HEAD = ["format", "from", "to", "agente", "after", "until", "checkpoint", "key", "ca"]
FIELDS = "seq id agente_id tipo_evento entrega_id request_id payload timestamp hash_anterior hash_atual".split()
ISSUING = ["certificate_issued", "server_certificate_issued", "certificate_discarded"]
LOST = ["asked_at", "request", "hostname", "names", "csr_sha256", "key_sha256", "reason"]
# The kinds of lines, in their order.
ORDER = {"block": 0, "record": 0, "absent": 0, "certificate": 1, "lost": 2, "ca": 3, "end": 4}
LENGTH, SURROGATE = re.compile(rb"(0|[1-9][0-9]{0,8}):"), re.compile("[\ud800-\udfff]")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
# Whoever wrote the file may want to wear us out.
LINE_MAX, NOTE_MAX, SIGNATURES_MAX, FAULTS_MAX, SERIALS_MAX, NAMED_MAX = 1 << 23, 1 << 16, 100, 1000, 20_000_000, 1000
# With its line break.
LIST_LINE_MAX = 4097
# Which entries can say so.
SAYS = {
    "issued": ISSUING, "ca": [*ISSUING, "politica_set", "fleet_applied"], "lost": ["certificate_answer_lost"], "enrolled": ["agent_enrolled"],
    "token": ["token_created", "join_rule_created", "fleet_applied"], "rule": ["politica_set", "fleet_applied"],
    "load": ["carga_created", "carga_updated", "fleet_applied"],
    "retried": ["entrega_retried"], "rotated": ["agent_rotate_requested"], "recovered": ["identity_recovered"],
    "installed": ["cert_renewed", "entrega_instalada"], "served": ["alvo_aplicado"], "replaced": ISSUING[:2],
    "cancelled": ["entrega_cancelled"], "revoked": ["agent_revoked"], "revoked_at_ca": ["certificate_revoked_at_ca"],
    "not_revoked_at_ca": ["certificate_not_revoked_at_ca"], "superseded_used": ["certificate_superseded_used"],
}  # fmt: skip
LATER = ["recovered", "installed", "served", "replaced", "cancelled", "revoked", "revoked_at_ca", "not_revoked_at_ca", "superseded_used"]

# Ed25519, RFC 8032, 5.1 and 6.
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(s, p):
    q = (0, 1, 1, 0)
    while s > 0:
        if s & 1:
            q = add(q, p)
        p, s = add(p, p), s >> 1
    return q


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    x2 = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - x2) % P != 0 or (x == 0 and sign):
        raise ValueError("no point")
    x = P - x if (x & 1) != sign else x
    return x, y, 1, x * y % P


def is_signed(key, text, signature):
    try:
        a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    except ValueError:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % L
    left, right = multiply(s, BASE), add(r, multiply(h, a))
    same = all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))
    return len(signature) == 64 and s < L and same


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def open_checkpoint(note, key):
    """(size, root) of a signed note (c2sp.org/signed-note) that this key has signed."""
    name, digest, known = open_key(key)
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    lines = signatures.split("\n")
    if len(note) > NOTE_MAX or len(lines) > SIGNATURES_MAX + 1:
        raise ValueError("the checkpoint is too long")
    for line in lines:
        signer, _, blob = line.removeprefix("— ").partition(" ") if line.startswith("— ") else ("", "", "")
        data = base64.b64decode(blob, validate=True) if signer == name else b""
        if data[:4].hex() == digest and is_signed(known, text.encode(), data[4:]):
            origin, size, root = (text.split("\n") + ["", "", ""])[:3]
            tree = base64.b64decode(root, validate=True)
            if origin == name and re.fullmatch(r"0|[1-9][0-9]{0,15}", size) and len(tree) == 32:
                return int(size), tree
    raise ValueError("the checkpoint is not signed with this key")


def open_key(key):
    """Name, key hash and key of `name+hash+key`."""
    parts = key.split("+", 2)
    known = base64.b64decode(parts[2], validate=True) if len(parts) == 3 else b""
    if len(known) != 33 or known[0] != 1 or hashlib.sha256(parts[0].encode() + b"\n" + known).hexdigest()[:8] != parts[1]:
        raise ValueError("this is no key of a log")
    return parts[0], parts[1], known[1:]


# The tree: RFC 9162, 2.1.1 and 2.1.3.2.


def leaf_of(record):
    return hashlib.sha256(b"\0" + record).digest()


def node_of(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def root_of(leaves):
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node_of(root_of(leaves[:split]), root_of(leaves[split:]))


def leads_to(node, index, count, proof, root):
    last = count - 1
    for step in proof:
        if last == 0:
            return False
        if index % 2 == 1 or index == last:
            node = node_of(step, node)
            while index % 2 == 0 and index != 0:
                index, last = index // 2, last // 2
        else:
            node = node_of(node, step)
        index, last = index // 2, last // 2
    return last == 0 and node == root


def parse_record(data):
    """The fields of an entry: netstrings, `-,` for null."""
    fields, at = [], 0
    while at < len(data) and len(fields) <= len(FIELDS):
        if data[at : at + 2] == b"-,":
            fields.append(None)
            at += 2
            continue
        length = LENGTH.match(data, at)
        end = length.end() + int(length[1]) if length else len(data)
        if data[end : end + 1] != b",":
            raise ValueError("no netstring")
        fields.append(data[length.end() : end].decode())
        at = end + 1
    if at < len(data) or len(fields) != 1 + len(FIELDS) or fields[0] != LABEL:
        raise ValueError("no record")
    entry = dict(zip(FIELDS, fields[1:]))
    if any(entry[name] is None for name in ("seq", "tipo_evento", "payload", "timestamp")):
        raise ValueError("no record")
    if not re.fullmatch(r"[1-9][0-9]{0,15}", entry["seq"]) or not TIME.fullmatch(entry["timestamp"]):
        raise ValueError("no record")
    entry["seq"] = int(entry["seq"])
    return entry


def refuse(word):
    raise ValueError(f"{word[:20]} is no JSON")


def read_payload(text):
    """What is no object says nothing. A number may be longer than Python likes: JSON has only one kind."""
    try:
        payload = json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 16 else float(digits), parse_constant=refuse)
    except (ValueError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}


def read_line(text):
    """A line of the file, which has one spelling only."""
    value = json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 17 else refuse(digits), parse_float=refuse, parse_constant=refuse)
    if not isinstance(value, dict) or spell(value) != text:
        raise ValueError("this line is not written as svc writes it")
    return value


def spell(value):
    """As JavaScript does: half of a pair of surrogates is escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def members(value, *names):
    if not isinstance(value, dict) or list(value) != list(names):
        raise ValueError("this line has other members than it should")
    return value.values()


def whole(*numbers):
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("this line has no number where there should be one")
    return numbers


def plain(serial):
    return (serial or "").lower().lstrip("0") or ("0" if serial else "")


def parse_serial(text):
    """One spelling of what a line of a list says, or None."""
    both = re.fullmatch(r"([0-9]+) \((0x[0-9a-f]+)\)", text, re.I)
    if both:
        serial = parse_serial(both[1])
        return serial if serial == parse_serial(both[2]) else None
    if re.fullmatch(r"[0-9]{1,78}", text):
        return format(int(text), "x") if int(text) < 1 << 256 else None
    digits = re.sub(r"^(serial=|0x)?(0x)?", "", text, flags=re.I)
    if re.fullmatch(r"[0-9]+", text) or not re.fullmatch(r"[0-9a-f]+|[0-9a-f]{1,2}(:[0-9a-f]{2})+", digits, re.I):
        return None
    digits = digits.replace(":", "")
    return plain(digits) if len(digits) <= 64 else None


class Serials:
    """By the million, and not in memory: in files on disk, of which one at a time fits."""

    SALT, PARTS = os.urandom(16), 64

    def __init__(self):
        self.files, self.count = None, 0

    def add(self, serial, number):
        self.count += 1
        if self.count > SERIALS_MAX:
            raise Stop(f"there are more than {SERIALS_MAX} serials")
        if self.files is None:
            self.files = [tempfile.TemporaryFile("w+") for _ in range(self.PARTS)]
        # Nobody who writes a list can choose serials that all go into one file.
        part = hashlib.blake2b(serial.encode(), key=self.SALT, digest_size=1).digest()[0] % self.PARTS
        self.files[part].write(f"{serial} {number}\n")

    def parts(self):
        for file in self.files or [None] * self.PARTS:
            if file is not None:
                file.seek(0)
            yield ((serial, int(number)) for serial, number in map(str.split, file or ()))


class Stop(Exception):
    """More would help nobody."""


class Ledger:
    """What the entries say of certificates, worked out from EVD-7 to EVD-9."""

    def __init__(self, after, until):
        self.after, self.until = after, until
        self.certificates, self.serials = {}, {}
        self.tokens, self.enrolments, self.rules, self.loads = {}, {}, {}, {}
        self.retries, self.rotations, self.newest, self.unrevoked = {}, {}, {}, {}
        self.by_serial, self.by_sha256, self.by_delivery, self.lost = {}, {}, {}, {}
        self.last = None

    def add(self, entry):
        payload = read_payload(entry["payload"])
        text = {name: value for name, value in payload.items() if isinstance(value, str)}
        agent = entry["agente_id"]
        inside = self.after < entry["seq"] <= self.until
        actor = text.get("actor") if agent is None else "agent"
        fact = {"seq": entry["seq"], "at": entry["timestamp"], "actor": actor}
        if agent is None:
            self.add_act(entry, payload, text, fact, inside)
        elif inside:
            self.add_sent(entry, payload, text, fact, agent)

    def add_act(self, entry, payload, text, fact, inside):
        kind, agent, delivery = entry["tipo_evento"], text.get("agente_id", ""), entry["entrega_id"]
        if kind == "token_created":
            self.tokens[text.get("token_id")] = fact
        elif kind == "join_rule_created":
            self.tokens[text.get("join_rule_id")] = fact
        elif kind == "agent_enrolled":
            self.enrolments[agent] = {**fact, "token_id": text.get("token_id")}
            # Nobody made the host's own token: it was derived from the rule that somebody made.
            if text.get("join_rule_id") in self.tokens:
                self.tokens[text.get("token_id")] = self.tokens[text.get("join_rule_id")]
        elif kind == "certificate_answer_lost":
            said = {name: text.get(name) for name in LOST}
            self.lost[fact["seq"]] = {"seq": fact["seq"], "at": fact["at"], **said, "names": names_in(payload)}
        elif kind == "politica_set":
            self.rules[text.get("nome")] = fact
            if isinstance(payload.get("trial"), dict):
                self.note_serial(payload["trial"].get("serial"), fact)
        elif kind in ("carga_created", "carga_updated"):
            if is_load(payload):
                self.loads[text["carga_id"], payload["versao"]] = {**fact, "tipo_evento": kind}
        elif kind == "fleet_applied":
            self.add_fleet(payload, fact)
        elif kind == "entrega_retried":
            self.retries[delivery] = fact
        elif kind in ISSUING:
            self.note_serial(text.get("serial"), fact)
            if inside:
                self.issue(kind, payload, text, fact, delivery)
        elif not inside:
            return
        elif kind == "identity_recovered":
            if self.last and self.last["issued"]["seq"] == fact["seq"] - 1 and self.last["agente_id"] == agent:
                self.last["recovered"] = fact
        elif kind == "agent_rotate_requested":
            self.rotations[agent] = fact
        elif kind in ("certificate_revoked_at_ca", "certificate_not_revoked_at_ca"):
            first(self.by_sha256.get(text.get("sha256")), kind.replace("certificate_", ""), fact)
        elif kind == "certificate_superseded_used":
            first(self.by_serial.get((agent, plain(text.get("serial")))), "superseded_used", fact)
        elif kind == "entrega_cancelled":
            for one in self.by_delivery.get(delivery, []):
                first(one, "cancelled", fact)
        elif kind == "agent_revoked":
            for one in self.unrevoked.pop(agent, []):
                first(one, "revoked", fact)

    def add_sent(self, entry, payload, text, fact, agent):
        kind, delivery = entry["tipo_evento"], entry["entrega_id"]
        if kind == "cert_renewed":
            first(self.by_serial.get((agent, plain(text.get("new_serial")))), "installed", fact)
        elif kind == "entrega_instalada":
            newest = (self.by_delivery.get(delivery) or [None])[-1]
            one = self.by_serial.get((agent, plain(text.get("serial")))) if "serial" in payload else newest
            if one and one["agente_id"] == agent:
                first(one, "installed", fact)
        elif kind == "alvo_aplicado" and payload.get("probe") == "ok":
            first(self.by_serial.get((agent, plain(text.get("serial")))), "served", {**fact, "alvo": text.get("alvo")})

    def issue(self, kind, payload, text, fact, delivery):
        agent, purpose, politica = text.get("agente_id"), text.get("purpose"), text.get("politica")
        identity = purpose == "identity"
        wanted = ["request", "politica"] + (["carga_id", "versao"] if purpose == "delivery" else [])
        enrolled = self.enrolments.get(agent) if identity and agent else None
        one = {name: text.get(name) for name in ("serial", "sha256", "agente_id", "hostname")}
        one.update(names=names_in(payload), purpose=purpose, entrega_id=delivery)
        one.update((name, text.get(name)) for name in ("not_after", "request", "politica"))
        one["issued"], one["enrolled"] = fact, enrolled
        one["token"] = self.tokens.get(enrolled["token_id"]) if enrolled and enrolled["token_id"] else None
        one["rule"] = self.rules.get(politica) if politica else None
        one["load"] = self.loads.get((text["carga_id"], payload["versao"])) if is_load(payload) else None
        one["retried"] = self.retries.get(delivery) if delivery else None
        one["rotated"] = self.rotations.pop(agent, None) if identity and agent else None
        one.update(dict.fromkeys(LATER))
        one["not_recorded"] = [name for name in wanted if name not in payload] if kind == "certificate_issued" else []
        place = (agent or text.get("hostname"), "identity" if identity else text.get("carga_id") or delivery or purpose)
        if kind != "certificate_discarded":
            place = place if kind == "certificate_issued" else "the hub"
            first(self.newest.get(place), "replaced", fact)
            self.newest[place] = one
        self.last = self.certificates[fact["seq"]] = one
        self.by_serial[agent or "", plain(one["serial"])] = one
        if one["sha256"]:
            self.by_sha256[one["sha256"]] = one
        if delivery:
            self.by_delivery.setdefault(delivery, []).append(one)
        if agent:
            self.unrevoked.setdefault(agent, []).append(one)

    # One entry for all that an apply made and changed.
    def add_fleet(self, payload, fact):
        for change in objects_in(payload.get("changes")):
            kind, action = change.get("kind"), change.get("action")
            text = {name: value for name, value in change.items() if isinstance(value, str) and value}
            if action not in ("create", "update"):
                continue
            if kind in ("politica", "politica_seletor"):
                self.rules[text.get("nome")] = fact
            if kind == "join_rule" and action == "create":
                self.tokens[text.get("join_rule_id")] = fact
            fields = change.get("fields")
            is_next = action == "create" or (isinstance(fields, list) and "sans" in fields)
            if kind == "carga" and is_next and is_load(change):
                self.loads[text["carga_id"], change["versao"]] = {**fact, "tipo_evento": "fleet_applied"}
        for trial in objects_in(payload.get("trials")):
            self.note_serial(trial.get("serial"), fact)

    def note_serial(self, serial, fact):
        if isinstance(serial, str) and serial:
            self.serials.setdefault(plain(serial), fact["seq"])


def objects_in(value):
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def is_load(payload):
    return isinstance(payload.get("carga_id"), str) and type(payload.get("versao")) in (int, float)


def names_in(payload):
    names = payload.get("names")
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def first(one, name, fact):
    if one is not None and one[name] is None:
        one[name] = fact


class Verifier:
    def __init__(self):
        self.faults, self.doubtful, self.gaps, self.seen, self.outside = [], set(), [], set(), set()
        self.unproven = {}
        self.number = 0
        self.counts = dict.fromkeys(["entries", "certificates", "lost", "ca_serials", "rogue", "missing", "absent"], 0)
        self.block, self.leaves, self.last_seq, self.last_issued, self.absent_until = None, None, 0, 0, 0
        self.lines, self.stated, self.serials, self.rogue, self.end = set(), [], Serials(), [], None
        # Of the certificates of the file, those that a list has.
        self.wanted, self.held, self.last_time, self.last_lost, self.order = set(), set(), "", 0, 0
        self.shown = {"first": False, "last": False}
        self.stopped = ""

    def fault(self, text, line=None):
        self.faults.append((line or self.number, text))
        if len(self.faults) >= FAULTS_MAX:
            raise Stop("the rest was not looked at")

    def open(self, line, key):
        head = read_line(line)
        if list(head) != HEAD or head["format"] != "svc-evidence-v1":
            raise ValueError("this is no evidence of svc")
        if head["key"] != key:
            raise ValueError(f"the file names another key: {head['key']}")
        self.size, self.root = open_checkpoint(head["checkpoint"], key)
        self.after, self.until = whole(head["after"], head["until"])
        if not TIME.fullmatch(head["from"]) or not TIME.fullmatch(head["to"]) or head["from"] >= head["to"]:
            raise ValueError("the file does not say which period it is about")
        if not 0 <= self.after <= self.until <= self.size or type(head["ca"]) is not bool:
            raise ValueError("the period is not in the log that was signed")
        self.whole = head["agente"] is None
        if not self.whole and not all(isinstance(one, str) for one in members(head["agente"], "id", "hostname")):
            raise ValueError("the file does not say which agent it is about")
        self.head = head
        self.ledger, self.expected = Ledger(self.after, self.until), self.after + 1
        self.last_seq = 0

    def add(self, line):
        value = read_line(line)
        if self.end is not None:
            raise ValueError("this line stands after the end")
        name = next(iter(value))
        if ORDER[name] < self.order:
            raise ValueError(f"a line of this kind ({name}) stands too late")
        self.order = ORDER[name]
        {
            "block": self.add_block,
            "record": self.add_record,
            "absent": self.add_absent,
            "certificate": self.add_certificate,
            "lost": self.add_lost,
            "ca": self.add_serial,
            "end": self.add_end,
        }[name](value)

    def add_block(self, line):
        block, leaves, proof = members(line, "block", "leaves", "proof")
        whole(block)
        if self.block is not None and block <= self.block:
            self.fault(f"block {block} stands after block {self.block}")
        self.block, self.leaves = block, None
        if len(leaves) > BLOCK or len(proof) > 64:
            raise ValueError("this is no proof")
        leaves, proof = ([base64.b64decode(one, validate=True) for one in some] for some in (leaves, proof))
        count = min(BLOCK, self.size - BLOCK * self.block)
        blocks = -(-self.size // BLOCK)
        if len(leaves) == count > 0 and leads_to(root_of(leaves), self.block, blocks, proof, self.root):
            self.leaves = leaves
        else:
            seqs = range(BLOCK * self.block + 1, BLOCK * self.block + 1 + BLOCK)
            self.doubtful.update(seqs)
            self.fault(f"the proof for the entries {seqs[0]} to {seqs[-1]} is wrong")

    def add_record(self, line):
        (data,) = members(line, "record")
        data = data.encode()
        entry = parse_record(data)
        seq, self.counts["entries"] = entry["seq"], self.counts["entries"] + 1
        if seq <= self.last_seq:
            self.doubtful.update((seq, self.last_seq))
            self.fault(f"entry {seq} stands after entry {self.last_seq}")
        elif self.whole and self.after < seq <= min(self.absent_until, self.until):
            self.fault(f"entry {seq} stands in the file, and is said to be absent")
        self.last_seq = max(seq, self.last_seq)
        block, leaves = (seq - 1) // BLOCK, self.leaves
        if block != self.block:
            leaves = None
            if self.block is None or block > self.block:
                self.block, self.leaves = block, None
                self.doubtful.update(range(BLOCK * block + 1, BLOCK * block + 1 + BLOCK))
            # Otherwise this one alone is out of its place, and the proof of the others still stands.
            self.doubtful.add(seq)
            self.fault(f"no proof stands before entry {seq}")
        if leaves is None:
            self.unproven[seq] = entry["tipo_evento"]
        elif leaves[(seq - 1) % BLOCK] != leaf_of(data):
            self.doubtful.add(seq)
            self.fault(f"entry {seq} is not the one that was signed")
        self.place(entry, seq)
        self.ledger.add(entry)

    def place(self, entry, seq):
        """Whether the entry may stand where it stands, of the period or not."""
        at, sure = entry["timestamp"], seq not in self.doubtful
        if sure:
            if at < self.last_time:
                self.fault(f"entry {seq} is of {at}, and an entry before it is of {self.last_time}")
            self.last_time = max(at, self.last_time)
        if self.after < seq <= self.until:
            if sure and not self.head["from"] <= at < self.head["to"]:
                self.fault(f"entry {seq} is of {at}, which is not in the period")
            if seq < self.expected and any(start <= seq <= stop for start, stop in self.gaps):
                self.seen.add(seq)
            self.pass_over(seq)
            self.expected = max(self.expected, seq + 1)
            return
        self.outside.add(seq)
        if seq == self.after and (at < self.head["from"] or not sure):
            self.shown["first"] = True
        elif seq == self.until + 1 and (at >= self.head["to"] or not sure):
            self.shown["last"] = True

    def pass_over(self, seq):
        """What should stand before entry `seq` and does not. The entries of one agent have gaps."""
        if self.whole and seq > self.expected:
            self.gaps.append((self.expected, seq - 1))
            if len(self.gaps) >= FAULTS_MAX:
                self.fault(f"the file has more than {FAULTS_MAX} gaps")
                raise Stop("the rest was not looked at")
            self.expected = seq

    def add_absent(self, line):
        after, until, _ = members(*members(line, "absent"), "after", "until", "why")
        whole(after, until)
        if not after < until <= self.size:
            raise ValueError("no entries are absent here")
        start = max(after, self.after) + 1
        if start < self.expected and start <= min(until, self.until):
            self.fault("what is absent here stands in the file")
        self.pass_over(min(after, self.until) + 1)
        self.counts["absent"] += until - after
        self.shown["first"] |= after < self.after <= until
        self.shown["last"] |= after <= self.until < until
        self.expected, self.absent_until = max(self.expected, until + 1), max(self.absent_until, until)

    def add_certificate(self, line):
        (claimed,) = members(line, "certificate")
        self.counts["certificates"] += 1
        self.pass_over(self.until + 1)
        (seq,) = whole(claimed["issued"]["seq"])
        name, serial = f"certificate {claimed['serial']} of entry {seq}", plain(claimed["serial"])
        self.stated.append((self.number, seq, serial, claimed["ca"]))
        self.wanted.add(serial)
        if seq in self.lines:
            return self.fault(f"{name} stands in the file twice")
        self.lines.add(seq)
        if seq < self.last_issued:
            self.fault(f"{name} stands after that of entry {self.last_issued}")
        self.last_issued = max(seq, self.last_issued)
        proven = self.ledger.certificates.get(seq)
        if self.is_doubtful(seq):
            return None
        if not self.whole and not self.is_of_agent(claimed):
            self.fault(f"{name} is of another agent than the file")
        if proven is None:
            return self.fault(f"no entry of the period issues {name}")
        if list(claimed) != [*proven, "ca"]:
            return self.fault(f"{name} has other fields than a certificate has")
        if spell({**claimed, "ca": None}) == spell({**proven, "ca": None}):
            return None
        for field, fact in proven.items():
            if spell(claimed[field]) != spell(fact) and not self.is_excused(field, fact, claimed, seq):
                self.fault(f"{name}: {field} is {show(claimed[field])}, and the log says {show(fact)}")
        return None

    def is_of_agent(self, claimed):
        """What was signed for an enrolment that failed names the host alone."""
        agent = self.head["agente"]
        return claimed["agente_id"] == agent["id"] or (claimed["agente_id"] is None and claimed["hostname"] == agent["hostname"])

    def add_lost(self, line):
        (claimed,) = members(line, "lost")
        (seq,) = whole(claimed["seq"])
        self.counts["lost"] += 1
        self.pass_over(self.until + 1)
        if seq <= self.last_lost:
            self.fault(f"the lost answer of entry {seq} stands after that of entry {self.last_lost}")
        self.last_lost = max(seq, self.last_lost)
        self.lines.add(seq)
        if self.is_lost(seq) or self.is_doubtful(seq, "lost"):
            return
        proven = self.ledger.lost.get(seq)
        if spell(claimed) != spell(proven):
            self.fault(f"the lost answer is {show(claimed)}, and the log says {show(proven)}")

    def is_excused(self, field, fact, claimed, seq):
        """Whether another line is to blame: an entry that the fact hangs on is wrong or missing, and that is said once."""
        mine, theirs = seq_of(fact), seq_of(claimed[field])
        if self.is_lost(theirs) or self.is_doubtful(mine, field) or self.is_doubtful(theirs, field):
            return True
        if field == "token" and self.is_excused("enrolled", None, claimed, seq):
            return True
        # The identity in between, for which the rotation was, is not there.
        if field != "rotated" or theirs is not None or mine is None:
            return False
        return any(mine < one < seq for one in [*self.doubtful, *(start for start, _ in self.gaps)])

    def is_lost(self, seq):
        if not isinstance(seq, int) or self.after < seq <= self.until or seq in self.outside:
            return False
        if seq not in self.doubtful:
            self.doubtful.add(seq)
            self.fault(f"entry {seq}, of which this line speaks, is not in the file")
        return True

    def is_doubtful(self, seq, field="issued"):
        """What is wrong with that entry is said elsewhere: its line is wrong, or missing."""
        if seq in self.unproven:
            return self.unproven[seq] in SAYS.get(field, [])
        if seq is None or seq in self.doubtful:
            return seq is not None
        return seq not in self.seen and any(start <= seq <= stop for start, stop in self.gaps)

    def add_serial(self, line):
        serial, claimed = members(line, "ca", "entry")
        if not re.fullmatch(r"0|[1-9a-f][0-9a-f]{0,63}", serial):
            raise ValueError("this is no serial")
        if claimed is not None:
            whole(claimed)
        if not self.head["ca"]:
            raise ValueError("the file says that it has no list of the CA")
        known = self.ledger.serials.get(serial)
        self.counts["ca_serials"] += 1
        self.serials.add(serial, self.number)
        if serial in self.wanted:
            self.held.add(serial)
        if claimed != known and not self.is_lost(claimed) and not self.is_doubtful(claimed, "ca") and not self.is_doubtful(known, "ca"):
            self.fault(f"serial {serial} is said to be of entry {claimed}, and the log says {known}")
        if known is None and claimed is None:
            self.counts["rogue"] += 1
            if len(self.rogue) < NAMED_MAX:
                self.rogue.append(serial)

    def add_end(self, line):
        (self.end,) = members(line, "end")

    def finish(self, listed):
        if self.end is None:
            return self.fault("the file is cut off: its last line is missing", self.number + 1)
        self.pass_over(self.until + 1)
        for start, stop in self.gaps:
            seen = {seq for seq in self.seen if start <= seq <= stop}
            if len(seen) <= stop - start:
                while start in seen:
                    start += 1
                while stop in seen:
                    stop -= 1
                self.fault(f"the entries {start} to {stop} of the period are missing")
        if self.whole and self.after > 0 and not self.shown["first"]:
            self.fault(f"nothing shows that the period begins after entry {self.after}", 1)
        if self.whole and self.until < self.size and not self.shown["last"]:
            self.fault(f"nothing shows that the period ends with entry {self.until}", 1)
        for seq, one in self.ledger.certificates.items():
            if seq not in self.lines and not self.is_doubtful(seq):
                self.fault(f"the certificate {one['serial']} of entry {seq} has no line")
        for seq in self.ledger.lost:
            if seq not in self.lines and not self.is_doubtful(seq, "lost"):
                self.fault(f"the lost answer of entry {seq} has no line")
        self.compare_with_ca(listed)
        if not self.faults and spell(self.end) != spell(self.counts):
            self.fault(f"the file ends with {show(self.end)}, and has {show(self.counts)}")
        return None

    def compare_with_ca(self, listed):
        has_list = self.head["ca"]
        theirs, given = Serials(), set()
        for number, serial in listed or ():
            theirs.add(serial, number)
            if serial in self.wanted:
                given.add(serial)
        for number, seq, serial, ca in self.stated:
            held = serial in self.held if has_list else None
            self.counts["missing"] += held is False
            if ca is not held and not self.is_doubtful(seq) and (listed is None or (serial in given) == (serial in self.held)):
                self.fault(f"certificate {serial}: ca is {show(ca)}, and the list of the CA in the file says {show(held)}", number)
        for mine, others in zip(self.serials.parts(), theirs.parts()):
            numbers, expected = {}, {serial for serial, _ in others}
            for serial, number in mine:
                if serial in numbers:
                    self.fault(f"serial {serial} stands in the list of the CA twice", number)
                numbers[serial] = number
            for serial in sorted(expected - set(numbers)):
                self.fault(f"serial {serial} of the list that was given is not in the file")
            for serial, number in numbers.items():
                if listed is not None and serial not in expected:
                    self.fault(f"serial {serial} is not in the list that was given", number)


def seq_of(fact):
    return fact.get("seq") if isinstance(fact, dict) else None


def show(value):
    return json.dumps(value, ensure_ascii=True)


def say(text, file=None):
    """Nothing in a file speaks to the terminal."""
    print("".join(c if " " <= c <= "~" else c.encode("ascii", "backslashreplace").decode() if c > "~" else f"\\x{ord(c):02x}" for c in text), file=file)


def read_list(path):
    """The serials of a list, with the numbers of their lines."""
    with open(path, "rb") as file:
        for number, data in enumerate(lines_of(file, LIST_LINE_MAX), 1):
            if len(data) > LIST_LINE_MAX:
                raise SystemExit(f"{path}, line {number}: it has more than {LIST_LINE_MAX - 1} bytes")
            # A list that Windows wrote begins with a mark.
            text = data.decode("utf-8-sig", "replace").split("#")[0].strip()
            serial = parse_serial(text) if text else ""
            if serial is None:
                raise SystemExit(f"{path}, line {number}: {show(text[:80])} is no serial")
            if serial:
                yield number, serial


def lines_of(file, most):
    while data := file.readline(most + 1):
        yield data
        if len(data) > most:
            return


def verify(path, key, listed):
    verifier = Verifier()
    try:
        with open(path, "rb") as file:
            for data in lines_of(file, LINE_MAX):
                verifier.number += 1
                if not read_into(verifier, data, key) and (verifier.number == 1 or len(data) > LINE_MAX):
                    return verifier
        if verifier.number == 0:
            verifier.fault("the file is empty", 1)
        else:
            verifier.finish(listed)
    except Stop as stop:
        verifier.stopped = str(stop)
    return verifier


def read_into(verifier, data, key):
    """Whether the line is one of evidence."""
    try:
        if len(data) > LINE_MAX:
            raise ValueError(f"this line has more than {LINE_MAX} bytes")
        line = data.decode()
        if not line.endswith("\n"):
            raise ValueError("this line is cut off")
        verifier.open(line[:-1], key) if verifier.number == 1 else verifier.add(line[:-1])
        return True
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, StopIteration, RecursionError) as error:
        verifier.fault(str(error) if type(error) is ValueError else f"this is no line of evidence ({type(error).__name__})")
        return False


def main():
    parser = argparse.ArgumentParser(description="Checks a file of svc evidence, without vault and hub.")
    parser.add_argument("file")
    parser.add_argument("--key", required=True, help="of the log, as svc checkpoint --key shows it; have it from elsewhere than the file")
    parser.add_argument("--ca-serials", metavar="FILE", help="what the CA says it issued: the file must have exactly these")
    options = parser.parse_args()
    sys.setrecursionlimit(10_000)
    try:
        open_key(options.key)
    except ValueError:
        raise SystemExit("error: --key is no key of a log") from None
    try:
        verifier = verify(options.file, options.key, read_list(options.ca_serials) if options.ca_serials else None)
    except OSError as error:
        raise SystemExit(f"cannot read {error.filename}: {error.strerror}") from None
    return report(options, verifier)


def report(options, verifier):
    for number, text in sorted(verifier.faults, key=lambda fault: fault[0]):
        say(f"{options.file}:{number}: {text}")
    if verifier.faults or verifier.stopped:
        say(f"FALSE: {len(verifier.faults)} faults{verifier.stopped and '; ' + verifier.stopped}")
        return 1
    head, counts = verifier.head, verifier.counts
    say(f"proven: {counts['entries']} entries, {counts['certificates']} certificates, {head['from']} to {head['to']}")
    say(f"signed: {head['checkpoint'].splitlines()[0]}, {verifier.size} entries")
    if verifier.whole and verifier.until == verifier.size:
        say(f"the log that was signed ends within the period, with entry {verifier.size} of {verifier.last_time or head['from']}")
    if not verifier.whole:
        agent = head["agente"]
        say(f"not proven: that no entry about agent {agent['hostname']} ({agent['id']}) was left out; evidence without --agent proves that")
    if not head["ca"]:
        say("not compared with the CA: the file has no list of it")
    elif not options.ca_serials:
        say("the list of the CA is the one that the hub was given: give the CA's own with --ca-serials")
    name(verifier.rogue, counts["rogue"], "rogue: {}")
    name([one for one in verifier.stated if one[3] is False], counts["missing"], "missing: {0[2]}, entry {0[1]}")
    if verifier.ledger.lost and counts["rogue"]:
        say("a rogue certificate may be one that the hub asked for, when it has the key and the names of a lost answer:")
        lost = [{**one, "names": ", ".join(one["names"] or [])} for one in verifier.ledger.lost.values()]
        name(lost, len(lost), "lost: {0[names]}, key {0[key_sha256]}, asked for at {0[asked_at]}, entry {0[seq]}")
    if counts["absent"]:
        say(f"incomplete: {counts['absent']} entries of the period are not in the file")
    return 2 if counts["rogue"] or counts["missing"] or counts["absent"] else 0


def name(some, count, form):
    for one in some[:NAMED_MAX]:
        say(form.format(one))
    if count > NAMED_MAX:
        say(f"and {count - NAMED_MAX} more")


if __name__ == "__main__":
    sys.exit(main())
