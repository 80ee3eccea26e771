#!/usr/bin/env python3
"""Checks a file of `svc evidence` without vault and hub: docs/evidence.md, and EVD-4 to EVD-12 of docs/protocol.md.

It needs Python 3.9 and nothing else, and shares no code with Cartorio. It prints a line for each thing that is false, and exits 0 when
all is as the file says and nothing stands out, 1 when something is false, 2 when a true file has something that stands out.
"""

import argparse
import base64
import hashlib
import json
import re
import sys

LABEL, BLOCK = "svc-evento-v1", 16
HEAD = ["format", "from", "to", "agente", "after", "until", "checkpoint", "key", "ca"]
FIELDS = "seq id agente_id tipo_evento entrega_id request_id payload timestamp hash_anterior hash_atual".split()
STATED = ["serial", "sha256", "agente_id", "hostname", "purpose", "not_after", "request", "politica"]
# Which entries can say so.
SAYS = {
    "issued": ["certificate_issued"], "ca": ["certificate_issued", "politica_set"], "enrolled": ["agent_enrolled"],
    "token": ["token_created"], "rule": ["politica_set"], "load": ["carga_created", "carga_updated"],
    "retried": ["entrega_retried"], "rotated": ["agent_rotate_requested"], "recovered": ["identity_recovered"],
    "installed": ["cert_renewed", "entrega_instalada"], "served": ["alvo_aplicado"], "replaced": ["certificate_issued"],
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
    name, digest, encoded = key.split("+", 2)
    known = base64.b64decode(encoded, validate=True)
    if known[0] != 1 or hashlib.sha256(name.encode() + b"\n" + known).hexdigest()[:8] != digest:
        raise ValueError("this is no key of a log")
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    for line in signatures.splitlines():
        dash, signer, blob = line.split(" ")
        data = base64.b64decode(blob, validate=True)
        if dash == "—" and signer == name and data[:4].hex() == digest and is_signed(known[1:], text.encode(), data[4:]):
            origin, size, root = text.split("\n")[:3]
            if origin == name:
                return int(size), base64.b64decode(root, validate=True)
    raise ValueError("the checkpoint is not signed with this key")


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
    while at < len(data):
        if data[at : at + 2] == b"-,":
            fields.append(None)
            at += 2
            continue
        colon = data.index(b":", at)
        end = colon + 1 + int(data[at:colon])
        if data[end : end + 1] != b",":
            raise ValueError("no netstring")
        fields.append(data[colon + 1 : end].decode())
        at = end + 1
    if len(fields) != 1 + len(FIELDS) or fields[0] != LABEL:
        raise ValueError("no record")
    entry = dict(zip(FIELDS, fields[1:]))
    entry["seq"] = int(entry["seq"])
    return entry


def plain(serial):
    return (serial or "").lower().lstrip("0") or ("0" if serial else "")


def parse_serial(text):
    if re.fullmatch(r"\d+ \(0x[0-9a-f]+\)", text, re.I):
        text = text.split(" ")[0]
    if text.isdigit():
        return format(int(text), "x")
    return plain(re.sub(r"^(serial=)?(0x)?", "", text, flags=re.I).replace(":", ""))


class Ledger:
    """What the entries say of certificates, worked out from EVD-7 to EVD-9."""

    def __init__(self, after, until):
        self.after, self.until = after, until
        self.certificates, self.serials = {}, {}
        self.tokens, self.enrolments, self.rules, self.loads = {}, {}, {}, {}
        self.retries, self.rotations, self.newest, self.unrevoked = {}, {}, {}, {}
        self.by_serial, self.by_sha256, self.by_delivery = {}, {}, {}
        self.last = None

    def add(self, entry):
        try:
            payload = json.loads(entry["payload"])
        except ValueError:
            payload = None
        payload = payload if isinstance(payload, dict) else {}
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
        elif kind == "agent_enrolled":
            self.enrolments[agent] = {**fact, "token_id": text.get("token_id")}
        elif kind == "politica_set":
            self.rules[text.get("nome")] = fact
            if isinstance(payload.get("trial"), dict):
                self.note_serial(payload["trial"].get("serial"), fact)
        elif kind in ("carga_created", "carga_updated"):
            self.loads[text.get("carga_id"), payload.get("versao")] = {**fact, "tipo_evento": kind}
        elif kind == "entrega_retried":
            self.retries[delivery] = fact
        elif kind == "certificate_issued":
            self.note_serial(text.get("serial"), fact)
            if inside:
                self.issue(payload, text, fact, delivery)
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

    def issue(self, payload, text, fact, delivery):
        agent, purpose, politica = text.get("agente_id"), text.get("purpose"), text.get("politica")
        identity = purpose == "identity"
        wanted = ["request", "politica"] + (["carga_id", "versao"] if purpose == "delivery" else [])
        enrolled = self.enrolments.get(agent) if identity else None
        named = isinstance(text.get("carga_id"), str) and isinstance(payload.get("versao"), (int, float))
        one = {name: text.get(name) for name in STATED}
        one["entrega_id"] = delivery
        one["issued"], one["enrolled"] = fact, enrolled
        one["token"] = self.tokens.get(enrolled["token_id"]) if enrolled and enrolled["token_id"] else None
        one["rule"] = self.rules.get(politica) if politica else None
        one["load"] = self.loads.get((text["carga_id"], payload["versao"])) if named else None
        one["retried"] = self.retries.get(delivery) if delivery else None
        one["rotated"] = self.rotations.pop(agent, None) if identity else None
        one.update(dict.fromkeys(LATER))
        one["not_recorded"] = [name for name in wanted if name not in payload]
        place = (agent or text.get("hostname"), "identity" if identity else text.get("carga_id") or delivery or purpose)
        first(self.newest.get(place), "replaced", fact)
        self.newest[place] = self.last = self.certificates[fact["seq"]] = one
        self.by_serial[agent or "", plain(one["serial"])] = self.by_sha256[one["sha256"]] = one
        if delivery:
            self.by_delivery.setdefault(delivery, []).append(one)
        self.unrevoked.setdefault(agent or "", []).append(one)

    def note_serial(self, serial, fact):
        if isinstance(serial, str) and serial:
            self.serials.setdefault(plain(serial), fact["seq"])


def first(one, name, fact):
    if one is not None and one[name] is None:
        one[name] = fact


class Verifier:
    def __init__(self):
        self.faults, self.doubtful, self.gaps, self.seen, self.outside = [], set(), [], set(), set()
        self.unproven = {}
        self.number = 0
        self.counts = dict.fromkeys(["entries", "certificates", "ca_serials", "rogue", "missing", "absent"], 0)
        self.block, self.leaves, self.last_seq, self.last_issued = None, None, 0, 0
        self.lines, self.stated, self.serials, self.rogue, self.end = set(), [], {}, [], None
        self.shown = {"first": False, "last": False}

    def fault(self, text, line=None):
        self.faults.append((line or self.number, text))

    def open(self, line, key):
        head = json.loads(line)
        if not isinstance(head, dict) or list(head) != HEAD or head["format"] != "svc-evidence-v1":
            raise ValueError("this is no evidence of svc")
        if head["key"] != key:
            raise ValueError(f"the file names another key: {head['key']}")
        self.size, self.root = open_checkpoint(head["checkpoint"], key)
        self.head, self.after, self.until = head, head["after"], head["until"]
        if not 0 <= self.after <= self.until <= self.size:
            raise ValueError("the period is not in the log that was signed")
        self.whole = head["agente"] is None
        if not self.whole and list(head["agente"]) != ["id", "hostname"]:
            raise ValueError("the file does not say which agent it is about")
        self.ledger, self.expected = Ledger(self.after, self.until), self.after + 1
        self.last_seq = 0

    def add(self, line):
        value = json.loads(line)
        if json.dumps(value, separators=(",", ":"), ensure_ascii=False) != line:
            raise ValueError("this line is not written as svc writes it")
        if self.end is not None:
            raise ValueError("this line stands after the end")
        name = next(iter(value))
        {
            "block": self.add_block,
            "record": self.add_record,
            "absent": self.add_absent,
            "certificate": self.add_certificate,
            "ca": self.add_serial,
            "end": self.add_end,
        }[name](value)

    def add_block(self, line):
        if self.block is not None and line["block"] <= self.block:
            self.fault(f"block {line['block']} stands after block {self.block}")
        self.block, self.leaves = line["block"], None
        leaves, proof = ([base64.b64decode(one, validate=True) for one in line[name]] for name in ("leaves", "proof"))
        count = min(BLOCK, self.size - BLOCK * self.block)
        blocks = -(-self.size // BLOCK)
        if len(leaves) == count > 0 and leads_to(root_of(leaves), self.block, blocks, proof, self.root):
            self.leaves = leaves
        else:
            seqs = range(BLOCK * self.block + 1, BLOCK * self.block + 1 + BLOCK)
            self.doubtful.update(seqs)
            self.fault(f"the proof for the entries {seqs[0]} to {seqs[-1]} is wrong")

    def add_record(self, line):
        data = line["record"].encode()
        entry = parse_record(data)
        seq, self.counts["entries"] = entry["seq"], self.counts["entries"] + 1
        if seq <= self.last_seq:
            self.doubtful.update((seq, self.last_seq))
            self.fault(f"entry {seq} stands after entry {self.last_seq}")
        self.last_seq = max(seq, self.last_seq)
        if (seq - 1) // BLOCK != self.block:
            self.block, self.leaves = (seq - 1) // BLOCK, None
            self.doubtful.update(range(BLOCK * self.block + 1, BLOCK * self.block + 1 + BLOCK))
            self.fault(f"no proof stands before entry {seq}")
        if self.leaves is None:
            self.unproven[seq] = entry["tipo_evento"]
        elif self.leaves[(seq - 1) % BLOCK] != leaf_of(data):
            self.doubtful.add(seq)
            self.fault(f"entry {seq} is not the one that was signed")
        self.place(entry, seq)
        self.ledger.add(entry)

    def place(self, entry, seq):
        """Whether the entry may stand where it stands, of the period or not."""
        at, sure = entry["timestamp"], seq not in self.doubtful
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
            self.expected = seq

    def add_absent(self, line):
        after, until = line["absent"]["after"], line["absent"]["until"]
        if after + 1 < self.expected and after >= self.after:
            self.fault("what is absent here stands in the file")
        self.pass_over(after + 1)
        self.counts["absent"] += until - after
        self.shown["first"] |= after < self.after
        self.shown["last"] |= until > self.until
        self.expected = max(self.expected, until + 1)

    def add_certificate(self, line):
        claimed = line["certificate"]
        self.counts["certificates"] += 1
        self.pass_over(self.until + 1)
        seq = claimed["issued"]["seq"]
        name = f"certificate {claimed['serial']} of entry {seq}"
        self.stated.append((self.number, seq, plain(claimed["serial"]), claimed.get("ca")))
        if seq in self.lines:
            return self.fault(f"{name} stands in the file twice")
        self.lines.add(seq)
        if seq < self.last_issued:
            self.fault(f"{name} stands after that of entry {self.last_issued}")
        self.last_issued = max(seq, self.last_issued)
        proven = self.ledger.certificates.get(seq)
        if self.is_doubtful(seq):
            return None
        if not self.whole and claimed["agente_id"] != self.head["agente"]["id"]:
            self.fault(f"{name} is of another agent than the file")
        if proven is None:
            return self.fault(f"no entry of the period issues {name}")
        if set(claimed) != set(proven) | {"ca"}:
            return self.fault(f"{name} has other fields than a certificate has")
        for field, fact in proven.items():
            if claimed[field] != fact and not self.is_excused(field, fact, claimed, seq):
                self.fault(f"{name}: {field} is {show(claimed[field])}, and the log says {show(fact)}")
        return None

    def is_excused(self, field, fact, claimed, seq):
        """Whether another line is to blame: an entry that the fact hangs on is wrong or missing, and that is said once."""
        mine, theirs = seq_of(fact), seq_of(claimed[field])
        if self.is_lost(theirs) or self.is_doubtful(mine, field) or self.is_doubtful(theirs, field):
            return True
        if field == "token" and self.is_excused("enrolled", None, claimed, seq):
            return True
        # The identity in between, for which the rotation was, is not there.
        wrong = [*self.doubtful, *(start for start, _ in self.gaps)]
        return field == "rotated" and theirs is None and any(mine < one < seq for one in wrong)

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
        serial, claimed, known = line["ca"], line["entry"], self.ledger.serials.get(line["ca"])
        self.counts["ca_serials"] += 1
        if serial in self.serials:
            self.fault(f"serial {serial} stands in the list of the CA twice")
        self.serials.setdefault(serial, self.number)
        if claimed != known and not self.is_lost(claimed) and not self.is_doubtful(claimed, "ca") and not self.is_doubtful(known, "ca"):
            self.fault(f"serial {serial} is said to be of entry {claimed}, and the log says {known}")
        if known is None and claimed is None:
            self.rogue.append(serial)

    def add_end(self, line):
        self.end = line["end"]
        self.counts["rogue"] = len(self.rogue)

    def finish(self, listed):
        if self.end is None:
            return self.fault("the file is cut off: its last line is missing", self.number + 1)
        self.pass_over(self.until + 1)
        for start, stop in self.gaps:
            missing = [seq for seq in range(start, stop + 1) if seq not in self.seen]
            if missing:
                self.fault(f"the entries {missing[0]} to {missing[-1]} of the period are missing")
        if self.whole and self.after > 0 and not self.shown["first"]:
            self.fault(f"nothing shows that the period begins after entry {self.after}", 1)
        if self.whole and self.until < self.size and not self.shown["last"]:
            self.fault(f"nothing shows that the period ends with entry {self.until}", 1)
        for seq, one in self.ledger.certificates.items():
            if seq not in self.lines and not self.is_doubtful(seq):
                self.fault(f"the certificate {one['serial']} of entry {seq} has no line")
        self.compare_with_ca(listed)
        if not self.faults and self.end != self.counts:
            self.fault(f"the file ends with {show(self.end)}, and has {show(self.counts)}")
        return None

    def compare_with_ca(self, listed):
        has_list = self.head["ca"]
        for number, seq, serial, ca in self.stated:
            held = serial in self.serials if has_list else None
            self.counts["missing"] += held is False
            if ca != held and not self.is_doubtful(seq) and (listed is None or (serial in listed) == (serial in self.serials)):
                self.fault(f"certificate {serial}: ca is {show(ca)}, and the list of the CA in the file says {show(held)}", number)
        for serial in listed or ():
            if serial not in self.serials:
                self.fault(f"serial {serial} of the list that was given is not in the file")
        for serial, number in self.serials.items():
            if listed is not None and serial not in listed:
                self.fault(f"serial {serial} is not in the list that was given", number)


def seq_of(fact):
    return fact.get("seq") if isinstance(fact, dict) else None


def show(value):
    return json.dumps(value, ensure_ascii=True)


def read_list(path):
    with open(path, encoding="utf-8") as lines:
        texts = (line.split("#")[0].strip() for line in lines)
        return {parse_serial(text) for text in texts if text}


def verify(path, key, listed):
    verifier = Verifier()
    with open(path, "rb") as file:
        for data in file:
            verifier.number += 1
            try:
                line = data.decode()
                if not line.endswith("\n"):
                    raise ValueError("this line is cut off")
                verifier.open(line, key) if verifier.number == 1 else verifier.add(line[:-1])
            except (ValueError, KeyError, TypeError, AttributeError, IndexError, StopIteration, RecursionError) as error:
                verifier.fault(str(error) if type(error) is ValueError else f"this is no line of evidence ({error!r})")
                if verifier.number == 1:
                    return verifier
    if verifier.number == 0:
        verifier.fault("the file is empty", 1)
    else:
        verifier.finish(listed)
    return verifier


def main():
    parser = argparse.ArgumentParser(description="Checks a file of svc evidence, without vault and hub.")
    parser.add_argument("file")
    parser.add_argument("--key", required=True, help="of the log, as svc checkpoint --key shows it; have it from elsewhere than the file")
    parser.add_argument("--ca-serials", metavar="FILE", help="what the CA says it issued: the file must have exactly these")
    options = parser.parse_args()
    listed = read_list(options.ca_serials) if options.ca_serials else None
    verifier = verify(options.file, options.key, listed)
    for number, text in sorted(verifier.faults, key=lambda fault: fault[0]):
        print(f"{options.file}:{number}: {text}")
    if verifier.faults:
        print(f"FALSE: {len(verifier.faults)} faults")
        return 1
    head, counts = verifier.head, verifier.counts
    print(f"proven: {counts['entries']} entries, {counts['certificates']} certificates, {head['from']} to {head['to']}")
    print(f"signed: {head['checkpoint'].splitlines()[0]}, {verifier.size} entries")
    if not verifier.whole:
        print(f"not proven: that no entry about agent {head['agente']['hostname']} was left out; evidence without --agent proves that")
    if not head["ca"]:
        print("not compared with the CA: the file has no list of it")
    for serial in verifier.rogue:
        print(f"rogue: {serial}")
    for _, seq, serial, ca in verifier.stated:
        if ca is False:
            print(f"missing: {serial}, entry {seq}")
    if counts["absent"]:
        print(f"incomplete: {counts['absent']} entries of the period are not in the file")
    return 2 if counts["rogue"] or counts["missing"] or counts["absent"] else 0


if __name__ == "__main__":
    sys.exit(main())
