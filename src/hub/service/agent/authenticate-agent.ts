import type { PeerCertificate } from 'node:tls'
import { oneCommonName, plainHex } from '../../../pki/certificates.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import {
  decideAuthentication,
  type AuthenticationFacts,
  type AuthenticationVerdict,
  type IdentityMatch,
} from '../../domain/decide-authentication.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { recordHubAct } from '../hub-acts.ts'

/** What is known of a client certificate whose chain TLS has verified already. */
export interface PresentedCertificate {
  readonly commonName: string | undefined
  readonly sha256: string
  readonly serial: string
  readonly notBefore: Date
  readonly notAfter: Date
}

export function presentCertificate(peer: PeerCertificate): PresentedCertificate {
  return {
    commonName: oneCommonName(peer.subject),
    sha256: plainHex(peer.fingerprint256),
    serial: peer.serialNumber.toLowerCase(),
    notBefore: new Date(peer.valid_from),
    notAfter: new Date(peer.valid_to),
  }
}

export type AuthenticationOutcome =
  | { readonly ok: true; readonly agent: Agent }
  /** The agent is the one that the certificate names; another one may have it. */
  | { readonly ok: false; readonly refusal: WireErrorCode; readonly agentId?: AgentId }

export type AuthenticateAgent = (presented: PresentedCertificate) => Promise<AuthenticationOutcome>

export interface AuthenticateAgentDependencies {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly identityMatch: IdentityMatch
}

/** A superseded certificate in use tells of a cloned or restored host; once an hour is enough to see it. */
const SUPERSEDED_REPORT_INTERVAL_MS = 3_600_000
const SUPERSEDED_REPORTS_MAX = 10_000

/** Called for every request, so that a kept-open connection dies with its agent. docs/protocol.md AUT. */
export function createAuthenticateAgent(
  dependencies: AuthenticateAgentDependencies,
): AuthenticateAgent {
  const { store, clock, log, identityMatch } = dependencies
  const supersededReports = new Map<string, number>()
  /** What the store says of a connection's certificate, for as long as no commit was about its agent. */
  const known = new WeakMap<PresentedCertificate, StoredFacts>()
  const factsOf = async (
    presented: PresentedCertificate,
    commonName: string,
  ): Promise<KnownFacts> => {
    const facts = known.get(presented)
    if (facts !== undefined && store.versionOf(facts.agent.id) <= facts.version) return facts
    const { version, reader } = store
    const { agent, certificate } = await readFacts(reader, presented, commonName)
    // Of a stranger's certificate nobody could say when it has changed.
    const isOwn = agent !== undefined && certificate?.agentId === agent.id
    if (isOwn) known.set(presented, { version, agent, certificate })
    else known.delete(presented)
    return { agent, certificate }
  }
  return async (presented) => {
    const { commonName, notAfter } = presented
    if (commonName === undefined) return { ok: false, refusal: 'agent_not_registered' }
    const { agent, certificate } = await factsOf(presented, commonName)
    const now = clock.now()
    const decide = (facts: KnownFacts): AuthenticationVerdict =>
      decideAuthentication({ ...facts, notAfter, now, identityMatch })
    let verdict = decide({ agent, certificate })
    if (verdict.ok && verdict.activates !== undefined) {
      // Decided once more where nothing comes between: the agent may have been revoked while the write waited.
      verdict = await store.write(async (writer) => {
        const current = decide(await readFacts(writer, presented, commonName))
        if (current.ok) await activate(writer, current, now)
        return current
      })
    }
    if (verdict.ok) return verdict
    if (verdict.refusal === 'certificate_superseded' && agent !== undefined) {
      const last = supersededReports.get(presented.sha256) ?? Number.NEGATIVE_INFINITY
      if (now.getTime() - last >= SUPERSEDED_REPORT_INTERVAL_MS) {
        if (supersededReports.size >= SUPERSEDED_REPORTS_MAX) supersededReports.clear()
        supersededReports.set(presented.sha256, now.getTime())
        log.warn(
          { hostname: agent.hostname, serial: presented.serial },
          'Superseded certificate used',
        )
        await reportSuperseded(store, agent, presented, now)
      }
    }
    return agent === undefined ? verdict : { ...verdict, agentId: agent.id }
  }
}

type KnownFacts = Pick<AuthenticationFacts, 'agent' | 'certificate'>

interface StoredFacts extends KnownFacts {
  readonly version: number
  readonly agent: Agent
}

async function readFacts(
  reader: StoreReader,
  { sha256 }: PresentedCertificate,
  commonName: string,
): Promise<KnownFacts> {
  const agent = await reader.findAgentByHostname(commonName)
  const certificate = agent && (await reader.findIdentity(agent, sha256))
  return { agent, certificate }
}

async function activate(
  writer: StoreWriter,
  { agent, activates }: Extract<AuthenticationVerdict, { ok: true }>,
  now: Date,
): Promise<void> {
  if (activates === undefined) return
  await writer.setCertificateFirstUsed(activates.sha256, now)
  await writer.setActiveIdentity(agent.id, activates.seq, now)
}

async function reportSuperseded(
  store: Store,
  agent: Agent,
  presented: PresentedCertificate,
  now: Date,
): Promise<void> {
  await store.write((writer) =>
    recordHubAct(writer, now, HubEventType.certificateSuperseded, {
      actor: 'hub',
      agente_id: agent.id,
      hostname: agent.hostname,
      serial: presented.serial,
    }),
  )
}
