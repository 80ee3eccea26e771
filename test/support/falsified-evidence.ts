// Falsifications of a file of evidence, each at a place of its own, and how to know that one was named.

import assert from 'node:assert/strict'
import { formatRecord, parseRecord, type RecordedEntry } from '../../src/audit/record.ts'
import type { CertificateLine, Fact, LostAnswer } from '../../src/evidence/claims.ts'
import type { Random } from '../simulation/seeded-random.ts'

export interface Plant {
  readonly kind: string
  /** Whether a fault, on a line with this number, is about it. */
  readonly isNamedBy: (line: number, fault: string) => boolean
}

interface Line {
  text: string
  number: number
}

type What = 'record' | 'block' | 'certificate' | 'own' | 'lost' | 'ca'
type Kind = readonly [name: string, what: What, plant: Planter]
type Planter = (lines: Line[], at: Line, random: Random) => Plant['isNamedBy']

/** No two of them are in, or beside, the same block of entries, or about the same certificate. */
const APART = 24

const KINDS: readonly Kind[] = [
  [
    'a record with another actor',
    'record',
    changeRecord((entry) => ({ payloadText: otherText(entry, 'actor') })),
  ],
  [
    'a record with another serial',
    'record',
    changeRecord((entry) => ({ payloadText: otherText(entry, 'serial') })),
  ],
  [
    'a record with another payload',
    'record',
    changeRecord(({ payloadText }) => ({ payloadText: `${payloadText} ` })),
  ],
  [
    'a record with another time',
    'record',
    changeRecord(({ timestamp }) => ({ timestamp: nextTime(timestamp) })),
  ],
  ['a record of another type', 'record', changeRecord(() => ({ eventType: 'agent_started' }))],
  ['a record of another sender', 'record', changeRecord(() => ({ agentId: 'somebody' }))],
  ['a record of another delivery', 'record', changeRecord(() => ({ deliveryId: 'something' }))],
  ['a record with another request id', 'record', changeRecord(() => ({ requestId: 'again' }))],
  ['a record that was cut off', 'record', cutRecord],
  ['a record that was dropped', 'record', dropRecord],
  ['two records that were swapped', 'record', swapRecords],
  ['a forged proof', 'block', change((text) => forge(text, 'proof'))],
  ['a forged leaf', 'block', change((text) => forge(text, 'leaves'))],
  ['a proof that was dropped', 'block', dropProof],
  ['a certificate with another serial', 'certificate', changeClaim(() => ({ serial: 'abcdef' }))],
  [
    'a certificate of another host',
    'certificate',
    changeClaim(() => ({ hostname: 'evil.example' })),
  ],
  ['a certificate that another agent has', 'certificate', changeClaim(() => ({ agente_id: 'a' }))],
  ['a certificate under another policy', 'certificate', changeClaim(() => ({ politica: 'free' }))],
  [
    'a certificate that was asked for otherwise',
    'certificate',
    changeClaim(() => ({ request: 'recovery' })),
  ],
  [
    'a certificate issued at another time',
    'certificate',
    changeClaim(({ issued }) => ({ issued: later(issued) })),
  ],
  [
    'a certificate that an other actor enrolled',
    'certificate',
    changeClaim(() => ({ token: fact(1) })),
  ],
  [
    'a certificate that was installed never, or otherwise',
    'certificate',
    changeClaim(({ installed }) => ({ installed: installed === null ? fact(7) : null })),
  ],
  [
    'a certificate that was served never, or otherwise',
    'certificate',
    changeClaim(({ served }) => ({ served: served === null ? { ...fact(7), alvo: 'x' } : null })),
  ],
  [
    'a certificate that was revoked never, or otherwise',
    'certificate',
    changeClaim(({ revoked }) => ({ revoked: revoked === null ? fact(7) : null })),
  ],
  [
    'a certificate that the CA has, or has not',
    'certificate',
    changeClaim(({ ca }) => ({ ca: ca !== true })),
  ],
  [
    'a certificate whose entry was complete',
    'certificate',
    changeClaim(() => ({ not_recorded: ['rule'] })),
  ],
  ['a certificate with one more field', 'certificate', changeClaim(() => ({ note: 'x' }))],
  [
    'a certificate of the hub with other names',
    'own',
    changeClaim(() => ({ names: ['shop.example'] })),
  ],
  [
    'a certificate of the hub that an agent has',
    'own',
    changeClaim(() => ({ agente_id: 'a', purpose: 'identity' })),
  ],
  [
    'a certificate of the hub that was replaced never, or otherwise',
    'own',
    changeClaim(({ replaced }) => ({ replaced: replaced === null ? fact(7) : null })),
  ],
  ['a certificate of the hub that was dropped', 'own', dropCertificate],
  [
    'a lost answer for another key',
    'lost',
    change((text) => text.replace(/"key_sha256":"[^"]*"/, '"key_sha256":"other"')),
  ],
  [
    'a lost answer for other names',
    'lost',
    change((text) => text.replace('"names":["', '"names":["shop.example","')),
  ],
  ['a lost answer that was dropped', 'lost', dropLost],
  ['a certificate that was dropped', 'certificate', dropCertificate],
  ['a certificate that was added', 'certificate', addCertificate],
  ['a certificate that stands twice', 'certificate', repeat],
  [
    'a serial of the CA with another entry',
    'ca',
    change((text) => text.replace(/"entry":(\d+|null)/, '"entry":3')),
  ],
  ['a serial of the CA that is another', 'ca', otherSerial],
  ['a serial of the CA that was dropped', 'ca', dropSerial],
  ['a serial of the CA that was added', 'ca', addSerial],
]

/** `count` of them, of all kinds in turn. */
export function falsify(
  text: string,
  count: number,
  random: Random,
): { readonly text: string; readonly plants: readonly Plant[] } {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line, at) => ({ text: line, number: at + 1 }))
  const places = {
    record: lines.filter((line) => line.text.startsWith('{"record"')),
    block: lines.filter((line) => line.text.startsWith('{"block"')),
    certificate: lines.filter((line) => /^\{"certificate".*"names":null/.test(line.text)),
    own: lines.filter((line) => /^\{"certificate".*"names":\[/.test(line.text)),
    lost: lines.filter((line) => line.text.startsWith('{"lost"')),
    ca: lines.filter((line) => line.text.startsWith('{"ca"')),
  }
  const isTaken = areTaken()
  const plants = Array.from({ length: count }, (_, at) => {
    const [kind, what, plant] = KINDS[at % KINDS.length] ?? assert.fail()
    for (let tries = 0; tries < 10_000; tries += 1) {
      const place = places[what][Math.floor(random() * places[what].length)] ?? assert.fail(what)
      if (isTaken(place) || !isFit(kind, place)) continue
      isTaken.take(place)
      return { kind, isNamedBy: plant(lines, place, random) }
    }
    return assert.fail(`no place for ${kind}`)
  })
  for (const [at, line] of lines.entries()) line.number = at + 1
  return { text: lines.map((line) => `${line.text}\n`).join(''), plants }
}

/** Every entry that a line is about is one place, and the entries beside it. */
function areTaken() {
  const taken: number[] = []
  const aboutOf = ({ text }: Line): number[] => {
    if (text.startsWith('{"record"')) return [entryOf(text).seq]
    const { block, entry, certificate, lost } = JSON.parse(text) as {
      block?: number
      lost?: LostAnswer
      entry?: number | null
      certificate?: CertificateLine
    }
    if (lost !== undefined) return [lost.seq]
    if (block !== undefined) return [block * 16 + 8]
    if (entry !== undefined) return [entry ?? -APART]
    return [certificate?.issued.seq ?? assert.fail()]
  }
  const isTaken = (line: Line): boolean =>
    aboutOf(line).some((seq) => taken.some((other) => Math.abs(other - seq) < APART))
  isTaken.take = (line: Line): void => void taken.push(...aboutOf(line))
  return isTaken
}

/** Some kinds need something to change. */
function isFit(kind: string, { text }: Line): boolean {
  if (kind === 'a record with another actor') return text.includes('\\"actor\\"')
  if (kind === 'a record with another serial') return text.includes('certificate_issued')
  if (kind === 'a certificate that an other actor enrolled') return !text.includes('"token":null')
  return true
}

function change(edit: (text: string) => string): Planter {
  return (_, at) => {
    const before = at.text
    at.text = edit(before)
    assert.notEqual(at.text, before)
    return (line) => line === at.number
  }
}

function changeRecord(edit: (entry: RecordedEntry) => Partial<RecordedEntry>): Planter {
  return change((text) => {
    const entry = entryOf(text)
    return JSON.stringify({ record: formatRecord({ ...entry, ...edit(entry) }) })
  })
}

function changeClaim(edit: (claims: CertificateLine) => object): Planter {
  return change((text) => {
    const { certificate } = JSON.parse(text) as { certificate: CertificateLine }
    return JSON.stringify({ certificate: { ...certificate, ...edit(certificate) } })
  })
}

function cutRecord(_lines: Line[], at: Line): Plant['isNamedBy'] {
  const { seq } = entryOf(at.text)
  at.text = `${at.text.slice(0, -10)}"}`
  return (line, fault) => line === at.number || isMissing(seq, fault)
}

function dropRecord(lines: Line[], at: Line): Plant['isNamedBy'] {
  const { seq } = entryOf(at.text)
  drop(lines, at)
  return (_, fault) => isMissing(seq, fault)
}

/** Outside the period only what something speaks of has to be there. */
function isMissing(seq: number, fault: string): boolean {
  return (
    fault.includes(`entries ${seq} to ${seq} of the period are missing`) ||
    fault.startsWith(`entry ${seq}, of which this line speaks, is not in the file`)
  )
}

function swapRecords(lines: Line[], at: Line): Plant['isNamedBy'] {
  const other = lines.slice(lines.indexOf(at) + 1).find(({ text }) => text.startsWith('{"record"'))
  assert.ok(other)
  ;[at.text, other.text] = [other.text, at.text]
  return (line) => line >= at.number && line <= other.number
}

function dropProof(lines: Line[], at: Line): Plant['isNamedBy'] {
  const next = lines[lines.indexOf(at) + 1] ?? assert.fail()
  drop(lines, at)
  return (line) => line === next.number
}

function dropCertificate(lines: Line[], at: Line): Plant['isNamedBy'] {
  const { certificate } = JSON.parse(at.text) as { certificate: CertificateLine }
  drop(lines, at)
  return (_, fault) => fault.includes(`of entry ${certificate.issued.seq} has no line`)
}

function dropLost(lines: Line[], at: Line): Plant['isNamedBy'] {
  const { lost } = JSON.parse(at.text) as { lost: LostAnswer }
  drop(lines, at)
  return (_, fault) => fault.includes(`lost answer of entry ${lost.seq} has no line`)
}

function addCertificate(lines: Line[], at: Line): Plant['isNamedBy'] {
  const { certificate } = JSON.parse(at.text) as { certificate: CertificateLine }
  const issued = { ...certificate.issued, seq: certificate.issued.seq + 1 }
  const text = JSON.stringify({ certificate: { ...certificate, serial: 'bad', issued } })
  const added = { text, number: 0 }
  lines.splice(lines.indexOf(at) + 1, 0, added)
  return (line) => line === added.number
}

function repeat(lines: Line[], at: Line): Plant['isNamedBy'] {
  const added = { text: at.text, number: 0 }
  lines.splice(lines.indexOf(at) + 1, 0, added)
  return (line) => line === added.number
}

function dropSerial(lines: Line[], at: Line): Plant['isNamedBy'] {
  const { ca } = JSON.parse(at.text) as { ca: string }
  drop(lines, at)
  return (_, fault) => fault.includes(`serial ${ca} `) || fault.includes(`certificate ${ca}:`)
}

function otherSerial(lines: Line[], at: Line): Plant['isNamedBy'] {
  const isDropped = dropSerial([...lines], at)
  at.text = `{"ca":"777${at.number}","entry":null}`
  return (line, fault) => line === at.number || isDropped(line, fault)
}

function addSerial(lines: Line[], at: Line): Plant['isNamedBy'] {
  const added = { text: `{"ca":"123abc${at.number}","entry":null}`, number: 0 }
  lines.splice(lines.indexOf(at), 0, added)
  return (line) => line === added.number
}

function drop(lines: Line[], at: Line): void {
  lines.splice(lines.indexOf(at), 1)
}

function forge(text: string, field: 'proof' | 'leaves'): string {
  const line = JSON.parse(text) as Record<'proof' | 'leaves', string[]>
  const [hash = '', ...rest] = line[field]
  const bytes = Buffer.from(hash, 'base64')
  bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5)
  return JSON.stringify({ ...line, [field]: [bytes.toString('base64'), ...rest] })
}

function otherText({ payloadText }: RecordedEntry, field: string): string {
  const payload = JSON.parse(payloadText) as object
  return JSON.stringify({ ...payload, [field]: 'abc123' })
}

function entryOf(text: string): RecordedEntry {
  const { record } = JSON.parse(text) as { record: string }
  return parseRecord(record) ?? assert.fail()
}

function nextTime(timestamp: string): string {
  return timestamp.replace(/\d{6}Z$/, '000001Z')
}

function later(issued: Fact): Fact {
  return { ...issued, at: nextTime(issued.at) }
}

function fact(seq: number): Fact {
  return { seq, at: '2026-01-01T00:00:00.000000Z', actor: 'somebody' }
}
