// An agent's connections without a network: each request goes to the hub's services, after what TLS would check, by
// virtual clocks. What happens to it on its way is for the exchange to say.

import { X509Certificate } from 'node:crypto'
import { Check } from 'typebox/value'
import type { TSchema } from 'typebox'
import type { Blob } from '../../src/agent/hub/client.ts'
import type { EnrollClient, EnrollClientOptions } from '../../src/agent/hub/enroll-client.ts'
import type { HubClient, HubClientOptions } from '../../src/agent/hub/client.ts'
import type { HubConnections } from '../../src/agent/hub/gateway.ts'
import type { StreamMessage } from '../../src/platform/parse-event-stream.ts'
import { type HubOutcome, HubUnreachableError } from '../../src/agent/hub/request.ts'
import {
  decodeBundleReply,
  decodeConsistencyReply,
  decodeEnrollReply,
  decodeEventReply,
  decodeIssueReply,
  decodeLogReply,
  decodeManifestReply,
  decodeReceiptReply,
  decodeRecipientReply,
  decodeTpmChallenge,
  type Manifest,
} from '../../src/agent/hub/wire.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import type { StreamConnection } from '../../src/hub/http/agent-streams.ts'
import {
  type AuthenticationOutcome,
  presentCertificate,
  type PresentedCertificate,
} from '../../src/hub/service/agent/authenticate-agent.ts'
import { parseCertificatesPem } from '../../src/pki/certificates.ts'
import { findRootOf } from '../../src/pki/issued-certificate.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { invariant } from '../../src/platform/errors.ts'
import { WIRE_ERRORS, type WireErrorCode } from '../../src/protocol/errors.ts'
import {
  EnrollRequestBody,
  EventRequestBody,
  IssueRequestBody,
  RecipientRequestBody,
  RecoverRequestBody,
  TpmChallengeRequestBody,
} from '../../src/protocol/schemas.ts'
import type { Random } from './seeded-random.ts'
import type { RunningHub, SimulatedHub } from './simulated-hub.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What an agent asked the hub for, whatever came of it. */
export interface Traffic {
  /** `at` is virtual time, not the host's. */
  noteAttempt(route: 'issue' | 'recover', subject: string, at: Date): void
  noteEvent(event: EventRequestBody): void
  noteLostReply(): void
}

/** There, what the hub does, and back; throws HubUnreachableError when there is no answer. */
export type Exchange = (
  route: string,
  serve: (hub: RunningHub) => Promise<Reply>,
) => Promise<{ readonly reply: Reply; readonly hubTime: Date }>

export interface SimulatedConnectionsOptions {
  readonly exchange: Exchange
  readonly time: Pick<Clock, 'now'>
  readonly hostClock: Pick<Clock, 'now'>
  readonly traffic: Pick<Traffic, 'noteAttempt' | 'noteEvent'>
  /** Told when hub and agent do not trust each other's roots, which the holder of a good identity never meets. */
  readonly onStrangers?: (serial: string) => void
  /** Undefined where a host polls and does nothing else; it is by polling that nothing is ever lost. */
  readonly openStream?: OpenStream | undefined
}

/** A stream at a hub that lets the agent in: both ends of its connection. */
export type OpenStream = (
  hub: RunningHub,
  stream: { readonly agent: Agent; readonly sha256: string; readonly signal: AbortSignal },
) => { readonly connection: StreamConnection; readonly messages: AsyncIterable<StreamMessage> }

export interface UnreliableExchangeOptions {
  readonly hub: SimulatedHub
  readonly time: VirtualTime
  readonly hostClock: Clock
  readonly random: Random
  readonly traffic: Pick<Traffic, 'noteLostReply'>
  /** Of all replies, how many are lost, from 0 to 1. */
  readonly lossRate: () => number
}

export type Reply = { readonly ok: true; readonly body: object } | Refused
interface Refused {
  readonly ok: false
  readonly refusal: WireErrorCode
}

const LATENCY_MS_MAX = 200

export function createSimulatedConnections(options: SimulatedConnectionsOptions): HubConnections {
  const { time, traffic, onStrangers } = options
  const leadsTo = createChainCheck()
  const connect = (client: HubClientOptions) => {
    const leaf = new X509Certificate(client.certificatePem)
    const presented = presentCertificate(leaf.toLegacyObject())
    const send: Send = (route, decode, serve, receipt) =>
      request(options, client, { route, decode }, async (hub) => {
        checkClientCertificate(leaf, hub.clock.now())
        const isTrusted = leadsTo(hub.serverCertificate().chainPem, client.trustPem)
        if (!isTrusted || !leadsTo(client.certificatePem, hub.rootPem())) {
          onStrangers?.(presented.serial)
          throw new HubUnreachableError('unable to get issuer certificate')
        }
        const outcome = await authenticate(hub, presented, receipt)
        if (!outcome.ok) return outcome
        const checkpoint = hub.auditLog.header()
        if (checkpoint !== undefined) {
          client.noteCheckpoint?.(Buffer.from(checkpoint, 'base64').toString())
        }
        return serve(hub, outcome.agent, presented.sha256)
      })
    return { presented, send }
  }
  return {
    createHubClient: (client) => createHubClient(connect(client).send, traffic, time),
    openStream: async ({ lastEventId, signal, ...client }) => {
      const { openStream } = options
      if (openStream === undefined) throw new HubUnreachableError('no streams here')
      const { presented, send } = connect(client)
      let messages: AsyncIterable<StreamMessage> | undefined
      const outcome = await send(
        'stream',
        () => messages,
        async (hub, agent, sha256) => {
          const opened = openStream(hub, { agent, sha256, signal })
          ;({ messages } = opened)
          hub.holdStream({ agent, presented, connection: opened.connection, lastEventId })
          return { ok: true, body: {} }
        },
      )
      return outcome.ok ? { ok: true, messages: outcome.value } : outcome
    },
    createEnrollClient: (client): EnrollClient => ({
      enroll: (body, key) =>
        request(options, client, { route: 'enroll', decode: decodeEnrollReply }, async (hub) => {
          const outcome = await hub.enrollAgent(onTheWire(EnrollRequestBody, body), key)
          if (!outcome.ok) return outcome
          const { agentId: agent_id, certificatePem: cert_pem, rootPem: ca_pem } = outcome
          return { ok: true, body: { agent_id, cert_pem, ca_pem } }
        }),
      // Simulated hosts have tokens.
      challengeTpm: (body) =>
        request(
          options,
          client,
          { route: 'tpmChallenge', decode: decodeTpmChallenge },
          async (hub) => {
            const outcome = await hub.challengeTpm(onTheWire(TpmChallengeRequestBody, body))
            return outcome.ok ? { ok: true, body: outcome.challenge } : outcome
          },
        ),
      recover: (body) => {
        traffic.noteAttempt('recover', 'identity', time.now())
        return request(
          options,
          client,
          { route: 'recover', decode: decodeIssueReply },
          async (hub) => issueReply(await hub.recoverIdentity(onTheWire(RecoverRequestBody, body))),
        )
      },
      askTime: async () => {
        await request(options, client, { route: 'time', decode: () => true }, async () => ({
          ok: true,
          body: {},
        }))
      },
      close: async () => undefined,
    }),
  }
}

type Send = <Value>(
  route: string,
  decode: (body: unknown) => Value | undefined,
  serve: (hub: RunningHub, agent: Agent, presentedSha256: string) => Promise<Reply>,
  receipt?: string,
) => Promise<HubOutcome<Value>>

/** As the port of agents does it. */
async function authenticate(
  hub: RunningHub,
  presented: PresentedCertificate,
  receipt: string | undefined,
): Promise<AuthenticationOutcome> {
  const outcome = await hub.authenticateAgent(presented)
  if (outcome.ok || outcome.refusal !== 'agent_not_registered' || receipt === undefined) {
    return outcome
  }
  const found = await hub.receipts.examine(presented.sha256, receipt, () => presented)
  if (found.ok) await hub.receipts.takeBack(found)
  return hub.authenticateAgent(presented)
}

function createHubClient(
  send: Send,
  traffic: SimulatedConnectionsOptions['traffic'],
  time: Pick<Clock, 'now'>,
): HubClient {
  return {
    issueCertificate: (csrPem, deliveryId) => {
      traffic.noteAttempt('issue', deliveryId ?? 'identity', time.now())
      const body = {
        csr_pem: csrPem,
        ...(deliveryId === undefined ? {} : { entrega_id: deliveryId }),
      }
      return send('issue', decodeIssueReply, async (hub, agent, presentedSha256) =>
        issueReply(
          await hub.issueCertificate(agent, onTheWire(IssueRequestBody, body), presentedSha256),
        ),
      )
    },
    fetchManifest: () =>
      send('manifest', decodeNumberedManifest, async (hub, agent) => ({
        ok: true,
        // The number is a header of the reply.
        body: { ...(await hub.listManifest(agent)), numero: hub.bundle().numero },
      })),
    sendEvent: (event) => {
      traffic.noteEvent(event)
      return send('event', decodeEventReply, async (hub, agent) => {
        const outcome = await hub.recordEvent(agent, onTheWire(EventRequestBody, event))
        if (!outcome.ok) return outcome
        return { ok: true, body: { evento_id: outcome.entryId, hash_atual: outcome.hash } }
      })
    },
    sendRecipient: (recipient) =>
      send('recipient', decodeRecipientReply, async (hub, agent, presentedSha256) => {
        onTheWire(RecipientRequestBody, { recipient })
        const outcome = await hub.recordRecipient(agent, recipient, presentedSha256)
        return outcome.ok ? { ok: true, body: { recipient: outcome.recipient } } : outcome
      }),
    fetchLog: () =>
      send('log', decodeLogReply, async (hub) => {
        const body = await hub.auditLog.describe()
        return body === undefined ? { ok: false, refusal: 'unavailable' } : { ok: true, body }
      }),
    proveConsistency: (from, to) =>
      send('consistency', decodeConsistencyReply, async (hub) => {
        const body = await hub.auditLog.prove(from, to)
        return body === undefined ? { ok: false, refusal: 'request_invalid' } : { ok: true, body }
      }),
    fetchReceipt: (shown) =>
      send(
        'receipt',
        decodeReceiptReply,
        async (hub, agent, presentedSha256) => {
          const receipt = hub.receipts.sign(agent, presentedSha256)
          return receipt === undefined
            ? { ok: false, refusal: 'unavailable' }
            : { ok: true, body: { receipt } }
        },
        shown,
      ),
    fetchBundle: () =>
      send('bundle', decodeBundleReply, async (hub) => ({ ok: true, body: hub.bundle() })),
    fetchBlob: (cargoId) => {
      let blob: Blob | undefined
      // Its bytes are no JSON, and pass it by.
      return send(
        'blob',
        () => blob,
        async (hub, agent) => {
          const content = await (await hub.findBlob(agent, cargoId))?.read()
          if (content === undefined) return { ok: false, refusal: 'blob_not_found' }
          blob = { bytes: content.bytes, sha256: content.sha256, isIntact: true }
          return { ok: true, body: {} }
        },
      )
    },
    close: async () => undefined,
  }
}

async function request<Value>(
  { exchange, hostClock }: SimulatedConnectionsOptions,
  { noteHubTime }: Pick<EnrollClientOptions, 'noteHubTime'>,
  {
    route,
    decode,
  }: { readonly route: string; readonly decode: (body: unknown) => Value | undefined },
  serve: (hub: RunningHub) => Promise<Reply>,
): Promise<HubOutcome<Value>> {
  const { reply, hubTime } = await exchange(route, (hub) => {
    checkServerCertificate(hub, hostClock.now())
    return serve(hub)
  })
  noteHubTime?.(hubTime)
  if (!reply.ok)
    return { ok: false, status: WIRE_ERRORS[reply.refusal].status, code: reply.refusal }
  const value = decode(JSON.parse(JSON.stringify(reply.body)))
  invariant(value !== undefined, 'the hub answers what the agent reads')
  return { ok: true, value, hubTime }
}

/** Requests take time, and replies are lost now and then. */
export function createUnreliableExchange({
  hub,
  time,
  hostClock,
  random,
  lossRate,
  traffic,
}: UnreliableExchangeOptions): Exchange {
  return async (_route, serve) => {
    await hostClock.sleep(random() * LATENCY_MS_MAX)
    const { running } = hub
    if (running === undefined) throw new HubUnreachableError('connection refused')
    const reply = await serve(running)
    const hubTime = inWholeSeconds(time.now())
    if (random() < lossRate()) {
      traffic.noteLostReply()
      throw new HubUnreachableError('reply cut short')
    }
    await hostClock.sleep(random() * LATENCY_MS_MAX)
    return { reply, hubTime }
  }
}

/** As a reply's `Date` has it. */
export function inWholeSeconds(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / 1000) * 1000)
}

/** In its handshake the hub refuses what has expired, before any HTTP. */
function checkClientCertificate(leaf: X509Certificate, now: Date): void {
  if (leaf.validToDate <= now) throw new HubUnreachableError('alert: certificate expired')
  if (leaf.validFromDate > now) throw new HubUnreachableError('alert: bad certificate')
}

/** And so does the agent, by its own clock. */
function checkServerCertificate({ serverCertificate }: RunningHub, now: Date): void {
  const { notBefore, notAfter } = serverCertificate()
  if (notAfter <= now) throw new HubUnreachableError('the hub’s certificate has expired')
  if (notBefore > now) throw new HubUnreachableError('the hub’s certificate is not valid yet')
}

const END_OF_CERTIFICATE = '-----END CERTIFICATE-----'

/** Whether a chain leads to one of the roots. What is behind a leaf is always the same, and looked at once. */
function createChainCheck(): (chainPem: string, rootPem: string) => boolean {
  const known = new Map<string, boolean>()
  return (chainPem, rootPem) => {
    const issuersPem = chainPem.slice(
      chainPem.indexOf(END_OF_CERTIFICATE) + END_OF_CERTIFICATE.length,
    )
    const key = issuersPem + rootPem
    const isTrusted =
      known.get(key) ??
      findRootOf(parseCertificatesPem(issuersPem), parseCertificatesPem(rootPem)) !== undefined
    known.set(key, isTrusted)
    return isTrusted
  }
}

function decodeNumberedManifest(body: unknown): Manifest | undefined {
  const manifest = decodeManifestReply(body)
  return (
    manifest && {
      ...manifest,
      bundleNumber: { epoch: 1, number: (body as { numero: number }).numero },
    }
  )
}

function issueReply(
  outcome:
    | Refused
    | { readonly ok: true; readonly certificatePem: string; readonly rootPem: string },
): Reply {
  if (!outcome.ok) return outcome
  return { ok: true, body: { cert_pem: outcome.certificatePem, ca_pem: outcome.rootPem } }
}

/** What would arrive: nothing but JSON that the schema accepts. */
function onTheWire<Body>(schema: TSchema, body: Body): Body {
  const parsed = JSON.parse(JSON.stringify(body)) as Body
  invariant(Check(schema, parsed), 'the agent sends what the hub reads')
  return parsed
}
