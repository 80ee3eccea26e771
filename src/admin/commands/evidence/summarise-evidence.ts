// What a person is told of a file of evidence, read from the file itself: docs/protocol.md EVD-2, EVD-3.

import { createReadStream } from 'node:fs'
import { EXPORT_LINE_BYTES_MAX } from '../../../audit/log-export.ts'
import type { CertificateLine, LostAnswer } from '../../../evidence/claims.ts'
import type { EvidenceEnd, EvidenceHead } from '../../../evidence/evidence-lines.ts'
import { SvcError } from '../../../platform/errors.ts'
import { readLines } from '../../../platform/read-lines.ts'

export interface EvidenceSummary extends EvidenceEnd {
  readonly from: string
  readonly to: string
  readonly agente: EvidenceHead['agente']
  readonly after: number
  readonly until: number
  /** Whether there was a list of the CA. */
  readonly ca: boolean
  readonly identities: number
  readonly installed: number
  readonly served: number
  readonly revoked: number
  readonly incomplete: number
  /** The first ones by name. */
  readonly rogue_serials: readonly string[]
  readonly answers_lost: readonly LostAnswer[]
  readonly missing_certificates: readonly { serial: string; hostname: string; seq: number }[]
}

const NAMED_MAX = 1000
const SHOWN = 20

interface Line {
  readonly certificate?: CertificateLine
  readonly lost?: LostAnswer
  readonly ca?: string
  readonly entry?: number | null
  readonly end?: EvidenceEnd
}

export async function summariseEvidence(path: string): Promise<EvidenceSummary> {
  const counts = { identities: 0, installed: 0, served: 0, revoked: 0, incomplete: 0 }
  const rogue: string[] = []
  const answersLost: LostAnswer[] = []
  const missing: EvidenceSummary['missing_certificates'][number][] = []
  let head: EvidenceHead | undefined
  let end: EvidenceEnd | undefined
  const options = { name: path, lineBytesMax: EXPORT_LINE_BYTES_MAX }
  for await (const lines of readLines(createReadStream(path), options)) {
    for (const text of lines) {
      if (head === undefined) head = JSON.parse(text) as EvidenceHead
      // The entries are most of the file, and nothing is counted in them.
      if (!/^\{"(?:certificate|lost|ca|end)"/.test(text)) continue
      const { certificate, lost, ca, entry, end: last } = JSON.parse(text) as Line
      end = last
      if (lost !== undefined && answersLost.length < NAMED_MAX) answersLost.push(lost)
      if (ca !== undefined && entry === null && rogue.length < NAMED_MAX) rogue.push(ca)
      if (certificate === undefined) continue
      countIn(counts, certificate)
      if (certificate.ca !== false || missing.length === NAMED_MAX) continue
      const { serial, hostname, issued } = certificate
      missing.push({ serial: serial ?? '', hostname: hostname ?? '', seq: issued.seq })
    }
  }
  if (head === undefined || end === undefined) {
    throw new SvcError('evidence_invalid', `${path} has no end`)
  }
  const { from, to, agente, after, until, ca } = head
  const named = { rogue_serials: rogue, missing_certificates: missing, answers_lost: answersLost }
  return { from, to, agente, after, until, ca, ...end, ...counts, ...named }
}

function countIn(
  counts: Record<'identities' | 'installed' | 'served' | 'revoked' | 'incomplete', number>,
  { purpose, installed, served, revoked, not_recorded }: CertificateLine,
): void {
  if (purpose === 'identity') counts.identities += 1
  if (installed !== null) counts.installed += 1
  if (served !== null) counts.served += 1
  if (revoked !== null) counts.revoked += 1
  if (not_recorded.length > 0) counts.incomplete += 1
}

export function describeSummary(path: string, summary: EvidenceSummary): string {
  const { from, to, after, until, agente, certificates, identities, incomplete } = summary
  const whole = agente === null ? 'all of them in the file' : `of agent ${agente.hostname} only`
  const { installed, served, revoked } = summary
  const lines = [
    `${from} to ${to}: entries ${after + 1} to ${until} of the log, ${whole}`,
    `${certificates} certificates, ${identities} of them identities; installed ${installed}, served ${served}, revoked ${revoked}`,
    ...(incomplete === 0
      ? []
      : [`${incomplete} are of an earlier version, which did not record everything`]),
    summary.ca
      ? `${summary.ca_serials} serials of the CA: ${summary.rogue} rogue, ${summary.missing} missing`
      : 'not compared with the CA: no --ca-serials',
    ...nameSome(summary.rogue_serials, summary.rogue, (serial) => `rogue: ${serial}`),
    ...nameSome(
      summary.missing_certificates,
      summary.missing,
      ({ serial, hostname, seq }) => `missing: ${serial} of ${hostname}, entry ${seq}`,
    ),
    ...(summary.lost === 0
      ? []
      : [
          `${summary.lost} answers of the CA were lost: a rogue certificate may be one of them, when it has its key`,
        ]),
    ...nameSome(summary.answers_lost, summary.lost, describeLost),
  ]
  return [...lines, path, ''].join('\n')
}

function describeLost({ seq, asked_at: at, names, key_sha256: key }: LostAnswer): string {
  return `lost: ${(names ?? []).join(', ')}, asked for at ${at}, key ${key}, entry ${seq}`
}

/** Undefined when there is nothing to look into. */
export function outstanding({ rogue, missing, absent }: EvidenceSummary): string | undefined {
  const found = [
    ...(rogue > 0 ? [`${rogue} certificates of the CA are not in the log`] : []),
    ...(missing > 0 ? [`${missing} certificates of the log are not in the list of the CA`] : []),
    ...(absent > 0
      ? [`${absent} entries of the log are not there: the evidence is incomplete`]
      : []),
  ]
  return found.length === 0 ? undefined : found.join('; ')
}

function nameSome<Item>(
  items: readonly Item[],
  count: number,
  name: (item: Item) => string,
): string[] {
  const more = count - Math.min(items.length, SHOWN)
  return [...items.slice(0, SHOWN).map(name), ...(more > 0 ? [`… and ${more} more`] : [])]
}
