// The form of a file of evidence, byte by byte: docs/protocol.md EVD-4 to EVD-6. Each line is a JSON object with one way to write it.

import type { CertificateLine, LostAnswer } from './claims.ts'

export interface EvidenceHead {
  /** Timestamps as the log has them. */
  readonly from: string
  readonly to: string
  /** The one agent that it is about. */
  readonly agente: { readonly id: string; readonly hostname: string } | null
  /** The entries of the period lie after the one, and up to the other. */
  readonly after: number
  readonly until: number
  readonly checkpoint: string
  readonly key: string
  /** Whether a list of the CA is in it. */
  readonly ca: boolean
}

/** What the lines before the last one add up to. */
export interface EvidenceEnd {
  readonly entries: number
  readonly certificates: number
  /** Requests to the CA of which nobody knows what came. */
  readonly lost: number
  readonly ca_serials: number
  readonly rogue: number
  readonly missing: number
  /** Entries of the period that the hub no longer has. */
  readonly absent: number
}

export interface BlockLine {
  readonly block: number
  readonly leaves: readonly string[]
  readonly proof: readonly string[]
}

const FORMAT = 'svc-evidence-v1'

export function formatHead(head: EvidenceHead): string {
  const { from, to, agente, after, until, checkpoint, key, ca } = head
  return line({ format: FORMAT, from, to, agente, after, until, checkpoint, key, ca })
}

export function formatBlock({ block, leaves, proof }: BlockLine): string {
  return line({ block, leaves, proof })
}

export function formatRecordLine(record: string): string {
  return line({ record })
}

export function formatAbsent(absent: {
  readonly after: number
  readonly until: number
  readonly why: string
}): string {
  const { after, until, why } = absent
  return line({ absent: { after, until, why } })
}

export function formatCertificate(certificate: CertificateLine): string {
  return line({ certificate })
}

export function formatLost(lost: LostAnswer): string {
  return line({ lost })
}

/** `entry` is the first one that names the serial; null for a certificate that no entry knows. */
export function formatCaSerial(ca: string, entry: number | null): string {
  return line({ ca, entry })
}

export function formatEnd(end: EvidenceEnd): string {
  const { entries, certificates, lost, ca_serials, rogue, missing, absent } = end
  return line({ end: { entries, certificates, lost, ca_serials, rogue, missing, absent } })
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
