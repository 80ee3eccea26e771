// What every command that talks to the hub needs: the identity in use, the hub behind it, and the outbox.

import { join } from 'node:path'
import type { Clock } from '../platform/clock.ts'
import type { Logging } from '../platform/logger.ts'
import { invariant } from '../platform/errors.ts'
import type { RenewalTrigger } from '../protocol/words.ts'
import type { Random } from './backoff.ts'
import type { AgentConfig } from './config.ts'
import { createHubGateway, type HubGateway } from './hub-gateway.ts'
import { announceIdentity } from './identity/announce-identity.ts'
import { type Identity, requireIdentity } from './identity/identity.ts'
import { HubRefusedError, renewIdentity } from './identity/renew-identity.ts'
import { type AgentPaths, agentPaths, prepareDirectories } from './paths.ts'
import { openOutbox, type Outbox } from './reporting/outbox.ts'
import { createSerialQueue, type SerialQueue } from './serial-queue.ts'

export interface AgentSession {
  readonly config: AgentConfig
  readonly paths: AgentPaths
  readonly clock: Clock
  readonly random: Random
  readonly logging: Logging
  readonly version: string
  readonly hub: HubGateway
  readonly outbox: Outbox
  /** Renewals, asked for or automatic, come one after the other. */
  readonly identityTurns: SerialQueue
}

export type SessionOptions = Pick<
  AgentSession,
  'config' | 'clock' | 'random' | 'logging' | 'version'
>

export interface Rotation {
  readonly oldSerial: string
  readonly newSerial: string
}

/** Throws the specification's message when there is no identity. */
export async function openSession(options: SessionOptions): Promise<AgentSession> {
  const { config, logging, version } = options
  const paths = agentPaths(config)
  await requireIdentity(paths.identityDir)
  await prepareDirectories(paths)
  invariant(config.mtlsUrl !== undefined, 'the command requires SVC_SERVER_MTLS_URL')
  const session: AgentSession = {
    ...options,
    paths,
    hub: createHubGateway({ baseUrl: config.mtlsUrl, serverCaPath: config.serverCaPath, version }),
    outbox: await openOutbox(paths.outboxDir, logging.forModule('agent.outbox')),
    identityTurns: createSerialQueue(),
  }
  await takeUpIdentity(session)
  return session
}

/** The identity that is on disk now, in use from the next request on, and reported if it is new. */
export async function takeUpIdentity(session: AgentSession): Promise<Identity> {
  const { paths, hub, outbox } = session
  const identity = await requireIdentity(paths.identityDir)
  await hub.useIdentity(identity)
  await announceIdentity(identity, outbox, paths.announcedIdentityFile)
  return identity
}

/** Renews now; throws HubRefusedError, HubUnreachableError or WrongCertificateError, and then nothing has changed. */
export function rotateIdentity(session: AgentSession, trigger: RenewalTrigger): Promise<Rotation> {
  const { paths, hub, clock, logging, identityTurns } = session
  return identityTurns.run(async () => {
    await takeUpIdentity(session)
    const outcome = await renewIdentity({ identityDir: paths.identityDir, hub, clock }, trigger)
    if (!outcome.ok) throw new HubRefusedError(outcome)
    await takeUpIdentity(session)
    const rotation = {
      oldSerial: outcome.old.leaf.serial,
      newSerial: outcome.renewed.leaf.serial,
    }
    logging
      .forModule('agent.identity')
      .info(
        { old_serial: rotation.oldSerial, new_serial: rotation.newSerial, trigger },
        'Identity renewed',
      )
    return rotation
  })
}

/** Renews now and reports it as far as the hub lets us; what it does not take now waits in the outbox. */
export async function rotateAndReport(session: AgentSession): Promise<Rotation> {
  const rotation = await rotateIdentity(session, 'manual')
  await session.outbox.flush(session.hub)
  return rotation
}

export function caPathOf(paths: AgentPaths): string {
  return join(paths.identityDir, 'ca.pem')
}
