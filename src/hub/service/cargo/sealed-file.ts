// A sealed file on its way into a carga. The hub cannot open the file: it reads the header, and takes an agent's present
// recipient only from its own records. docs/protocol.md BLB.

import { hash } from 'node:crypto'
import { AdminRefusal } from '../admin-act.ts'
import type { AdminSealed } from '../../../protocol/admin/cargas.ts'
import { parseRecipient, type Recipient } from '../../../protocol/identifiers.ts'
import { readAgeHeader } from '../../../sealing/age-header.ts'
import { fingerprintOf } from '../../../sealing/age-identity.ts'
import type { Agent } from '../../domain/agent.ts'
import type { CargoContent } from '../../domain/cargo.ts'
import type { StoreReader } from '../../store/store.ts'
import { findUnrevokedAgent } from './cargo-agents.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'

export interface SealedFile {
  readonly content: CargoContent
  readonly recipients: AdminSealed['destinatarios']
}

/** Throws an AdminRefusal when it is not sealed to exactly as many as are named, or holds too much. */
export function parseSealedFile(sealed: AdminSealed, contentBytesMax: number): SealedFile {
  const bytes = Buffer.from(sealed.conteudo, 'base64')
  if (bytes.toString('base64') !== sealed.conteudo) throw invalid('it is not base64')
  const header = readAgeHeader(bytes)
  if (!header.ok) throw invalid(header.reason)
  if (header.contentBytes > contentBytesMax) {
    throw new AdminRefusal(
      'content_too_large',
      `the file has ${header.contentBytes} bytes, over the limit of ${contentBytesMax}`,
    )
  }
  const escrow = parseEscrow(sealed.escrow)
  const named = sealed.destinatarios.length + escrow.length
  if (header.recipientCount !== named) {
    throw invalid(
      `it is sealed to ${header.recipientCount} recipients, but the request names ${named}`,
    )
  }
  return {
    content: { bytes, sha256: hash('sha256', bytes), escrow },
    recipients: sealed.destinatarios,
  }
}

function parseEscrow(texts: readonly string[]): Recipient[] {
  const escrow = texts.map((text) => {
    const recipient = parseRecipient(text)
    if (recipient !== undefined) return recipient
    throw new AdminRefusal(
      'escrow_invalid',
      `escrow ${text.slice(0, 24)} is not an age1pq1… recipient`,
      { escrow: text.slice(0, 24) },
    )
  })
  if (new Set(escrow).size < escrow.length) {
    throw new AdminRefusal('escrow_invalid', 'the request names an escrow recipient twice')
  }
  return escrow
}

/**
 * The agents that the file is sealed for, a slice at a time. Throws an AdminRefusal when one is unknown, revoked, named twice, or
 * has another recipient than the one that was sealed to.
 */
export async function* sealedAgents(
  reader: StoreReader,
  { recipients }: SealedFile,
): AsyncGenerator<Agent[]> {
  const known = new Set<string>()
  for (let start = 0; start < recipients.length; start += SLICE_DELIVERIES) {
    const slice: Agent[] = []
    const changed: string[] = []
    for (const { agente, fingerprint } of recipients.slice(start, start + SLICE_DELIVERIES)) {
      const agent = await findUnrevokedAgent(reader, agente)
      if (known.has(agent.id)) throw invalid(`the request names agent ${agent.hostname} twice`)
      known.add(agent.id)
      slice.push(agent)
      const recipient = await reader.findRecipient(agent.id)
      const isCurrent = recipient !== undefined && fingerprintOf(recipient) === fingerprint
      if (!isCurrent) changed.push(agent.hostname)
    }
    if (changed.length > 0) throw recipientChanged(changed)
    yield slice
  }
}

function recipientChanged(hostnames: readonly string[]): AdminRefusal {
  return new AdminRefusal(
    'recipient_changed',
    `the file is not sealed to the present recipient of these agents: ${hostnames.join(', ')}`,
  )
}

/** What the audit log says of a sealed file: never any of its bytes. */
export function describeContent(content: CargoContent): Readonly<Record<string, unknown>> {
  return {
    sha256: content.sha256,
    bytes: content.bytes.length,
    escrow: content.escrow.map(fingerprintOf),
  }
}

function invalid(reason: string): AdminRefusal {
  return new AdminRefusal('sealed_invalid', `the hub does not accept the sealed file: ${reason}`)
}
