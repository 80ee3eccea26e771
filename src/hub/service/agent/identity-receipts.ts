// Receipts of identities: the hub signs them while it knows the identity, and takes an identity back by one when a restore made
// it forget. docs/protocol.md BKP-14 to BKP-17.

import {
  type IdentityReceipt,
  isSignedReceipt,
  parseReceipt,
  signReceipt,
} from '../../../audit/identity-receipt.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { AgentId, Hostname, TokenHash } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import {
  decideReceipt,
  decideTakeBack,
  isTakingBack,
  type LastRestore,
  type TakeBackVerdict,
} from '../../domain/decide-take-back.ts'
import type { NewIssuedCertificate } from '../../domain/issued-certificate.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { deliverAutomatically } from '../cargo/deliver-automatically.ts'
import { findRules } from '../find-rules.ts'
import { recordHubAct } from '../hub-acts.ts'
import { logSigner, logVerifier } from '../log-tree.ts'

/** A certificate whose key the caller has shown, or will have to. */
export interface PresentedIdentity {
  readonly sha256: string
  readonly serial: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/** An identity that may come back, for as long as nothing is written. */
export interface ReturningIdentity {
  readonly agent: Agent
  readonly certificate: NewIssuedCertificate
  readonly receipt: IdentityReceipt
}

export type Return =
  | ({ readonly ok: true } & ReturningIdentity)
  | Extract<TakeBackVerdict, { ok: false }>

export interface IdentityReceipts {
  /** Of an identity that was authenticated; undefined before the hub has a log that it has signed. */
  sign(agent: Agent, sha256: string): string | undefined
  /** Writes nothing. What is not to be taken back costs little; `present` is called for what the hub has signed. */
  examine(
    sha256: string,
    receipt: string,
    present: () => PresentedIdentity | undefined,
  ): Promise<Return>
  /** For a caller that has the key. Looks at everything once more, in the commit. */
  takeBack(returning: ReturningIdentity): Promise<TakeBackVerdict>
}

export interface IdentityReceiptsDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly newestTree: () => LogTree | undefined
  readonly restore: LastRestore | undefined
}

export function createIdentityReceipts(
  dependencies: IdentityReceiptsDependencies,
): IdentityReceipts {
  const { store, clock, log, newestTree, restore } = dependencies
  return {
    sign: (agent, sha256) => {
      const tree = newestTree()
      const { id: agentId, hostname, role, enrolledWith } = agent
      const receipt = { at: clock.now(), agentId, hostname, role, enrolledWith, sha256 }
      return tree && signReceipt(receipt, logSigner(tree))
    },
    examine: async (sha256, note, present) => {
      if (!isTakingBack(restore, clock.now())) {
        return { ok: false, reason: 'no identity is taken back' }
      }
      const receipt = parseReceipt(note)
      if (receipt === undefined) return { ok: false, reason: 'no receipt' }
      // In the first moment of a hub there is none to be shown, and agents come back in that moment.
      const tree = newestTree() ?? (await store.reader.findLogTree())
      if (tree === undefined)
        return { ok: false, reason: 'the log of this vault has signed nothing' }
      const verdict = decideReceipt({ receipt, sha256, restore, origin: tree.origin })
      if (!verdict.ok) return verdict
      if (!isSignedReceipt(note, receipt, logVerifier(tree).publicKey)) {
        return { ok: false, reason: 'the log of this vault has not signed the receipt' }
      }
      const presented = present()
      if (presented === undefined) return { ok: false, reason: 'no certificate' }
      return decideReturn(store.reader, restore, receipt, presented)
    },
    takeBack: async ({ receipt, certificate }) => {
      if (restore === undefined) return { ok: false, reason: 'no identity is taken back' }
      const verdict = await store.write(async (writer): Promise<TakeBackVerdict> => {
        if ((await writer.findCertificate(certificate.sha256)) !== undefined) return { ok: true }
        const again = await decideReturn(writer, restore, receipt, certificate)
        if (again.ok) await write(writer, again, clock.now())
        return again.ok ? { ok: true } : again
      })
      const { hostname } = receipt
      if (verdict.ok) log.info({ hostname, serial: certificate.serial }, 'Identity taken back')
      return verdict
    },
  }
}

async function decideReturn(
  reader: StoreReader,
  restore: LastRestore,
  receipt: IdentityReceipt,
  { sha256, serial, notBefore, notAfter }: PresentedIdentity,
): Promise<Return> {
  // The hub has signed them.
  const id = receipt.agentId as AgentId
  const hostname = receipt.hostname as Hostname
  const enrolledWith = receipt.enrolledWith as TokenHash
  const known = await reader.findAgentById(id)
  const token = known && (await reader.findToken(known.enrolledWith))
  const verdict = decideTakeBack({
    receipt,
    notBefore,
    agent: known,
    holder: await reader.findAgentByHostname(hostname),
    enrolledAt: token?.consumedAt ?? null,
    newest: await reader.findNewestIdentity(id, restore.at),
  })
  if (!verdict.ok) return verdict
  const agent: Agent = {
    ...(known ?? {
      id,
      hostname,
      createdAt: receipt.at,
      lastSeenAt: null,
      revokedAt: null,
      removedAt: null,
      activeIdentity: null,
    }),
    // As the enrolment after the backup made them, if there was one.
    role: receipt.role,
    enrolledWith,
  }
  const certificate: NewIssuedCertificate = {
    sha256,
    serial,
    agentId: id,
    purpose: 'identity',
    deliveryId: null,
    notBefore,
    notAfter,
    rootSha256: null,
  }
  return { ok: true, agent, certificate, receipt }
}

async function write(
  writer: StoreWriter,
  { agent, certificate, receipt }: ReturningIdentity,
  now: Date,
): Promise<void> {
  const isNew = (await writer.findAgentById(agent.id)) === undefined
  if (isNew) {
    await writer.insertAgent(agent)
    const { automaticCargoes } = await findRules(writer, agent)
    await deliverAutomatically(writer, agent, automaticCargoes, now)
  } else {
    await writer.updateAgent(agent)
  }
  // The agent could not have it, had the token not been spent.
  const token = await writer.findToken(agent.enrolledWith)
  if (token?.consumedAt === null) await writer.updateToken({ ...token, consumedAt: receipt.at })
  await writer.insertCertificate(certificate)
  await recordHubAct(writer, now, HubEventType.identityTakenBack, {
    actor: 'hub',
    agente_id: agent.id,
    hostname: agent.hostname,
    role: agent.role,
    serial: certificate.serial,
    sha256: certificate.sha256,
    not_after: certificate.notAfter.toISOString(),
    receipt_at: receipt.at.toISOString(),
    new_agent: isNew,
  })
}
